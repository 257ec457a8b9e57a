// Reads the rules of the spec and of folders of rules. The rules of folders come first, and the spec cannot redefine them.

import { compareKeys, defined } from "../../core/json.ts";
import {
  type CompiledExpression,
  type ExpressionProblem,
  type MemberUse,
  ruleLanguage,
} from "../../expressions/language.ts";
import {
  ITEM_MEMBERS,
  type MessagePart,
  messageParts,
  RULE_VARIABLES,
  type RulePart,
} from "../../expressions/rule.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import { joinFiles, withNamedRules } from "../files/includes.ts";
import type { Findings } from "../model/findings.ts";
import { locationOf, placeInText, type Span } from "../model/source.ts";
import type { Rule, RuleFile } from "../model/spec.ts";
import {
  isNull,
  type MapMember,
  type MapNode,
  mapAt,
  member,
  type ScalarNode,
  type SpecNode,
  scalarText,
} from "../model/tree.ts";
import { hasPath } from "../resolve/field-walk.ts";
import { reportErrors } from "../schema/error-messages.ts";
import { validatorFor } from "../schema/quick-check.ts";
import { schemaOfRule } from "../schema/sections.ts";
import { readYamlFile } from "../yaml/read-yaml.ts";

interface RuleSources extends Omit<RuleChecks, "compile"> {
  /** The section `rules` of the spec, by name. */
  readonly section: SpecNode | undefined;
  readonly files: readonly RuleFile[];
  readonly most: number;
  /** Whether findings about the spec show its lines. */
  readonly framed: boolean;
}

/** The valid rules; the others are reported. */
export async function readSpecRules(from: RuleSources): Promise<readonly Rule[]> {
  const { findings, registry, section, most } = from;
  const trusted = rulesOfFiles(from.files, findings);
  const own = ownRules(section, trusted, findings);
  if (trusted.size + own.size === 0) return [];
  if (own.size > most) {
    findings.error("SPEC_TOO_LARGE", `the spec has more than ${most} rules`, section);
    return [];
  }
  const schema = schemaOfRule(registry);
  const all = [...trusted, ...own].map(([, { value: node }]) => ({ schema, node }));
  const validator = await validatorFor(registry, all);
  const language = ruleLanguage("read");
  const checks: RuleChecks = { ...from, compile: (text) => language.compile(text) };
  const valid = (members: ReadonlyMap<string, MapMember>, framed: boolean): readonly Rule[] =>
    [...members].sort(compareKeys).flatMap(([name, mapMember]) => {
      const errors = validator(schema, mapMember.value);
      reportErrors(errors, { name: `rule ${name}` }, mapMember.value, findings, mapMember.key);
      const rule = errors.length > 0 ? undefined : ruleOf(name, mapMember, checks, framed);
      return rule === undefined ? [] : [rule];
    });
  return [...valid(trusted, true), ...valid(own, from.framed)];
}

/** A rule of the spec that has the name of a rule of a folder is an error, so that reports are unambiguous. */
function ownRules(
  section: SpecNode | undefined,
  trusted: ReadonlyMap<string, MapMember>,
  findings: Findings,
): ReadonlyMap<string, MapMember> {
  const own = new Map(section?.kind === "map" ? section.members : []);
  for (const [name, { key }] of own) {
    const other = trusted.get(name)?.key;
    if (other === undefined) continue;
    own.delete(name);
    const { file, line } = locationOf(other, false);
    findings.error("SPEC_RULE", `the rule ${name} is defined in the rules folder, too`, key, {
      hint: `rename this one; the other is at ${file}:${line}`,
    });
  }
  return own;
}

function rulesOfFiles(files: readonly RuleFile[], findings: Findings): ReadonlyMap<string, MapMember> {
  const roots = files.flatMap(({ shown, bytes }) => {
    const root = readYamlFile(shown, bytes, findings);
    if (root === undefined || isNull(root)) return [];
    if (root.kind === "map") return [onlyRules(root, findings)];
    findings.wrongType("a file of rules", "a map with the key rules", root);
    return [];
  });
  const section = member(joinFiles(roots, findings), "rules");
  return section?.kind === "map" ? section.members : new Map();
}

function onlyRules(root: MapNode, findings: Findings): MapNode {
  for (const [name, { key }] of root.members)
    if (name !== "rules" && !name.startsWith("x-"))
      findings.error("SPEC_RULE", `a file of rules cannot contain ${JSON.stringify(name)}`, key, {
        hint: "write the rules as a list under the key rules",
      });
  const rules = root.members.get("rules");
  return withNamedRules(mapAt(root, new Map(rules === undefined ? [] : [["rules", rules]])), findings);
}

function ruleOf(
  name: string,
  { key, value: node }: MapMember,
  checks: RuleChecks,
  framed: boolean,
): Rule | undefined {
  if (node.kind !== "map") return undefined;
  const list = member(node, "kinds");
  const kinds = list?.kind === "list" ? list.items.flatMap((item) => scalarText(item) ?? []) : undefined;
  const expressions = new RuleExpressions(name, kinds, checks);
  const texts = {
    when: textMember(node, "when"),
    assert: textMember(node, "assert"),
    message: textMember(node, "message"),
  };
  const { when, assert, message } = texts;
  if (assert === undefined) return undefined;
  if (when !== undefined) expressions.condition("when", when);
  const uses = expressions.condition("assert", assert);
  const parts = message === undefined ? undefined : expressions.message(message);
  if (expressions.failed) return undefined;
  const severity = scalarText(member(node, "severity"));
  return {
    name,
    severity: SEVERITIES.find((level) => level === severity) ?? "other",
    enforcement: scalarText(member(node, "enforcement")) === "warn" ? "warn" : "error",
    kinds,
    when: when && String(when.value),
    assert: String(assert.value),
    ...defined({ message: parts }),
    scope: expressions.isAboutChanges ? "change" : "plan",
    at: locationOf(key, framed),
    fields: uses.flatMap(({ path: [variable, side, ...path] }) =>
      variable === "change" && side === "after" && path.length > 0 ? [path] : [],
    ),
    locate: (part, offset) => locationOf(placeOf(texts[part] ?? assert, offset), framed),
  };
}

const placeOf = (node: ScalarNode, offset: number): Span => placeInText(node, String(node.value), offset);

type Compile = (text: string) => CompiledExpression | ExpressionProblem;

interface RuleChecks {
  readonly findings: Findings;
  readonly compile: Compile;
  readonly registry: PlanningRegistry;
}

const IDENTITY = ["address", "kind", "name", "change", "cost"];

/** Checks the expressions of one rule and collects what they read. */
class RuleExpressions {
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
      (_, at) => !this.#kinds.some((kind) => hasPath(kind, path.slice(0, at + 1))),
    );
    if (depth < 0) return;
    const name = path[depth] ?? "";
    const kinds = this.#kinds.map(({ kind }) => kind).join(" and ");
    const problem = this.#kinds.length > 3 ? "no kind has a field" : `${kinds} have no field`;
    const fields = depth === 0 ? this.#kinds.flatMap(({ fields }) => Object.keys(fields)) : [];
    this.#error(
      `${part}: ${problem} ${JSON.stringify(path.slice(0, depth + 1).join("."))}`,
      node,
      offset + use.end - name.length,
      offset + use.end,
      this.#checks.findings.didYouMean(name, fields).hint,
    );
  }

  #hint(code: string, text: string, { start, end }: ExpressionProblem): string | undefined {
    const { findings } = this.#checks;
    const word = text.slice(start, end);
    const names = Object.keys(RULE_VARIABLES);
    if (code === "unknown_variable")
      return findings.didYouMean(word, names, `the variables are ${names.join(", ")}`).hint;
    if (code === "no_such_overload" && /\btarget\s*[!=]=|[!=]=\s*target\b/.test(text))
      return "the name of the target is target.name";
    if (code === "invalid_macro_argument" && text.slice(0, start).endsWith("has("))
      return 'has takes a field, as in has(change.after.custom_tags.team); for other keys, write "key" in change.after.custom_tags';
    if (code !== "no_such_key") return undefined;
    const owner = /(\w+)\s*\.\s*$/.exec(text.slice(0, start))?.[1] ?? "";
    const members = membersOf(owner, text);
    return members.length === 0
      ? undefined
      : findings.didYouMean(word, members, `known members of ${owner}: ${members.join(", ")}`).hint;
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

function textMember(rule: MapNode, name: string): ScalarNode | undefined {
  const node = member(rule, name);
  return node?.kind === "scalar" && typeof node.value === "string" ? node : undefined;
}
