// The variables of a spec: their declarations, and their values from the command line, a file, the environment, or the target.

import type { SensitiveTexts } from "../../core/sensitive.ts";
import { listed } from "../../core/sentences.ts";
import { didYouMean, type Suggest } from "../../core/suggest.ts";
import type { NamedValues } from "../evaluate/evaluator.ts";
import { refusedWords } from "../files/includes.ts";
import { readNamedFile } from "../files/spec-folder.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import { SourceText, type Span } from "../model/source.ts";
import { sourceOf } from "../model/text.ts";
import {
  describeNode,
  isNull,
  type MapNode,
  member,
  type SpecNode,
  scalarAt,
  scalarText,
} from "../model/tree.ts";
import { readYaml } from "../yaml/read-yaml.ts";
import { plainScalar } from "../yaml/scalars.ts";
import {
  type ConstraintParts,
  checkConstraints,
  checkLiteral,
  constraintsOf,
  isMarkedSensitive,
  NO_CONSTRAINTS,
  sensitiveValue,
  type VariableConstraints,
} from "./constraints.ts";

/** Where values come from outside the spec. The first that has one wins: `vars`, `varFiles` (later files first), `env`, then the target. */
export interface VariableInputs {
  readonly vars: ReadonlyMap<string, string>;
  readonly varFiles: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The spec may be untrusted; the caller then passes no environment. */
  readonly untrusted?: boolean;
}

export type VariableType = "string" | "number" | "boolean" | "list" | "map";
const TYPES = ["string", "number", "boolean", "list", "map"] as const;
const FIELDS = ["default", "description", "type", "enum", "pattern", "sensitive"];
const NAME = /^[A-Za-z_][\w-]*$/;

interface Declared {
  readonly at: Span;
  readonly type: VariableType | undefined;
  readonly value: SpecNode | undefined;
  readonly constraints: VariableConstraints;
}

export interface VariableParts extends ConstraintParts {
  readonly suggest: Suggest;
  readonly sensitive: SensitiveTexts;
}

/** Reads the declarations and everything that gives them values. */
export function variablesOf(
  root: MapNode,
  target: SpecNode | undefined,
  given: VariableInputs,
  { suggest, findings, sensitive, patterns }: VariableParts,
): NamedValues {
  const declared = declarations(member(root, "variables"), { findings, patterns });
  const values = new Map<string, SpecNode>();
  const unknown = (name: string, at: Span | undefined): void =>
    findings.error(
      "SPEC_VARIABLE",
      `the spec has no variable ${JSON.stringify(name)}`,
      at,
      didYouMean(
        suggest(name, declared.keys(), "words"),
        `declare it: variables: { ${name}: { description: … } }`,
      ),
    );
  const set = (name: string, value: SpecNode): void => {
    const { type, constraints = NO_CONSTRAINTS } = declared.get(name) ?? {};
    values.set(name, constraints.sensitive ? sensitiveValue(value, sensitive) : value);
    checkConstraints(`the variable ${name}`, constraints, value, findings);
    const message = `the variable ${name} must be ${TYPE_WORDS[type ?? "map"]}, not ${describeNode(value)}`;
    if (type !== undefined && typeOf(value) !== type) findings.error("SPEC_VARIABLE", message, value);
  };

  for (const [name, { value }] of declared) if (value !== undefined) set(name, value);
  for (const [name, { key, value }] of findings.names("the target's variables", target))
    if (declared.has(name)) set(name, value);
    else unknown(name, key);
  for (const [name, one] of declared) {
    const variable = `WORKSPACE_VAR_${name}`;
    const text = Object.hasOwn(given.env, variable) ? given.env[variable] : undefined;
    if (text !== undefined) set(name, typed(text, one.type, variable, findings));
  }
  for (const path of given.varFiles)
    for (const [name, { key, value }] of findings.names(path, fileAt(path, findings)))
      if (declared.has(name)) set(name, value);
      else findings.warning("SPEC_VARIABLE", `${path} sets ${name}, which the spec does not declare`, key);
  for (const [name, text] of given.vars)
    if (declared.has(name)) set(name, typed(text, declared.get(name)?.type, `--var ${name}`, findings));
    else unknown(name, undefined);

  const find: NamedValues["find"] = (name, at, quiet) => {
    const value = values.get(name);
    if (value !== undefined) return value;
    if (!declared.has(name)) unknown(name, at);
    else if (!quiet) {
      const unread = ` (WORKSPACE_VAR_${name} is not read for an untrusted spec)`;
      const note = given.untrusted === true ? unread : "";
      findings.error("SPEC_VARIABLE", `the variable ${name} has no value`, at, {
        hint: `set it with --var ${name}=…${note}, or set a default under variables.${name}`,
      });
    }
    return undefined;
  };
  return { names: declared, find };
}

/** The names of the variables that a section declares as sensitive. */
export function sensitiveVariables(section: SpecNode | undefined): ReadonlySet<string> {
  const members = section?.kind === "map" ? [...section.members] : [];
  return new Set(members.flatMap(([name, { value }]) => (isMarkedSensitive(value) ? [name] : [])));
}

function declarations(section: SpecNode | undefined, parts: ConstraintParts): ReadonlyMap<string, Declared> {
  const { findings } = parts;
  const declared = new Map<string, Declared>();
  for (const [name, { key, value }] of findings.names("variables", section)) {
    if (!NAME.test(name))
      findings.error("SPEC_VARIABLE", `${JSON.stringify(name)} is not a valid variable name`, key, {
        hint: "a name starts with a letter and contains letters, digits, dashes, and underscores",
      });
    declared.set(name, declaration(name, key, value, parts));
  }
  return declared;
}

/** A map of fields, or a bare value that is the default. */
function declaration(name: string, at: Span, node: SpecNode, parts: ConstraintParts): Declared {
  const { findings } = parts;
  const constraints = NO_CONSTRAINTS;
  if (isNull(node)) return { at, type: undefined, value: undefined, constraints };
  if (node.kind !== "map") {
    checkLiteral(`the default of the variable ${name}`, node, findings);
    return { at, type: typeOf(node), value: node, constraints };
  }
  findings.onlyFields(`variables.${name}`, node, FIELDS, () => ({ hint: `known fields: ${listed(FIELDS)}` }));
  const type = member(node, "type");
  const word = TYPES.find((one) => one === scalarText(type));
  if (type !== undefined && word === undefined)
    findings.error("SPEC_VALUE", `variables.${name}: type must be one of ${listed(TYPES, "or")}`, type);
  const value = member(node, "default");
  if (value !== undefined) checkLiteral(`the default of the variable ${name}`, value, findings);
  const inferred = word ?? (value === undefined || isNull(value) ? undefined : typeOf(value));
  const checks = constraintsOf(`variables.${name}`, node, inferred, parts);
  return { at, type: inferred, value, constraints: checks };
}

function typeOf(node: SpecNode): VariableType | undefined {
  if (node.kind !== "scalar") return node.kind;
  const type = typeof node.value;
  if (type === "object") return undefined;
  return type === "string" || type === "boolean" ? type : "number";
}

const TYPE_WORDS: Readonly<Record<VariableType, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  list: "a list",
  map: "a map",
};

/** Parses a value from the command line or the environment as the declared type: lists and maps as YAML or JSON. */
function typed(text: string, type: VariableType | undefined, from: string, findings: Findings): SpecNode {
  const source = new SourceText(from, text).hide();
  const span = { source, start: 0, end: text.length };
  if (type === undefined || type === "string") return scalarAt(span, text);
  if (type === "number" || type === "boolean") return scalarAt(span, plainScalar(text) ?? text);
  const read = sourceOf(from, new TextEncoder().encode(text), findings, { isHidden: true });
  return (read === undefined ? undefined : readYaml(read, findings)) ?? scalarAt(span, text);
}

function fileAt(path: string, findings: Findings): SpecNode | undefined {
  const opened = readNamedFile(path, LIMITS.fileBytes);
  if (!opened.ok) {
    findings.error("CLI_FILE", `the variable file ${path} ${refusedWords(opened).words}`, undefined);
    return undefined;
  }
  const source = sourceOf(path, opened.value, findings, { isHidden: true });
  return source === undefined ? undefined : readYaml(source, findings);
}
