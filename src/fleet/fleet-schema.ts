// The JSON Schema of `fleet.yaml`, for editors and for validation, and the check of its schedules.

import { Cron } from "croner";
import { thrownText } from "../core/diagnostic.ts";
import type { Json } from "../core/json.ts";

const TEXTS: Json = { type: "object", additionalProperties: { type: "string" } };

/** Credentials of a workspace, in the order of the help. A new variable of a sign-in has to be added here. */
const CREDENTIALS = [
  ...["WORKSPACE_TOKEN", "WORKSPACE_CLIENT_ID", "WORKSPACE_CLIENT_SECRET", "WORKSPACE_AUTH_TYPE"],
  ...["DATABRICKS_TOKEN", "DATABRICKS_CLIENT_ID", "DATABRICKS_CLIENT_SECRET", "DATABRICKS_AUTH_TYPE"],
  ...["DATABRICKS_OIDC_TOKEN", "DATABRICKS_TOKEN_AUDIENCE", "DATABRICKS_AZURE_RESOURCE_ID"],
  ...["ARM_CLIENT_ID", "ARM_CLIENT_SECRET", "ARM_TENANT_ID", "ARM_USE_MSI"],
  ...["WORKSPACE_STATE_KEY", "PGUSER", "PGPASSWORD"],
];
/** An allow list: any other variable may lead a run, or a program that it starts, to another host, file, or code. */
const VARIABLE_NAME = `^(?:${CREDENTIALS.join("|")}|WORKSPACE_(?:VAR|SECRET)_[A-Za-z0-9_]+)$`;
/** In capitals, because most access tokens contain small letters: a token is rejected before a message shows it as a name. */
export const SOURCE_NAME = "^[A-Z_][A-Z0-9_]*$";
const LABEL = "^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$";

const COMMON: { readonly [name: string]: Json } = {
  spec: {
    type: "string",
    minLength: 1,
    description:
      "Spec file or its folder, relative to the fleet file (default: the folder of the fleet file).",
    examples: ["teams/ads"],
  },
  target: { type: "string", minLength: 1, description: "Target of the spec.", examples: ["prod"] },
  host: {
    type: "string",
    minLength: 1,
    description: "URL of the workspace. Set either host or profile.",
    examples: ["https://example.azuredatabricks.net"],
  },
  profile: {
    type: "string",
    minLength: 1,
    description: "Profile in ~/.workspacecfg with host and credentials. Set either host or profile.",
  },
  state: {
    type: "string",
    minLength: 1,
    description:
      "State location, as --state takes it (default: .workspace/fleet/NAME in the folder of the fleet file). Two workspaces cannot share one.",
    examples: ["workspace:/states/ads"],
  },
  variables: { ...(TEXTS as object), description: "Values of spec variables. For secrets, use environment." },
  environment: {
    type: "object",
    propertyNames: {
      pattern: VARIABLE_NAME,
      description: `allowed are ${CREDENTIALS.join(", ")}, WORKSPACE_VAR_* (variables of the spec), and WORKSPACE_SECRET_* (for secrets of the spec)`,
    },
    additionalProperties: { type: "string", pattern: SOURCE_NAME, examples: ["ADS_PROD_TOKEN"] },
    description:
      "Credentials of the run, as environment variables. Each value is the name, in capitals, of the variable to copy; never write credentials here.",
    examples: [{ WORKSPACE_TOKEN: "ADS_PROD_TOKEN" }],
  },
  labels: {
    type: "object",
    propertyNames: {
      pattern: LABEL,
      description: "letters, digits, and . _ / -; a letter or digit is first and last",
    },
    additionalProperties: { type: "string", pattern: LABEL, examples: ["prod"] },
    description: "Labels for --select.",
    examples: [{ env: "prod", team: "ads" }],
  },
  schedule: {
    type: "string",
    minLength: 1,
    description: "When to check for drift: five cron fields.",
    examples: ["0 6 * * *"],
  },
  timezone: { type: "string", minLength: 1, description: "Time zone of the schedule (default: UTC)." },
  timeout: {
    type: "string",
    pattern: "^[0-9]+(?:\\.[0-9]+)?(?:s|m|h)$",
    description: "Time limit of a run (default: 10m).",
    examples: ["10m"],
  },
};

const NAMES: Json = {
  pattern: "^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$",
  description:
    "1 to 63 small letters, digits, dots, dashes, and underscores; a letter or digit is first and last",
};

export const FLEET_SCHEMA: { readonly [keyword: string]: Json } = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Fleet of workspaces",
  type: "object",
  required: ["workspaces"],
  additionalProperties: false,
  properties: {
    defaults: {
      type: "object",
      description: "Default values for every workspace. Maps are merged by key.",
      additionalProperties: false,
      properties: COMMON,
    },
    workspaces: {
      type: "object",
      description: "Workspaces by name.",
      minProperties: 1,
      maxProperties: 20_000,
      propertyNames: NAMES,
      additionalProperties: { type: "object", additionalProperties: false, properties: COMMON },
    },
  },
};

const FIELD = /^(?:\*|[0-9]+(?:-[0-9]+)?)(?:\/[0-9]+)?(?:,(?:\*|[0-9]+(?:-[0-9]+)?)(?:\/[0-9]+)?)*$/;
const LIMITS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** croner accepts more than five fields and some invalid ones, so the grammar is checked here. */
export function cronProblem(cron: string, timezone: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== LIMITS.length) return `has ${fields.length} fields, not 5`;
  for (const [at, field] of fields.entries()) {
    const [min, max] = LIMITS[at] ?? [0, 0];
    const numbers = field.replaceAll(/\/[0-9]+/g, "").match(/[0-9]+/g) ?? [];
    const steps = field.match(/\/([0-9]+)/g) ?? [];
    const isInRange = numbers.every((one) => Number(one) >= min && Number(one) <= max);
    if (!FIELD.test(field) || !isInRange || steps.some((step) => Number(step.slice(1)) === 0))
      return `has the invalid field "${field}" (allowed: ${min} to ${max})`;
    const twice = repeatedValue(field, min, max);
    if (twice !== undefined) return `has the field "${field}", which contains ${twice} more than once`;
  }
  try {
    return new Cron(cron, { timezone }).nextRun() === null ? "never matches a date" : undefined;
  } catch (problem) {
    return `is invalid: ${thrownText(problem)}`;
  }
}

/** The queue refuses such a field. Sunday is 0 and 7. */
function repeatedValue(field: string, min: number, max: number): number | undefined {
  const seen = new Set<number>();
  for (const part of field.split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [first = min, last = range === "*" ? max : first] =
      range === "*" ? [] : range.split("-").map(Number);
    const values = new Set<number>();
    for (let value = first; value <= last; value += Number(step)) values.add(max === 7 ? value % 7 : value);
    for (const value of values) if (seen.has(value)) return value;
    for (const value of values) seen.add(value);
  }
  return undefined;
}
