// `workspace explain [KIND[.FIELD…]]` describes a kind, a field, or a section of the spec; `workspace explain ADDRESS --plan` a change.

import { parseAddress } from "../../core/address.ts";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { registry as everyKind } from "../../providers/index.ts";
import { EXPLANATION_FORMATS } from "../../report/formats.ts";
import {
  type FoundField,
  fieldText,
  findField,
  kindsText,
  kindText,
  SECTIONS,
} from "../../report/inspect/explain-text.ts";
import type { ExplanationView } from "../../report/inspect/plan-explanation.ts";
import { type Colors, valueText } from "../../report/text/terminal.ts";
import { otherPlace, otherPlaceHint, registryIn } from "../../resource/dialect-view.ts";
import type { FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import { specSchema } from "../../spec/schema/json-schema.ts";
import { LIFECYCLE, REPETITION } from "../../spec/schema/sections.ts";
import { withSession } from "../../workflow/session/session.ts";
import { type ConsoleContext, defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { assertUnused, flagOption, type ValuesOf } from "../command/option.ts";
import {
  EXISTING_OPTIONS,
  EXPLANATION_OUTPUT,
  LIVE_OPTIONS,
  ONLY_OPTION,
  RULES_OPTION,
} from "../command/shared-options.ts";
import { colorsOf } from "../output/diagnostics.ts";
import { explanationFailureDocument } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";

/** Of a plan; they have no effect on the description of a kind. */
const PLAN_ONLY = { ...ONLY_OPTION, ...EXISTING_OPTIONS, ...EXPLANATION_OUTPUT } as const;

const OPTIONS = {
  plan: flagOption(
    "--plan",
    "explain what a plan does with the resource at this address, and why; required by --output",
  ),
  ...LIVE_OPTIONS,
  ...RULES_OPTION,
  ...PLAN_ONLY,
} as const;

type ExplainOptions = ValuesOf<typeof OPTIONS>;

export const explainCommand = defineCommand({
  jsonSchema: "explain",
  options: OPTIONS,
  failureDocument: explanationFailureDocument,
  args: [
    {
      name: "[what]",
      description:
        "kind (`pools`), field (`clusters.autoscale.min_workers`), or section (`policy`); with --plan, an address",
      takes: everyKind.kinds.map((provider) => provider.kind),
    },
  ],
  async run(context, options, [what]) {
    if (options.plan) return explainPlan(context, options, what);
    assertUnused(PLAN_ONLY, options, "--plan");
    const registry = registryIn(everyKind, context.dialect());
    const colors = colorsOf(context, context.stdout);
    const [kind, ...path] = (what ?? "").split(".").filter((part) => part !== "");
    context.stdout.write(
      kind === undefined ? kindsText(registry, colors) : explainPath(registry, kind, path, colors),
    );
    return EXIT.ok;
  },
});

async function explainPlan(
  context: ConsoleContext,
  options: ExplainOptions,
  what: string | undefined,
): Promise<number> {
  const address = what === undefined ? undefined : parseAddress(what);
  if (address === undefined)
    throw failureOf("CLI_USAGE", `--plan requires an address${what === undefined ? "" : `, not ${what}`}`, {
      hint: "write it as kind.key, such as pools.shared",
    });
  const [{ explainInSession }, { explanationView }, { ChangeView }] = await Promise.all([
    import("../../workflow/plan/explain-resource.ts"),
    import("../../report/inspect/plan-explanation.ts"),
    import("../../report/view/change-view.ts"),
  ]);
  const { output } = options;
  return withReports(context, { output }, explanationFailureDocument, (reports, invocation) =>
    withSession(
      invocation,
      { makesKey: false, writesNoDigests: true, secrets: "optional" },
      async (session) => {
        const { explanation, plan, places } = await explainInSession(session, address, options);
        const { change } = explanation;
        const view = change && new ChangeView(change, everyKind, places);
        const answer = explanationView({ explanation, view, at: places(address), registry: everyKind });
        await reports.show<ExplanationView>(EXPLANATION_FORMATS, answer, plan);
        return EXIT.ok;
      },
    ),
  );
}

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
  const found = findField(fields, path);
  const depth = path.findIndex((_, at) => "missing" in findField(fields, path.slice(0, at + 1)));
  const elsewhere = "missing" in found ? otherPlaceHint(provider, path.slice(0, depth + 1)) : undefined;
  if (elsewhere !== undefined)
    throw failureOf("CLI_USAGE", `unknown field of ${kind}: "${path[depth]}"`, { hint: elsewhere });
  return shown(`field of ${kind}:`, [kind, ...path], found, colors);
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
  const elsewhere = registry.elsewhere.find(({ kind }) => kind === name);
  if (elsewhere !== undefined) {
    const { where, hint } = otherPlace(elsewhere);
    throw failureOf("CLI_USAGE", `${name} exist only ${where}`, { hint });
  }
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

function shown(what: string, path: readonly string[], field: FoundField, colors: Colors): string {
  if ("missing" in field) throw unknown(what, field.missing, field.fieldNames);
  return fieldText(path.join("."), field.schema, colors);
}

function unknown(what: string, name: string, names: readonly string[]): Failure {
  const otherwise = names.length === 0 ? "the part before it has no fields" : `known: ${names.join(", ")}`;
  const hint = nearestHint(name, names, otherwise, "words");
  return failureOf("CLI_USAGE", `unknown ${what} "${name}"`, { hint });
}
