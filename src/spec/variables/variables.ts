// The variables of a spec: their declarations, and their values from the command line (`--var`), a file, the environment, or the target.

import { ownMember } from "../../core/json.ts";
import type { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { literalOf } from "../../expressions/template.ts";
import type { NamedValues } from "../evaluate/evaluator.ts";
import { escapedTree } from "../evaluate/node-values.ts";
import { readAll } from "../files/includes.ts";
import { openSpecFolder, readNamedFile, refusedWords } from "../files/spec-folder.ts";
import { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import { SourceText, type Span } from "../model/source.ts";
import {
  type MapNode,
  member,
  memberEntries,
  type SpecNode,
  scalarAt,
  scalarText,
  withInner,
} from "../model/tree.ts";
import { plainScalar } from "../yaml/block-parser.ts";
import { readYamlFile } from "../yaml/read-yaml.ts";
import {
  type ParameterDeclaration,
  type ParameterValue,
  parametersIn,
  sensitiveNames,
  sensitiveValue,
} from "./parameters.ts";

/** Where values come from outside the spec. The first that has one wins: `vars`, `varFiles` (later files first), `env`, then the target. */
interface VariableInputs {
  /** Values of `--var`: `env=prod`. */
  readonly vars: readonly string[];
  readonly varFiles: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The spec may be untrusted; the caller then passes no environment. */
  readonly untrusted?: boolean;
  readonly alsoSensitive?: AlsoSensitive;
}

/** Variables that are not declared as sensitive, but have one of `texts` in their value from outside the spec. */
export interface AlsoSensitive {
  readonly names: ReadonlySet<string>;
  readonly texts: SensitiveTexts;
}

export interface Variables extends NamedValues {
  /** The values to check against their declarations. */
  readonly values: readonly ParameterValue[];
  /** Of `names`, those whose value comes from outside the spec and that are not declared as sensitive. */
  readonly outside: ReadonlyMap<string, SpecNode>;
}

/** The variables that a spec declares without marking them as sensitive; none if its files cannot be read. */
export function openVariables(file: string): ReadonlySet<string> {
  const place = openSpecFolder(file);
  const included =
    place && readAll(place.tree, place.main, new Findings(), LIMITS, { isNeeded: mayHaveVariables });
  const section = included && member(included.root, "variables");
  const hidden = sensitiveNames(section);
  return new Set(memberEntries(section).flatMap(([name]) => (hidden.has(name) ? [] : [name])));
}

/** As for targets: most files of a large spec have only resources. An escape may spell the word, and an include may contain it. */
const mayHaveVariables = (bytes: Uint8Array): boolean =>
  /variables|include|\\/.test(new TextDecoder("latin1").decode(bytes));

/**
 * Reads the declarations and everything that gives them values. `target`: the variables of the selected target. `targets`: all targets,
 * whose sensitive values are hidden, too: frames show lines around an error, and a live object can contain any of them.
 */
export function variablesOf(
  root: MapNode,
  { target, targets }: { readonly target: SpecNode | undefined; readonly targets: SpecNode | undefined },
  inputs: VariableInputs,
  findings: Findings,
): Variables {
  const vars = parseVarOptions(inputs.vars, findings);
  const declared = parametersIn(member(root, "variables"), "variables", findings);
  hideValuesOf(targets, declared, findings);
  const values = new Map<string, SpecNode>();
  const outside = new Map<string, SpecNode>();
  const unknown = (name: string, at: Span | undefined): void =>
    findings.error(
      "SPEC_VARIABLE",
      `the spec has no variable ${JSON.stringify(name)}`,
      at,
      findings.didYouMean(name, declared.keys(), `declare it: variables: { ${name}: { description: … } }`),
    );
  const checked: ParameterValue[] = [];
  // Variables are data: what looks like a reference in one is text.
  const set = (name: string, written: SpecNode, from: "default" | "target" | "outside"): void => {
    const declaration = declared.get(name);
    if (declaration === undefined) return;
    const literal = escapedTree(written);
    const hide = (part: SpecNode): SpecNode => sensitiveValue(part, declaration, findings.sensitive);
    const { alsoSensitive } = inputs;
    const isFound = from === "outside" && alsoSensitive?.names.has(name) === true;
    const open = isFound ? withPartsOf(literal, alsoSensitive.texts, hide) : literal;
    const value = declaration.sensitive ? hide(literal) : open;
    values.set(name, value);
    if (from === "outside" && !declaration.sensitive) outside.set(name, value);
    const isDefault = from === "default";
    const subject = `the variable ${name}`;
    checked.push({ declaration, value, isDefault, subject, code: "SPEC_VARIABLE", origin: undefined });
  };

  for (const [name, { written }] of declared) if (written !== undefined) set(name, written, "default");
  for (const [name, { key, value }] of findings.names("the target's variables", target))
    if (declared.has(name)) set(name, value, "target");
    else unknown(name, key);
  for (const [name, declaration] of declared) {
    const variable = `WORKSPACE_VAR_${name}`;
    const text = ownMember(inputs.env, variable);
    // A platform passes an empty text for a secret that does not exist.
    if (text !== undefined && text !== "") set(name, typed(text, declaration, variable, findings), "outside");
  }
  for (const path of inputs.varFiles)
    for (const [name, { key, value }] of findings.names(path, fileAt(path, findings)))
      if (declared.has(name)) set(name, value, "outside");
      else findings.warning("SPEC_VARIABLE", `${path} sets ${name}, which the spec does not declare`, key);
  for (const [name, text] of vars)
    if (declared.has(name)) set(name, typed(text, declared.get(name), `--var ${name}`, findings), "outside");
    else unknown(name, undefined);

  const find: NamedValues["find"] = (name, at, quiet) => {
    const value = values.get(name);
    if (value !== undefined) return value;
    if (!declared.has(name)) unknown(name, at);
    else if (!quiet) reportNoValue(name, at, inputs, findings);
    return undefined;
  };
  return { names: declared, find, values: checked, outside };
}

/** Sensitive values of all targets, also of those that are not selected. */
function hideValuesOf(
  targets: SpecNode | undefined,
  declared: ReadonlyMap<string, ParameterDeclaration>,
  findings: Findings,
): void {
  for (const [, { value: settings }] of memberEntries(targets))
    for (const [name, { value }] of memberEntries(member(settings, "variables"))) {
      const declaration = declared.get(name);
      if (declaration?.sensitive === true) sensitiveValue(value, declaration, findings.sensitive);
    }
}

function reportNoValue(name: string, at: Span | undefined, inputs: VariableInputs, findings: Findings): void {
  const variable = `WORKSPACE_VAR_${name}`;
  const unread = ` (${variable} is not read for an untrusted spec)`;
  const alternative = ownMember(inputs.env, variable) === "" ? ` (${variable} is empty)` : ` or ${variable}`;
  const note = inputs.untrusted === true ? unread : alternative;
  findings.error("SPEC_VARIABLE", `the variable ${name} has no value`, at, {
    hint: `set it with --var ${name}=…${note}, or set a default under variables.${name}`,
  });
}

/** A value in template form with each part changed that is, or contains, one of the strings: a string, or a map with such a key. */
export function withPartsOf(
  value: SpecNode,
  texts: SensitiveTexts,
  change: (part: SpecNode) => SpecNode,
): SpecNode {
  if (value.kind === "map" && [...value.members.keys()].some((key) => texts.hasLong(key)))
    return change(value);
  const text = scalarText(value);
  if (text === undefined) return withInner(value, (inner) => withPartsOf(inner, texts, change));
  return texts.hasLong(literalOf(text) ?? text) ? change(value) : value;
}

/** Of `--var name=value`; the name is empty if there is none. */
export function nameAndValue(text: string): readonly [name: string, value: string] {
  const equals = Math.max(0, text.indexOf("="));
  return [text.slice(0, equals), text.slice(equals + 1)];
}

/** Parses the values of `--var`: `env=prod`. */
function parseVarOptions(texts: readonly string[], findings: Findings): ReadonlyMap<string, string> {
  const vars = new Map<string, string>();
  for (const text of texts) {
    const [name, value] = nameAndValue(text);
    if (name !== "") vars.set(name, value);
    else
      findings.error("CLI_USAGE", "--var requires name=value", undefined, {
        hint: "for example, --var env=prod",
      });
  }
  return vars;
}

/** Parses a value from the command line or the environment as the declared type: arrays and objects as YAML or JSON. */
function typed(
  text: string,
  declaration: ParameterDeclaration | undefined,
  from: string,
  findings: Findings,
): SpecNode {
  const types = [declaration?.schema.type ?? "string"].flat().map(String);
  const source = new SourceText(from, text).hide();
  const span = { source, start: 0, end: text.length };
  if (types.includes("string")) return scalarAt(span, text);
  if (!types.includes("array") && !types.includes("object")) return scalarAt(span, plainScalar(text) ?? text);
  const bytes = new TextEncoder().encode(text);
  return readYamlFile(from, bytes, findings, { isHidden: true }) ?? scalarAt(span, text);
}

function fileAt(path: string, findings: Findings): SpecNode | undefined {
  const opened = readNamedFile(path, LIMITS.fileBytes);
  if (!opened.ok) {
    findings.error("CLI_FILE", `the variable file ${path} ${refusedWords(opened).words}`, undefined);
    return undefined;
  }
  return readYamlFile(path, opened.value, findings, { isHidden: true });
}
