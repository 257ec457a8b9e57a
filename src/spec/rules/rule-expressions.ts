// Checks the expressions of a rule: their syntax, their types, the fields that they read, and where in the file a part of them is.

import { didYouMean } from "../../core/suggest.ts";
import type { CompiledExpression, ExpressionProblem, MemberUse } from "../../expressions/language.ts";
import {
  ITEM_MEMBERS,
  type MessagePart,
  messageParts,
  RULE_VARIABLES,
  type RulePart,
} from "../../expressions/rule.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Reporting } from "../model/findings.ts";
import { placeInText } from "../model/place-in-text.ts";
import { type MapNode, member, type ScalarNode } from "../model/tree.ts";
import { hasPath } from "../resolve/field-walk.ts";

type Compile = (text: string) => CompiledExpression | ExpressionProblem;

export interface RuleChecks extends Reporting {
  readonly compile: Compile;
  readonly registry: PlanningRegistry;
}

const IDENTITY = ["address", "kind", "name", "change", "cost"];

/** Checks the expressions of one rule and collects what they read. */
export class RuleExpressions {
  readonly #rule: string;
  readonly #kinds: readonly PlannedKind[];
  readonly #checks: RuleChecks;
  readonly #uses: MemberUse[] = [];
  #failed = false;

  constructor(rule: string, kinds: readonly string[] | undefined, checks: RuleChecks) {
    this.#rule = rule;
    this.#checks = checks;
    const all = checks.registry.kinds;
    this.#kinds = kinds === undefined ? all : all.filter(({ kind }) => kinds.includes(kind));
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Whether an expression is about a change, and not about the plan as a whole. */
  get isAboutChanges(): boolean {
    return this.#uses.some(({ path }) => IDENTITY.includes(path[0] ?? ""));
  }

  /** `when` or `assert`, whose value is true or false. Returns what it reads. */
  condition(part: RulePart, node: ScalarNode): readonly MemberUse[] {
    const text = String(node.value);
    const compiledExpression = this.#expression(part, node, text, 0);
    if (compiledExpression === undefined) return [];
    if (compiledExpression.type !== "bool" && compiledExpression.type !== "dyn")
      this.#error(
        `${part}: the value must be true or false, not of the type ${compiledExpression.type}`,
        node,
      );
    return compiledExpression.uses;
  }

  message(node: ScalarNode): readonly MessagePart[] {
    const parts = messageParts(String(node.value));
    if ("open" in parts) {
      this.#error("message: {{ has no }}", node, parts.open, parts.open + 2, "close the expression with }}");
      return [];
    }
    for (const part of parts)
      if (typeof part !== "string") this.#expression("message", node, part.expression, part.offset);
    return parts;
  }

  #expression(
    part: RulePart,
    node: ScalarNode,
    text: string,
    offset: number,
  ): CompiledExpression | undefined {
    const compiled = this.#checks.compile(text);
    if ("evaluate" in compiled) {
      this.#uses.push(...compiled.uses);
      for (const use of compiled.uses) this.#checkField(part, node, use, offset);
      return compiled;
    }
    const { code, message, start, end } = compiled;
    this.#error(`${part}: ${message}`, node, offset + start, offset + end, this.#hint(code, text, compiled));
    return undefined;
  }

  /** A field that no kind of the rule has is never set, so the rule could never work. */
  #checkField(part: RulePart, node: ScalarNode, use: MemberUse, offset: number): void {
    const [variable, side, ...path] = use.path;
    if (variable !== "change" || (side !== "before" && side !== "after") || path.length === 0) return;
    const depth = path.findIndex(
      (_, at) => !this.#kinds.some((plannedKind) => hasPath(plannedKind, path.slice(0, at + 1))),
    );
    if (depth < 0) return;
    const name = path[depth] ?? "";
    const where = this.#kinds.length > 3 ? "no kind" : this.#kinds.map(({ kind }) => kind).join(" and ");
    const has = where === "no kind" ? "has" : "have no";
    const fields = depth === 0 ? this.#kinds.flatMap(({ fields }) => Object.keys(fields)) : [];
    this.#error(
      `${part}: ${where} ${has} ${where === "no kind" ? "a" : ""} field ${JSON.stringify(path.slice(0, depth + 1).join("."))}`.replaceAll(
        "  ",
        " ",
      ),
      node,
      offset + use.end - name.length,
      offset + use.end,
      didYouMean(this.#checks.suggest(name, fields, "words")).hint,
    );
  }

  #hint(code: string, text: string, { start, end }: ExpressionProblem): string | undefined {
    const word = text.slice(start, end);
    const names = Object.keys(RULE_VARIABLES);
    if (code === "unknown_variable")
      return didYouMean(this.#checks.suggest(word, names, "words"), `the variables are ${names.join(", ")}`)
        .hint;
    if (code === "no_such_overload" && /\btarget\s*[!=]=|[!=]=\s*target\b/.test(text))
      return "the name of the target is target.name";
    if (code === "invalid_macro_argument" && text.slice(0, start).endsWith("has("))
      return 'has takes a field, as in has(change.after.custom_tags.team); for other keys, write "key" in change.after.custom_tags';
    if (code !== "no_such_key") return undefined;
    const owner = /(\w+)\s*\.\s*$/.exec(text.slice(0, start))?.[1] ?? "";
    const members = membersOf(owner, text);
    return members.length === 0
      ? undefined
      : didYouMean(
          this.#checks.suggest(word, members, "words"),
          `known members of ${owner}: ${members.join(", ")}`,
        ).hint;
  }

  #error(message: string, node: ScalarNode, start?: number, end?: number, hint?: string): void {
    this.#failed = true;
    const at =
      start === undefined
        ? node
        : placeInText(node, String(node.value), start, Math.max(end ?? start, start + 1));
    this.#checks.findings.error("SPEC_RULE", `rule ${this.#rule}: ${message}`, at, { hint });
  }
}

function membersOf(owner: string, text: string): readonly string[] {
  // Any other owner is an item of a list, whose name the rule chooses.
  const variable =
    owner === "summary"
      ? RULE_VARIABLES.plan?.summary
      : Object.hasOwn(RULE_VARIABLES, owner)
        ? RULE_VARIABLES[owner]
        : ITEM_MEMBERS[/\bplan\s*\.\s*changes\b/.test(text) ? "$planned" : "$right"];
  return variable === null || variable === undefined || typeof variable !== "object"
    ? []
    : Object.keys(variable);
}

export function textMember(rule: MapNode, name: string): ScalarNode | undefined {
  const node = member(rule, name);
  return node?.kind === "scalar" && typeof node.value === "string" ? node : undefined;
}
