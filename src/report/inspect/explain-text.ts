// What a kind, or one of its fields, is: from the same table that validates and compares it.

import type { Json } from "../../core/json.ts";
import { grouped, listed } from "../../core/sentences.ts";
import { isContentField } from "../../resource/content.ts";
import type { FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import type { Colors } from "../text/color.ts";
import { valueText } from "../text/layout.ts";

export function kindsText(registry: Registry, colors: Colors): string {
  const width = Math.max(...registry.kinds.map((one) => one.kind.length));
  const lines = registry.kinds.map((one) => `  ${colors.bold(one.kind.padEnd(width))}  ${one.description}`);
  return `Kinds of resources:\n\n${lines.join("\n")}\n\nBeside them a spec holds include, variables, targets and policy, and each resource may hold lifecycle.\nMore: workspace explain KIND, workspace explain KIND.FIELD\n`;
}

export function kindText(provider: Provider, colors: Colors): string {
  const facts = kindFacts(provider).map((fact) => `  ${fact}`);
  const required = requiredOf({ properties: provider.fields });
  const fields = Object.entries(provider.fields)
    .filter(([name]) => !isContentField(provider, name))
    .map(([name, schema]) => fieldRow(name, schema, required.has(name)));
  const width = Math.max(0, ...fields.map(([label]) => label.length));
  const rows = fields.map(([label, words]) => `  ${colors.bold(label.padEnd(width))}  ${words}`);
  const listing =
    rows.length === 0 ? "It has no fields: write {}." : `Fields (* required):\n\n${rows.join("\n")}`;
  return `${colors.bold(provider.kind)}: ${provider.description}\n\n${facts.join("\n")}\n\n${listing}\n`;
}

function kindFacts(provider: Provider): readonly string[] {
  const name =
    provider.nameField === undefined
      ? "The key of the resource is its name in the workspace."
      : `Its name in the workspace is ${provider.nameField}; unset, the key of the resource.`;
  const where =
    provider.nested === undefined
      ? []
      : [`Written under ${provider.nested.under} of one of the ${provider.nested.kind}.`];
  const limit =
    provider.limit === undefined
      ? []
      : [
          `At most ${grouped(provider.limit.max)} in ${provider.limit.per === "parent" ? `one of the ${provider.nested?.kind ?? "parents"}` : "a workspace"}.`,
        ];
  return [
    name,
    ...where,
    `Others refer to it as \${${provider.kind}.NAME.${provider.idAttribute}}.`,
    ...limit,
    REPLACING[provider.replaceStrategy],
  ];
}

const REPLACING = {
  "create-first": "A replacement is created before the old object goes.",
  "rename-aside":
    "For a replacement the old object is renamed aside, and goes when nothing holds it any more.",
  "delete-first": "For a replacement the old object goes first.",
} as const;

function fieldRow(name: string, schema: FieldSchema, required: boolean): readonly [string, string] {
  const change = schema.onChange === "replace" ? " Cannot be changed in place." : "";
  return [`${name}${required ? "*" : ""}`, `${schema.description ?? typeText(schema)}${change}`];
}

export type FoundField =
  | { readonly schema: FieldSchema }
  | { readonly missing: string; readonly known: readonly string[] };

/** One field by its path, through lists and maps; or the name that there is not, with those that there are. */
export function findField(fields: FieldTable, path: readonly string[]): FoundField {
  let schema: FieldSchema = { properties: fields };
  for (const key of path) {
    const inside = schema.items ?? schema;
    const next =
      inside.properties?.[key] ??
      (typeof inside.additionalProperties === "object" ? inside.additionalProperties : undefined);
    if (next === undefined) return { known: Object.keys(inside.properties ?? {}), missing: key };
    schema = next;
  }
  return { schema };
}

export function fieldText(title: string, schema: FieldSchema, colors: Colors): string {
  const lines = [`${colors.bold(title)}: ${typeText(schema)}`, ""];
  if (schema.description !== undefined) lines.push(`  ${schema.description}`);
  lines.push(...fieldFacts(schema).map((fact) => `  ${fact}`));
  const inside = schema.items ?? schema;
  const required = requiredOf(inside);
  const members = Object.entries(inside.properties ?? {}).map(([name, member]) =>
    fieldRow(name, member, required.has(name)),
  );
  if (members.length > 0) {
    const width = Math.max(...members.map(([label]) => label.length));
    lines.push(
      "",
      "Members (* required):",
      "",
      ...members.map(([label, words]) => `  ${colors.bold(label.padEnd(width))}  ${words}`),
    );
  }
  return `${lines.join("\n")}\n`;
}

function fieldFacts(schema: FieldSchema): readonly string[] {
  const facts: string[] = [];
  if (schema.enum !== undefined)
    facts.push(
      `One of ${listed(
        schema.enum.map((one) => valueText(one)),
        "and",
        30,
      )}.`,
    );
  for (const [keyword, words] of LIMITS)
    if (schema[keyword] !== undefined && schema[keyword] !== LARGEST)
      facts.push(`${words} ${valueText(schema[keyword] as Json)}.`);
  if (schema.default !== undefined)
    facts.push(`Unset means ${valueText(schema.default)}; another live value is drift.`);
  if (schema.serverDefault === true)
    facts.push("Unset, the service decides; its first value is remembered, and a later change is drift.");
  if (schema.whenAbsent === "unmanaged") facts.push("Unset, nobody manages it.");
  if (schema.onChange === "replace")
    facts.push("Cannot be changed in place: a change follows policy.on_immutable_change.");
  if (schema.list === "set") facts.push("Order does not matter.");
  if (typeof schema.list === "object")
    facts.push(`Members are told apart by ${schema.list.key}; their order does not matter.`);
  if (schema.sensitive === true) facts.push("Masked in every output.");
  if (schema.refersTo !== undefined)
    facts.push(`Refers to one of the ${schema.refersTo}: \${${schema.refersTo}.NAME.…}.`);
  if (schema.names !== undefined) facts.push(`Names ${schema.names}.`);
  return facts;
}

/** The largest whole number of the wire says nothing to people. */
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
  if (schema.enum !== undefined) return "text";
  if (schema.items !== undefined) return `list of ${typeText(schema.items)}`;
  if (schema.properties !== undefined) return "object";
  if (typeof schema.additionalProperties === "object")
    return `map of ${typeText(schema.additionalProperties)}`;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["any value"]);
  return types.map((one) => TYPES[one] ?? one).join(" or ");
}

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
};

/** typebox marks what is optional; JSON Schema lists what is required. */
function requiredOf(schema: FieldSchema): ReadonlySet<string> {
  if (schema.required !== undefined) return new Set(schema.required);
  const names = Object.entries(schema.properties ?? {}).filter(([, member]) => !("~optional" in member));
  return new Set(names.map(([name]) => name));
}
