// The kinds in a dialect: with its fields, words, URIs, and rules for specs, and with its changes for plans.

import type { Path } from "../core/pointer.ts";
import { type FieldDialect, type FieldSchema, type FieldTable, schemaAt } from "./field-schema.ts";
import { type Kind, type Registry, registryOf } from "./kind.ts";
import type { PlanningRules } from "./planning.ts";

/** The contract has no clouds, so any cloud will do. */
export const CONTRACT_FIELDS: FieldDialect = { dialect: "contract", cloud: "azure" };

/** The same view for the same registry, so that its validators are compiled once (decision 0030). */
const views = new WeakMap<Registry, Map<string, Registry>>();

/** The registry with fields of a dialect. Operations and planning rules are the same. */
export function registryIn(registry: Registry, dialect: FieldDialect): Registry {
  return viewOf(registry, `spec ${dialect.dialect} ${dialect.cloud}`, ({ kinds }) =>
    registryOf(
      kinds
        .filter((kind) => isIn(kind, dialect))
        .map((kind) => ({
          ...kind,
          fields: viewedTable(kind.fields, dialect),
          allFields: kind.fields,
          planning: withRulesOf(dialect.dialect, kind.planning),
        })),
      kinds.filter((kind) => !isIn(kind, dialect)),
    ),
  );
}

/** Where a kind or field exists that a spec cannot have here, and how to get there. */
export function otherPlace({ dialect, cloud }: Pick<FieldSchema, "dialect" | "cloud">): {
  readonly where: string;
  readonly hint: string;
} {
  const settings = Object.entries({ dialect, cloud }).filter(([, value]) => value !== undefined);
  const options = settings.map(([name, value]) => `--${name} ${value}`).join(" ");
  const names = settings.map(([name]) => name).join(" and ");
  const place = [
    ...(dialect === undefined ? [] : [`in the dialect ${dialect}`]),
    ...(cloud === undefined ? [] : [`on ${cloud}`]),
  ];
  return { where: place.join(" "), hint: `pass ${options}, or set ${names} in the profile` };
}

/** The hint for a field of `kind` that only the Databricks dialect, or another cloud, has. */
export function otherPlaceHint({ allFields }: Kind, path: Path): string | undefined {
  if (allFields === undefined) return undefined;
  const field = schemaAt(allFields, path);
  if (field.dialect === "contract" || (field.dialect ?? field.cloud) === undefined) return undefined;
  const { where, hint } = otherPlace(field);
  return `the field exists only ${where}: ${hint}`;
}

function withRulesOf(dialect: FieldDialect["dialect"], planning: PlanningRules): PlanningRules {
  const own = planning.validateIn?.[dialect];
  if (own === undefined) return planning;
  const validate: PlanningRules["validate"] = (values, name) => [
    ...(planning.validate?.(values, name) ?? []),
    ...own(values, name),
  ];
  return { ...planning, validate };
}

/** The registry with the fields of all dialects, whose changes are those of one: some replace only elsewhere. */
export function planningRegistryIn(registry: Registry, { dialect }: Pick<FieldDialect, "dialect">): Registry {
  return viewOf(registry, `plan ${dialect}`, ({ kinds }) =>
    registryOf(
      kinds.map((kind) => ({
        ...kind,
        fields: changingTable(kind.fields, dialect),
        planning: withAccessIn(dialect, kind.planning),
      })),
    ),
  );
}

/** Access lists that a dialect does not have are not unknown there. */
function withAccessIn(dialect: FieldDialect["dialect"], planning: PlanningRules): PlanningRules {
  const { access } = planning;
  return access?.dialect === undefined || access.dialect === dialect
    ? planning
    : { ...planning, access: undefined };
}

function viewOf(registry: Registry, key: string, view: (registry: Registry) => Registry): Registry {
  const viewsByKey = views.get(registry) ?? new Map<string, Registry>();
  views.set(registry, viewsByKey);
  const registryView = viewsByKey.get(key) ?? view(registry);
  viewsByKey.set(key, registryView);
  return registryView;
}

/** Only fields of a kind itself can name a dialect that updates them in place. */
const changingTable = (fields: FieldTable, dialect: FieldDialect["dialect"]): FieldTable =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.inPlaceIn === undefined ? field : withChanges(field, changeIn(field, dialect)),
    ]),
  );

const changeIn = ({ inPlaceIn }: FieldSchema, dialect: FieldDialect["dialect"]): object => ({
  inPlaceIn: undefined,
  ...(inPlaceIn === dialect ? { onChange: undefined } : {}),
});

function viewedTable(fields: FieldTable, dialect: FieldDialect): FieldTable {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => isIn(field, dialect))
      .map(([name, field]) => [name, viewed(field, dialect)]),
  );
}

function isIn({ dialect, cloud }: FieldSchema | Kind, chosen: FieldDialect): boolean {
  return (dialect ?? chosen.dialect) === chosen.dialect && (cloud ?? chosen.cloud) === chosen.cloud;
}

function viewed(field: FieldSchema, dialect: FieldDialect): FieldSchema {
  const { items, properties, additionalProperties: values, required } = field;
  const inside = properties === undefined ? undefined : viewedTable(properties, dialect);
  const left = required?.filter((name) => inside !== undefined && Object.hasOwn(inside, name)) ?? [];
  return withChanges(field, {
    items: items === undefined ? undefined : viewed(items, dialect),
    properties: inside,
    ...(typeof values === "object" ? { additionalProperties: viewed(values, dialect) } : {}),
    propertyNames: keysIn(field, dialect),
    ...changeIn(field, dialect.dialect),
    ...(dialect.dialect === "databricks" ? inDatabricks(field) : { words: undefined }),
    required: left.length === 0 ? undefined : left,
  });
}

/** The rule for the keys of a map, without the pattern of another cloud: the service checks them there. */
function keysIn(
  { propertyNames: keys }: FieldSchema,
  { dialect, cloud }: FieldDialect,
): FieldSchema | undefined {
  const elsewhere = dialect === "databricks" && (keys?.cloud ?? cloud) !== cloud;
  return keys !== undefined && elsewhere
    ? withChanges(keys, { pattern: undefined, description: undefined })
    : keys;
}

/** A copy that keeps what JSON does not show, such as the mark of optional fields. */
function withChanges(field: FieldSchema, changes: object): FieldSchema {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(field)) as Record<
    string,
    unknown
  >;
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete copy[name];
    else copy[name] = value;
  }
  return copy as FieldSchema;
}

/** URIs of files begin with `dbfs:`. */
function inDatabricks(field: FieldSchema): object {
  const { description, examples, words = {}, enum: values, default: usual } = field;
  const inWordsOfDialect = (text: string): string =>
    Object.entries({ "fs:/": "dbfs:/", ...words }).reduce(
      (result, [contract, here]) => result.replace(new RegExp(`\\b${contract}`, "g"), here),
      text,
    );
  return {
    description: description === undefined ? undefined : withScheme(inWordsOfDialect(description), field),
    ...(Array.isArray(examples)
      ? {
          examples: examples.map((example) =>
            typeof example === "string" ? inWordsOfDialect(example) : example,
          ),
        }
      : {}),
    enum: values?.map((value) => words[String(value)] ?? value),
    ...(typeof usual === "string" ? { default: words[usual] ?? usual } : {}),
    ...(field.fileUri === true && field.pattern === undefined
      ? { pattern: "^(?!fs:/)", examples: ["dbfs:/folder/file"] }
      : {}),
  };
}

function withScheme(description: string, { fileUri }: FieldSchema): string {
  return fileUri !== true || description.includes("dbfs:/")
    ? description
    : `${description} Files of the workspace begin with dbfs:/.`;
}
