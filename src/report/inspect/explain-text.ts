// Describes a kind or a field from the table that also validates and compares it.

import type { Json } from "../../core/json.ts";
import { grouped, listed } from "../../core/sentences.ts";
import type { FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import { isContentField, type Kind, type KindRegistry } from "../../resource/kind.ts";
import { type Colors, textTable, valueText } from "../text/terminal.ts";

/** Keys of a spec that declare no resources. */
export const SECTIONS: readonly string[] = [
  "include",
  "variables",
  "locals",
  "targets",
  "modules",
  "inputs",
  "outputs",
  "moved",
  "removed",
  "import",
  "policy",
  "rules",
];

export function kindsText(registry: KindRegistry, colors: Colors): string {
  const rows = table(
    registry.kinds.map((kind) => [kind.kind, kind.description]),
    colors,
  );
  return `${colors.bold("Kinds:")}
${rows}

${colors.bold("Other sections of a spec:")}
  ${SECTIONS.join(", ")}; in a resource: lifecycle

${seeAlso(["workspace explain KIND", "workspace explain KIND.FIELD", "docs/spec.md"], colors)}`;
}

/** `nested`: the keys of a resource that are not fields. */
export function kindText(provider: Kind, nested: readonly string[], colors: Colors): string {
  const { kind, fields } = provider;
  const required = requiredOf({ properties: fields });
  const rows = Object.entries(fields)
    .filter(([name]) => !isContentField(provider, name))
    .map(([name, schema]) => fieldRow(name, schema, required.has(name)));
  const parts = [
    `${colors.bold("Kind:")} ${kind}`,
    section("Description", [provider.description, ...kindFacts(provider)], colors),
    section("In a spec", placeInSpec(provider, required), colors),
    rows.length === 0
      ? section("Fields", ["none; write {}"], colors)
      : `${colors.bold("Fields (* required):")}\n${table(rows, colors)}`,
    section("Other keys of a resource", [nested.join(", ")], colors),
    seeAlso([`workspace explain ${kind}.FIELD`, "workspace explain lifecycle", "docs/spec.md"], colors),
  ];
  return parts.join("\n\n");
}

function placeInSpec({ kind, nested, fields }: Kind, required: ReadonlySet<string>): readonly string[] {
  const path =
    nested === undefined ? [`${kind}:`, "KEY:"] : [`${nested.kind}:`, "PARENT:", `${nested.under}:`, "KEY:"];
  const indented = path.map((word, depth) => `${"  ".repeat(depth)}${word}`);
  const names = [...required].filter((name) => fields[name] !== undefined);
  const indent = "  ".repeat(path.length);
  if (names.length === 0) return [...indented.slice(0, -1), `${indented.at(-1)} {}`];
  return [...indented, ...names.map((name) => `${indent}${name}: <${typeText(fields[name] ?? {})}>`)];
}

function section(heading: string, lines: readonly string[], colors: Colors): string {
  return [colors.bold(`${heading}:`), ...lines.map((line) => `  ${line}`)].join("\n");
}

function table(rows: readonly (readonly [string, string])[], colors: Colors): string {
  return textTable(rows, { indent: "  ", label: colors.bold }).join("\n");
}

function seeAlso(commands: readonly string[], colors: Colors): string {
  return `${colors.bold("See also:")} ${commands.join(", ")}\n`;
}

function kindFacts(provider: Kind): readonly string[] {
  const { nameField, limit, nested } = provider;
  const name =
    nameField === undefined
      ? "The key is the name of the object in the workspace."
      : `The name in the workspace is ${nameField} (default: the key).`;
  const per = limit?.per === "parent" ? `each of the ${nested?.kind ?? "parents"}` : "a workspace";
  return [
    name,
    `Refer to it as \${${provider.kind}.${nested === undefined ? "" : "PARENT/"}KEY.${provider.idAttribute}}.`,
    ...(limit === undefined ? [] : [`Limit: ${grouped(limit.max)} in ${per}.`]),
    REPLACING[provider.replaceStrategy],
    ...fieldsElsewhere(provider),
  ];
}

/** Whether the Databricks dialect has more fields than a spec can have here. */
function fieldsElsewhere({ fields, allFields = {} }: Kind): readonly string[] {
  const hasMore = Object.entries(allFields).some(
    ([name, { dialect, cloud }]) =>
      dialect === "databricks" && cloud === undefined && !Object.hasOwn(fields, name),
  );
  return hasMore ? ["The dialect databricks has more fields: pass --dialect databricks."] : [];
}

const REPLACING = {
  "create-first": "Replacement: create the new object, then delete the old one.",
  "rename-aside": "Replacement: rename the old object, create the new one, then delete the old one.",
  "delete-first": "Replacement: delete the old object, then create the new one.",
} as const;

function fieldRow(name: string, schema: FieldSchema, required: boolean): readonly [string, string] {
  const change = schema.onChange === "replace" ? " Cannot be changed in place." : "";
  return [`${name}${required ? "*" : ""}`, `${schema.description ?? typeText(schema)}${change}`];
}

export type FoundField =
  | { readonly schema: FieldSchema }
  | { readonly missing: string; readonly fieldNames: readonly string[] };

/** One field by its path, through lists and maps; or the unknown name with the known ones. */
export function findField(fields: FieldTable, path: readonly string[]): FoundField {
  let schema: FieldSchema = { properties: fields };
  for (const key of path) {
    const inside = schema.items ?? schema;
    const { properties = {}, additionalProperties: member } = inside;
    const other = typeof member === "object" ? member : undefined;
    const next = Object.hasOwn(properties, key) ? properties[key] : other;
    if (next === undefined) return { fieldNames: Object.keys(properties), missing: key };
    schema = next;
  }
  return { schema };
}

export function fieldText(title: string, schema: FieldSchema, colors: Colors): string {
  const { items, additionalProperties: member } = schema;
  const inside = items ?? (schema.properties === undefined && typeof member === "object" ? member : schema);
  const required = requiredOf(inside);
  const members = Object.entries(inside.properties ?? {}).map(([name, member]) =>
    fieldRow(name, member, required.has(name)),
  );
  const example = schema.pattern === undefined ? exampleOf(schema) : undefined;
  const facts = [...(schema.description === undefined ? [] : [schema.description]), ...fieldFacts(schema)];
  const parts = [
    `${colors.bold("Field:")} ${title} <${typeText(schema)}>`,
    ...(facts.length === 0 ? [] : [section("Description", facts, colors)]),
    ...(members.length === 0 ? [] : [`${colors.bold("Fields (* required):")}\n${table(members, colors)}`]),
    ...(example === undefined ? [] : [section("Example", [valueText(example as Json)], colors)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function fieldFacts(schema: FieldSchema): readonly string[] {
  const facts: string[] = [];
  if (schema.enum !== undefined)
    facts.push(
      `One of ${listed(
        schema.enum.map((value) => valueText(value)),
        "and",
        30,
      )}.`,
    );
  for (const [keyword, words] of LIMITS)
    if (schema[keyword] !== undefined && schema[keyword] !== LARGEST)
      facts.push(
        `${words} ${valueText((keyword === "pattern" ? exampleOf(schema) : schema[keyword]) as Json)}.`,
      );
  if (schema.default !== undefined)
    facts.push(`If unset, it is ${valueText(schema.default)}; another live value is drift.`);
  if (schema.serverDefault === true)
    facts.push("If unset, the service chooses the value; a later change is drift.");
  if (schema.whenAbsent === "unmanaged") facts.push("If unset, it is not managed.");
  if (schema.onChange === "replace")
    facts.push("Cannot be changed in place; policy.on_immutable_change decides what a change does.");
  if (schema.list === "set") facts.push("Order does not matter.");
  if (typeof schema.list === "object")
    facts.push(`${schema.list.key} identifies the members; their order does not matter.`);
  if (schema.sensitive === true) facts.push("Masked in every output.");
  if (schema.refersTo !== undefined)
    facts.push(`Refers to ${schema.refersTo}: \${${schema.refersTo}.NAME.…}.`);
  if (schema.names !== undefined) facts.push(`Refers to ${schema.names} by name.`);
  return facts;
}

/** An example is clearer than a regular expression. */
const exampleOf = ({ examples, pattern }: FieldSchema): unknown =>
  Array.isArray(examples) && examples.length > 0 ? examples[0] : pattern;

/** The largest integer of the wire format is not a limit for users. */
const LARGEST = 2_147_483_647;

const LIMITS = [
  ["minimum", "At least"],
  ["maximum", "At most"],
  ["minLength", "Characters, at least:"],
  ["maxLength", "Characters, at most:"],
  ["maxItems", "Members, at most:"],
  ["maxProperties", "Keys, at most:"],
  ["pattern", "Looks like"],
] as const;

function typeText(schema: FieldSchema): string {
  if (schema.enum !== undefined) return "string";
  if (schema.items !== undefined) return `list of ${typeText(schema.items)}`;
  if (schema.properties !== undefined) return "object";
  if (typeof schema.additionalProperties === "object")
    return `map of ${typeText(schema.additionalProperties)}`;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["any value"]);
  return types.join(" or ");
}

/** typebox marks what is optional; JSON Schema lists what is required. */
function requiredOf(schema: FieldSchema): ReadonlySet<string> {
  if (schema.required !== undefined) return new Set(schema.required);
  const names = Object.entries(schema.properties ?? {}).filter(([, member]) => !("~optional" in member));
  return new Set(names.map(([name]) => name));
}
