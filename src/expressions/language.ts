// CEL (Common Expression Language): parses, type-checks, and evaluates the expressions of values and of rules, within limits.

import type { Environment } from "@marcbachmann/cel-js";
import { thrownText } from "../core/diagnostic.ts";
import type { JsonObject } from "../core/json.ts";
import { shortened } from "../core/sentences.ts";
import { cel, compilePattern, FUNCTION_NAMES, LINEAR_MATCHES, registerFunctions } from "./functions.ts";
import { ITEM_MEMBERS, RULE_VARIABLES } from "./rule.ts";
import { ROOTS, VAR, withoutReserved } from "./template.ts";
import { hasReference, UnknownValue, weightOf } from "./values.ts";

/** Thrown if an evaluation takes too many steps or makes a value that is too large. */
export class LimitExceeded extends Error {}

export interface StepLimits {
  readonly steps: number;
  /** The weight of one value: about its strings' characters by 8, and its entries. */
  readonly largest: number;
}

export class Meter {
  readonly #limits: StepLimits;
  #left: number;

  constructor(limits: StepLimits) {
    this.#limits = limits;
    this.#left = limits.steps;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  get taken(): number {
    return this.#limits.steps - this.#left;
  }

  take(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new LimitExceeded("the evaluation takes too many steps");
  }

  /** Takes the steps for a new value. */
  create(weight: number): void {
    this.take(weight);
    if (weight > this.#limits.largest)
      throw new LimitExceeded("the evaluation makes a value that is too large");
  }
}

export interface ExpressionProblem {
  readonly code: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** A member that an expression reads: `change`, `after`, `custom_tags`. Positions are those of the last name. */
export interface MemberUse {
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
  /** Where each name of the path ends. */
  readonly ends: readonly number[];
}

export type CelVariables = Readonly<Record<string, unknown>>;

export interface CompiledExpression {
  /** The type of its value: `bool`, `string`, `dyn`. */
  readonly type: string;
  /** Variables and their members, in the order of the text. */
  readonly uses: readonly MemberUse[];
  /** Throws the library's errors, and LimitExceeded. */
  readonly evaluate: (variables: CelVariables, meter: Meter) => unknown;
}

const LONGEST_EXPRESSION = 5_000;
const LIMITS = { maxAstNodes: 2_000, maxDepth: 100, maxListElements: 500, maxMapEntries: 100 };

/** That of the evaluation that runs now. Evaluations nest, because an expression may read values that are expressions. */
let active = new Meter({ steps: 0, largest: 0 });

export class CelLanguage {
  readonly #createEnvironment: () => Environment;
  #environment: Environment | undefined;
  /** Each text is parsed once. */
  readonly #compiled = new Map<string, CompiledExpression | ExpressionProblem>();
  readonly #isForValues: boolean;

  /** The library is loaded for the first expression. */
  constructor(createEnvironment: () => Environment, isForValues: boolean) {
    this.#createEnvironment = createEnvironment;
    this.#isForValues = isForValues;
  }

  compile(text: string): CompiledExpression | ExpressionProblem {
    const before = this.#compiled.get(text);
    if (before !== undefined) return before;
    const compiled = this.#compile(text);
    this.#compiled.set(text, compiled);
    return compiled;
  }

  #compile(text: string): CompiledExpression | ExpressionProblem {
    if (text.length > LONGEST_EXPRESSION) {
      const message = `the expression has more than ${LONGEST_EXPRESSION} characters`;
      return { code: "too_long", message, start: 0, end: text.length };
    }
    try {
      const { uses, type, program } = this.#parse(text);
      // A nested evaluation of the same expression gets another program, because programs hold loop variables.
      const idle = [program];
      const evaluate = (variables: CelVariables, meter: Meter): unknown => {
        const runnable = idle.pop() ?? this.#parse(text).program;
        const outer = active;
        active = meter;
        try {
          return runnable(variables);
        } finally {
          active = outer;
          idle.push(runnable);
        }
      };
      return { type, uses, evaluate };
    } catch (problem) {
      return problemOf(problem);
    }
  }

  #parse(text: string): Pick<CompiledExpression, "type" | "uses"> & {
    readonly program: (variables: CelVariables) => unknown;
  } {
    this.#environment ??= this.#createEnvironment();
    const program = this.#environment.parse(this.#isForValues ? withoutReserved(text) : text);
    const nodes = nodesOf(program.ast);
    for (const node of nodes) makeLinear(node);
    const checked = program.check();
    if (!checked.valid) throw checked.error;
    for (const node of nodes) meterNode(node, this.#isForValues ? UNREAD_REFERENCE : UNREAD_VALUE);
    return { type: checked.type ?? "dyn", uses: usesIn(nodes), program };
  }
}

/** The language of rules, with the types of their variables. `read`: to check a rule; the types of items in lists are only then known. */
export function ruleLanguage(use: "read" | "evaluate"): CelLanguage {
  return new CelLanguage(() => {
    const environment = newEnvironment();
    if (use === "read")
      for (const [name, schema] of Object.entries(ITEM_MEMBERS))
        environment.registerType({ name, schema: schema as never });
    for (const [name, members] of Object.entries(RULE_VARIABLES)) {
      if (members === null) environment.registerVariable(name, "string");
      else {
        const schema = use === "read" ? members : withoutItemTypes(members);
        environment.registerVariable({ name, schema: schema as never });
      }
    }
    return environment;
  }, false);
}

/** The library refuses to read an item by its index if the item is a map and its type has names of members. */
function withoutItemTypes(members: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, type]) => [
      name,
      typeof type === "string" && type.startsWith("list<$") ? "list<dyn>" : type,
    ]),
  );
}

/** The language of values. `var` is reserved in CEL, so it has another name inside. */
export function valueLanguage(): CelLanguage {
  return new CelLanguage(() => {
    const environment = newEnvironment();
    for (const root of ROOTS) environment.registerVariable(root === "var" ? VAR : root, "dyn");
    return environment;
  }, true);
}

function newEnvironment(): Environment {
  const options = { enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits: LIMITS };
  const environment = new (cel().Environment)(options);
  registerFunctions(environment, (steps) => active.take(steps));
  return environment;
}

/** A thrown value of the library as plain data. */
export function problemOf(problem: unknown): ExpressionProblem {
  const { code, summary, message, range } = problem as {
    readonly code?: unknown;
    readonly summary?: unknown;
    readonly message?: unknown;
    readonly range?: { readonly start: number; readonly end: number };
  };
  return {
    code: typeof code === "string" ? code : "",
    message: inOurWords(String(summary ?? message ?? problem)),
    start: range?.start ?? 0,
    end: range?.end ?? 0,
  };
}

function inOurWords(text: string): string {
  const words = shortened(text, 300)
    .replaceAll(LINEAR_MATCHES, "matches")
    .replaceAll(VAR, "var")
    .replace(/\b(?:dyn<)?(list|map)<[\w, ]+>>?/g, "$1")
    .replace(/\bdyn<([^<>]+)>/g, "$1")
    .replace(/\$([a-z]+)(\.[a-z]+)*/g, "map")
    .replace(
      /^(unexpected token: EOF|expected [A-Z]+, got EOF|unterminated string)$/i,
      "the expression is incomplete",
    )
    .replace(/'/g, '"');
  const call = /^found no matching overload for "(?:(.*)\.)?(\w+)\((.*)\)"$/i.exec(words);
  if (call !== null) return overloadMessage(call[2] ?? "", call[1], call[3] ?? "");
  return /^[A-Z][a-z]/.test(words) ? `${words[0]?.toLowerCase()}${words.slice(1)}` : words;
}

/** A function that does not exist, or not for these types. */
function overloadMessage(name: string, receiver: string | undefined, operands: string): string {
  if (!FUNCTION_NAMES.has(name)) return `unknown function "${name}"`;
  const types = [...(receiver === undefined ? [] : [receiver]), ...(operands === "" ? [] : [operands])];
  return types.length === 0
    ? `the operands of ${name} are missing`
    : `the operands of ${name} cannot be (${types.join(", ")})`;
}

interface Evaluation {
  run(node: Node, context: unknown): unknown;
}

interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  readonly meta: {
    readonly alternate?: unknown;
    readonly macro?: unknown;
    readonly evaluate?: (evaluator: Evaluation, node: Node, context: unknown) => unknown;
  };
  /** The operation on evaluated operands. */
  handle?: (...operands: readonly unknown[]) => unknown;
  setMeta(key: string, value: unknown): unknown;
}

/** Every node of a tree, those that macros made included. */
function nodesOf(root: unknown): readonly Node[] {
  const nodes: Node[] = [];
  const visited = new Set<object>();
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== "object" || visited.has(value)) return;
    visited.add(value);
    if (isNode(value)) {
      nodes.push(value);
      visit(value.args);
      visit(value.meta.alternate);
      visit(value.meta.macro);
    } else for (const member of Object.values(value)) visit(member);
  };
  visit(root);
  return nodes;
}

function isNode(value: object): value is Node {
  return typeof (value as { op?: unknown }).op === "string" && "setMeta" in value;
}

function makeLinear(node: Node): void {
  const call = node.args;
  if (node.op !== "rcall" || !Array.isArray(call) || call[0] !== "matches") return;
  call[0] = LINEAR_MATCHES;
  const [pattern] = call[2] as readonly Node[];
  if (pattern?.op !== "value" || typeof pattern.args !== "string") return;
  try {
    compilePattern(pattern.args);
  } catch (problem) {
    throw problemAt(pattern, `the regular expression is invalid: ${thrownText(problem)}`);
  }
}

const BINARY = new Set(["!=", "==", "in", "+", "-", "*", "/", "%", "<", "<=", ">", ">="]);
const CREATES = new Set(["+", "call", "rcall", "list", "map"]);

/** Functions that arrange or pass on values without reading them, so that references are allowed. */
const ARRANGES = new Set(
  "size flatten merge slice reverse orValue or of value hasValue dyn type first last".split(" "),
);

/** Functions of times; a time zone makes them slow. */
const SLOW = /^get[A-Z]/;
const SLOW_STEPS = 20_000;

/** A map takes more memory than its entries. */
const MAP_STEPS = 16;

/** Quantifiers and logical operators continue after an error, and an error is slow to create. */
const ERROR_STEPS = 100;

const UNREAD_REFERENCE =
  "a reference is unknown until apply, so an expression can pass it on, but not read it";
export const UNREAD_VALUE = "the value is sensitive, so a rule cannot read it";

/** Makes the evaluation of a node take steps. `unread`: the error where it reads a value that cannot be read. */
function meterNode(node: Node, unread: string): void {
  const evaluate = node.meta.evaluate;
  if (evaluate === undefined) return;
  const creates = CREATES.has(node.op);
  node.setMeta("evaluate", (evaluator: Evaluation, self: Node, context: unknown) => {
    active.take(1);
    let value: unknown;
    try {
      value = self.op === "map" ? mapOf(evaluator, self, context) : evaluate(evaluator, self, context);
    } catch (problem) {
      active.take(ERROR_STEPS);
      throw problem;
    }
    if (self.op === "map") active.take(MAP_STEPS);
    if (creates) active.create(weightOf(value));
    return value;
  });
  const { handle } = node;
  if (handle === undefined) return;
  if (BINARY.has(node.op))
    node.handle = (left, right, ...rest) => {
      // A key of a map is found at once.
      if (node.op !== "in" || !(right instanceof Map)) active.take(weightOf(left) + weightOf(right));
      const decided = equalityWithoutReading(node.op, left, right);
      if (decided !== undefined) return decided;
      if (readsUnknown(node.op, left, right)) throw problemAt(node, unread);
      return located(node, () => handle(left, right, ...rest));
    };
  else if (node.op === "call" || node.op === "rcall") {
    const name = String((node.args as readonly unknown[])[0]);
    node.handle = (operands, ...rest) => {
      const values = operands as readonly unknown[];
      active.take(SLOW.test(name) ? SLOW_STEPS : 0);
      for (const value of values) active.take(weightOf(value));
      if (!ARRANGES.has(name) && values.some(hasReference)) throw problemAt(node, unread);
      return located(node, () => handle(operands, ...rest));
    };
  }
}

function readsUnknown(op: string, left: unknown, right: unknown): boolean {
  if (op === "+") return left instanceof UnknownValue || right instanceof UnknownValue;
  // The keys of a map are known.
  return hasReference(left) || (!(op === "in" && right instanceof Map) && hasReference(right));
}

/** Whether two values are equal where null or their sizes decide it, whatever the unknown values in them are; else undefined. */
function equalityWithoutReading(op: string, left: unknown, right: unknown): boolean | undefined {
  if ((op !== "==" && op !== "!=") || !(hasReference(left) || hasReference(right))) return undefined;
  const [before, after] = [sizeOf(left), sizeOf(right)];
  const isDifferent =
    left === null || right === null || (before !== undefined && after !== undefined && before !== after);
  return isDifferent ? op === "!=" : undefined;
}

function sizeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : undefined;
}

/** A literal as a Map: the library makes objects, which are slow for many keys, and drops some keys. */
function mapOf(evaluator: Evaluation, { args }: Node, context: unknown): ReadonlyMap<unknown, unknown> {
  const entries = args as readonly (readonly [Node, Node])[];
  return new Map(
    entries.map(([key, value]) => [evaluator.run(key, context), evaluator.run(value, context)] as const),
  );
}

/** Adds the place of a node to an error that has none. */
function located<T>(node: Node, work: () => T): T {
  try {
    return work();
  } catch (problem) {
    if (
      problem instanceof Error &&
      (problem as { range?: unknown }).range === undefined &&
      !("code" in problem)
    )
      Object.assign(problem, { range: { start: node.start, end: node.end } });
    throw problem;
  }
}

function problemAt({ start, end }: Node, message: string): Error {
  return Object.assign(new Error(message), { range: { start, end } });
}

function usesIn(nodes: readonly Node[]): readonly MemberUse[] {
  const uses: MemberUse[] = [];
  const inner = new Set<object>();
  for (const node of nodes) {
    const use = inner.has(node) ? undefined : useOf(node, inner);
    if (use !== undefined) uses.push(use);
  }
  return uses.sort((a, b) => a.start - b.start);
}

/** The names of `change.after.tags["team"]`; nodes inside it are not uses of their own. */
function useOf(node: Node, inner: Set<object>): MemberUse | undefined {
  const path: string[] = [];
  const ends: number[] = [];
  const within: Node[] = [];
  let at: Node = node;
  while (at.op !== "id") {
    const args = at.args;
    if (!Array.isArray(args) || ![".", ".?", "[]", "[?]"].includes(at.op)) return undefined;
    const [object, key] = args as unknown as readonly [Node, unknown];
    const name = typeof key === "string" ? key : literalKey(key);
    if (name === undefined) return undefined;
    path.unshift(name);
    ends.unshift(at.end);
    within.push(object);
    at = object;
  }
  path.unshift(at.args === VAR ? "var" : String(at.args));
  ends.unshift(at.end);
  for (const owner of within) inner.add(owner);
  return { path, start: node.start, end: node.end, ends };
}

function literalKey(key: unknown): string | undefined {
  const { op, args } = (key ?? {}) as Partial<Node>;
  return op === "value" && typeof args === "string" ? args : undefined;
}
