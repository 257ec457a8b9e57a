// `workspace explain [KIND[.FIELD…]]`: describes a kind, a field, or a section of the spec.

import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { registry as everyKind } from "../../providers/index.ts";
import {
  type FoundField,
  fieldText,
  findField,
  kindsText,
  kindText,
  SECTIONS,
} from "../../report/inspect/explain-text.ts";
import { type Colors, valueText } from "../../report/text/terminal.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import { specSchema } from "../../spec/schema/json-schema.ts";
import { REPETITION } from "../../spec/schema/language.ts";
import { LIFECYCLE } from "../../spec/schema/sections.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { DIALECT_OPTIONS } from "../command/shared-options.ts";
import { colorsOf } from "../output/diagnostics.ts";

export const explainCommand = defineCommand({
  name: "explain",
  summary: "describe a kind, a field, or a section of the spec",
  options: DIALECT_OPTIONS,
  args: [
    {
      name: "[what]",
      description: "kind (`pools`), field (`clusters.autoscale.min_workers`), or section (`policy`)",
      takes: everyKind.kinds.map((provider) => provider.kind),
    },
  ],
  async run(context, _options, [what]) {
    const registry = registryIn(everyKind, context.dialect());
    const colors = colorsOf(context, context.stdout);
    const [kind, ...path] = (what ?? "").split(".").filter((part) => part !== "");
    context.stdout.write(
      kind === undefined ? kindsText(registry, colors) : explainPath(registry, kind, path, colors),
    );
    return EXIT.ok;
  },
});

/** Throws Failure with CLI_USAGE if `name` or a part of `path` is unknown. */
export function explainPath(
  registry: Registry,
  name: string,
  path: readonly string[],
  colors: Colors,
): string {
  const provider = registry.find(name);
  return provider === undefined
    ? sectionText(registry, name, path, colors)
    : partText(registry, provider, path, colors);
}

function partText(registry: Registry, provider: Provider, path: readonly string[], colors: Colors): string {
  const { kind } = provider;
  const [first, ...rest] = path;
  const nested = nestedIn(registry, provider);
  if (first === undefined)
    return kindText(
      provider,
      [...nested.map((provider) => provider.nested?.under ?? ""), "lifecycle"],
      colors,
    );
  const child = nested.find((provider) => provider.nested?.under === first);
  if (child !== undefined) return partText(registry, child, rest, colors);
  const repetition = provider.nested === undefined ? Object.entries(REPETITION) : [];
  const all = Object.entries({ lifecycle: LIFECYCLE, ...Object.fromEntries(repetition) });
  const common = Object.fromEntries(all.map(([name, schema]) => [name, asSection(schema as FieldSchema)]));
  const fields = { ...common, ...unders(nested), ...provider.fields };
  return shown(`field of ${kind}:`, [kind, ...path], findField(fields, path), colors);
}

function nestedIn(registry: Registry, { kind }: Provider): readonly Provider[] {
  return registry.kinds.filter((provider) => provider.nested?.kind === kind);
}

/** Only for the list of fields; nested kinds are described by their own tables. */
function unders(nested: readonly Provider[]): FieldTable {
  return Object.fromEntries(
    nested.map((provider) => [provider.nested?.under ?? "", { description: provider.description }]),
  );
}

function sectionText(registry: Registry, name: string, path: readonly string[], colors: Colors): string {
  const { properties, $defs } = specSchema(registry) as FieldSchema & { readonly $defs: FieldTable };
  const names = [...SECTIONS, "lifecycle"];
  const sections: FieldTable = Object.fromEntries(
    names.map((name) => [name, asSection(properties?.[name] ?? $defs[name] ?? {})]),
  );
  if (!Object.hasOwn(sections, name))
    throw unknown("kind", name, [...registry.kinds.map((provider) => provider.kind), ...names]);
  return shown(`field of ${name}:`, [name, ...path], findField(sections, [name, ...path]), colors);
}

/** Fields of a section are optional and not compared with the workspace. */
function asSection(schema: FieldSchema): FieldSchema {
  const { default: usual, description = "", properties = {}, ...rest } = schema;
  const members = Object.entries(properties).map(([name, member]) => [name, asSection(member)] as const);
  const unset = usual === undefined ? "" : ` Unset: ${valueText(usual)}.`;
  const inside = members.length === 0 ? {} : { properties: Object.fromEntries(members) };
  const { additionalProperties: entry } = rest;
  const entries = typeof entry === "object" ? { additionalProperties: { required: [], ...entry } } : {};
  return { ...rest, ...inside, ...entries, description: `${description}${unset}`, required: [] };
}

function shown(what: string, path: readonly string[], foundField: FoundField, colors: Colors): string {
  if ("missing" in foundField) throw unknown(what, foundField.missing, foundField.fieldNames);
  return fieldText(path.join("."), foundField.schema, colors);
}

function unknown(what: string, name: string, names: readonly string[]): Failure {
  const otherwise = names.length === 0 ? "the part before it has no fields" : `known: ${names.join(", ")}`;
  const hint = nearestHint(name, names, otherwise, "words");
  return failureOf("CLI_USAGE", `unknown ${what} "${name}"`, { hint });
}
