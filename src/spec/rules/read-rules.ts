// Reads the rules of the spec and of folders of rules. The rules of folders come first, and the spec cannot redefine them.

import { defined } from "../../core/json.ts";
import { ruleLanguage } from "../../expressions/language.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { joinFiles, withNamedRules } from "../files/join-files.ts";
import type { Findings } from "../model/findings.ts";
import { placeInText } from "../model/place-in-text.ts";
import { locationOf, type Span } from "../model/source.ts";
import type { Rule, RuleFile } from "../model/spec.ts";
import { sourceOf } from "../model/text.ts";
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
import { reportErrors, validatorForRules } from "../schema/validator.ts";
import { readYaml } from "../yaml/read-yaml.ts";
import { type RuleChecks, RuleExpressions, textMember } from "./rule-expressions.ts";

export interface RuleSources extends Omit<RuleChecks, "compile"> {
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
  const nodes = [...trusted, ...own].map(([, { value }]) => value);
  const validator = await validatorForRules(registry, nodes);
  const language = ruleLanguage("read");
  const checks: RuleChecks = { ...from, compile: (text) => language.compile(text) };
  const valid = (members: ReadonlyMap<string, MapMember>, framed: boolean): readonly Rule[] =>
    [...members]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, mapMember]) => {
        const errors = validator.rule(mapMember.value);
        reportErrors(errors, `rule ${name}`, mapMember.value, from, mapMember.key);
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
    const source = sourceOf(shown, bytes, findings);
    const root = source === undefined ? undefined : readYaml(source, findings);
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
  const kinds =
    list?.kind === "list" ? list.items.flatMap((specNode) => scalarText(specNode) ?? []) : undefined;
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
