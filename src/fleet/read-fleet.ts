// Reads `fleet.yaml`: validates it against its schema, applies the defaults, and checks what a schema cannot.

import { Cron } from "croner";
import { Failure, thrownText } from "../core/diagnostic.ts";
import { parseDuration } from "../core/duration.ts";
import { compareKeys, defined, type Json } from "../core/json.ts";
import { isTimeZone } from "../core/quartz.ts";
import type { SensitiveTexts } from "../core/sensitive/texts.ts";
import { Findings } from "../spec/model/findings.ts";
import type { SourceText } from "../spec/model/source.ts";
import { keySpanOf, member, memberEntries, plain, type SpecNode } from "../spec/model/tree.ts";
import { reportErrors } from "../spec/schema/error-messages.ts";
import { ajvForSpecs, toSchemaErrors } from "../spec/schema/validate.ts";
import { readYaml } from "../spec/yaml/read-yaml.ts";
import {
  type Fleet,
  type FleetWorkspace,
  LONGEST_TIMEOUT_MS,
  RESULTS_NAME,
  type RunLimit,
  stateIdentity,
  type Window,
} from "./model/fleet.ts";

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
const SOURCE_NAME = "^[A-Z_][A-Z0-9_]*$";
const LABEL = "^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$";

const DURATION = "^[0-9]+(?:\\.[0-9]+)?(?:s|m|h)$";

const TEXT = { type: "string", minLength: 1 } as const;
const TIME = { type: "string", pattern: DURATION } as const;

/** docs/fleet.md describes the fields. A message about a wrong value has its example. */
const COMMON = {
  spec: { ...TEXT, examples: ["teams/ads"] },
  target: { ...TEXT, examples: ["prod"] },
  host: { ...TEXT, examples: ["https://example.azuredatabricks.net"] },
  profile: TEXT,
  state: { ...TEXT, examples: ["workspace:/states/ads"] },
  variables: TEXTS,
  environment: {
    type: "object",
    propertyNames: {
      pattern: VARIABLE_NAME,
      description: `allowed are ${CREDENTIALS.join(", ")}, WORKSPACE_VAR_* (variables of the spec), and WORKSPACE_SECRET_* (for secrets of the spec)`,
    },
    additionalProperties: { type: "string", pattern: SOURCE_NAME, examples: ["ADS_PROD_TOKEN"] },
    examples: [{ WORKSPACE_TOKEN: "ADS_PROD_TOKEN" }],
  },
  labels: {
    type: "object",
    propertyNames: {
      pattern: LABEL,
      description: "letters, digits, and . _ / -; a letter or digit is first and last",
    },
    additionalProperties: { type: "string", pattern: LABEL, examples: ["prod"] },
    examples: [{ env: "prod", team: "ads" }],
  },
  schedule: { ...TEXT, examples: ["0 6 * * *"] },
  timezone: TEXT,
  timeout: { ...TIME, examples: ["10m"] },
  memory: { type: "string", pattern: "^[0-9]+(?:MB|GB)$", examples: ["2GB"] },
  jitter: { ...TIME, examples: ["10m"] },
  maintenance: {
    type: "array",
    items: {
      type: "object",
      additionalProperties: false,
      required: ["start", "duration"],
      properties: {
        start: { ...TEXT, examples: ["0 22 * * 6"] },
        duration: { ...TIME, examples: ["4h"] },
        timezone: TEXT,
      },
    },
    examples: [[{ start: "0 22 * * 6", duration: "4h" }]],
  },
} satisfies { readonly [name: string]: Json };

const NAMES: Json = {
  pattern: "^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$",
  description:
    "1 to 63 small letters, digits, dots, dashes, and underscores; a letter or digit is first and last",
};

const FLEET_SCHEMA: { readonly [keyword: string]: Json } = {
  type: "object",
  required: ["workspaces"],
  additionalProperties: false,
  properties: {
    defaults: {
      type: "object",
      additionalProperties: false,
      properties: COMMON,
    },
    limits: {
      type: "object",
      propertyNames: {
        pattern: `^(?:per_host|${LABEL.slice(1, -1)}=${LABEL.slice(1, -1)})$`,
        description: "per_host, or a label and its value, such as env=prod",
      },
      additionalProperties: { type: "integer", minimum: 1, maximum: 1000 },
      examples: [{ "env=prod": 1, per_host: 2 }],
    },
    workspaces: {
      type: "object",
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
function cronProblem(cron: string, timezone: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== LIMITS.length) return `has ${fields.length} fields, not 5`;
  for (const [at, field] of fields.entries()) {
    const [min, max] = LIMITS[at] ?? [0, 0];
    const numbers = field.replaceAll(/\/[0-9]+/g, "").match(/[0-9]+/g) ?? [];
    const steps = field.match(/\/([0-9]+)/g) ?? [];
    const isInRange = numbers.every((text) => Number(text) >= min && Number(text) <= max);
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

const DEFAULT_TIMEOUT = "10m";
/** It contains a credential of the fleet, which no workspace needs. */
const DATABASE_VARIABLE = "WORKSPACE_FLEET_DATABASE";

const SOURCE = new RegExp(SOURCE_NAME);

type Maps = "variables" | "environment" | "labels";

/** Adds what may be a credential, which no message may show: values of `environment` that cannot be names of variables, and passwords in URLs. */
function addCredentials(value: Json, credentials: SensitiveTexts): void {
  const { defaults, workspaces } = (value ?? {}) as { readonly defaults?: Json; readonly workspaces?: Json };
  for (const entry of [defaults, ...entriesOf(workspaces)]) {
    const { environment, host, state } = (entry ?? {}) as Readonly<Record<string, Json | undefined>>;
    for (const source of entriesOf(environment))
      if (!SOURCE.test(String(source))) credentials.add(String(source));
    for (const url of [host, state]) if (hasPassword(url)) credentials.add(String(url));
  }
}

/** The spec may declare a variable as sensitive: no frame shows a value of one, and no message one of the wrong type. */
function hideVariables(root: SpecNode, sensitive: SensitiveTexts): void {
  const workspaces = memberEntries(member(root, "workspaces")).map(([, { value }]) => value);
  for (const entry of [member(root, "defaults"), ...workspaces]) {
    const variables = member(entry, "variables");
    const values = memberEntries(variables).map(([, { value }]) => value);
    if (variables !== undefined && variables.kind !== "map") values.push(variables);
    for (const node of values) {
      node.source.mask(node);
      if (node.kind === "scalar" && typeof node.value === "number") sensitive.addValue(node.value);
    }
  }
}

/** A server without a password, such as `ops@db.example:5432`, up to the path of a URL. */
const SERVER = /^[^/]*:\/\/(?:[^/?#@:]*@)?(?:\[[\da-f:.]+\]|[^/?#@:]*)(?::\d{1,5})?(?:[/?#]|$)/i;

function hasPassword(url: Json | undefined): boolean {
  return typeof url === "string" && /^[^/]*:\/\/[^/]*:.*@/.test(url) && !SERVER.test(url);
}

function entriesOf(map: Json | undefined): readonly Json[] {
  return typeof map === "object" && map !== null ? Object.values(map) : [];
}

type Texts = Exclude<keyof typeof COMMON, Maps | "maintenance">;

interface WrittenWindow {
  readonly start: string;
  readonly duration: string;
  readonly timezone?: string;
}

type WrittenWorkspace = Partial<
  Record<Texts, string> &
    Record<Maps, Readonly<Record<string, string>>> & { readonly maintenance: readonly WrittenWindow[] }
>;

interface WrittenFleet {
  readonly limits?: Readonly<Record<string, number>>;
  readonly defaults?: WrittenWorkspace;
  readonly workspaces: Readonly<Record<string, WrittenWorkspace>>;
}

/** Parses a fleet file. Throws Failure with every problem and its place. */
export function readFleet(source: SourceText, folder: string): Fleet {
  const findings = new Findings();
  const root = readYaml(source, findings);
  if (root === undefined) throw new Failure(...findings.diagnostics());
  const value = plain(root);
  hideVariables(root, findings.sensitive);
  reportSchema(root, value, findings);
  addCredentials(value, findings.sensitive);
  if (findings.failed) throw new Failure(...findings.diagnostics());
  const { defaults = {}, workspaces, limits = {} } = value as unknown as WrittenFleet;
  const read = Object.entries(workspaces)
    .sort(compareKeys)
    .map(([name, written]) => workspaceOf(name, written, defaults, root, findings));
  reportSharedStates(folder, read, root, findings);
  if (findings.failed) throw new Failure(...findings.diagnostics());
  return {
    folder,
    workspaces: read,
    ...(Object.keys(limits).length === 0 ? {} : { limits: limitsOf(limits) }),
  };
}

function limitsOf(written: Readonly<Record<string, number>>): readonly RunLimit[] {
  return Object.entries(written).map(([name, runs]) => {
    const [label = "", value = ""] = name.split("=");
    return { of: name === "per_host" ? "per_host" : { label, value }, runs };
  });
}

function reportSharedStates(
  folder: string,
  workspaces: readonly FleetWorkspace[],
  root: SpecNode,
  findings: Findings,
): void {
  const ofAnyTarget = Map.groupBy(workspaces, (workspace) => stateIdentity(folder, workspace, "default"));
  for (const group of ofAnyTarget.values()) {
    const owners = new Map<string, string>();
    let unnamed: string | undefined;
    for (const workspace of group) {
      const { name, target } = workspace;
      const location = stateIdentity(folder, workspace);
      const same = owners.get(location);
      // A run without a target uses the default target of its spec, which can be the one that another workspace names.
      const owner = same ?? (target === undefined ? owners.values().next().value : unnamed);
      if (same === undefined) owners.set(location, name);
      if (target === undefined) unnamed ??= name;
      if (owner === undefined) continue;
      findings.error(
        "SPEC_DUPLICATE_NAME",
        `the workspaces ${owner} and ${name} ${same === undefined ? "can " : ""}have the same state`,
        keySpanOf(root, ["workspaces", name]),
        {
          hint: `give each workspace a separate state${same === undefined ? ", or name the target of each" : ""}`,
        },
      );
    }
  }
}

function reportSchema(root: SpecNode, value: Json, findings: Findings): void {
  const validate = ajvForSpecs().compile(FLEET_SCHEMA);
  if (validate(value)) return;
  const errors = toSchemaErrors(validate.errors ?? [], value);
  reportErrors(errors, { name: "the fleet" }, root, findings);
}

function workspaceOf(
  name: string,
  own: WrittenWorkspace,
  defaults: WrittenWorkspace,
  root: SpecNode,
  findings: Findings,
): FleetWorkspace {
  // A workspace that names its profile does not take the host of the defaults, and the other way round.
  const { host: _host, profile: _profile, ...withoutHost } = defaults;
  const inherited = own.host !== undefined || own.profile !== undefined ? withoutHost : defaults;
  const written = { ...inherited, ...own };
  const at = keySpanOf(root, ["workspaces", name]);
  reportWorkspace(name, written, merged("environment", defaults, own), at, findings);
  const timeoutMs = parseDuration(written.timeout ?? DEFAULT_TIMEOUT) ?? 0;
  if (timeoutMs < 1000 || timeoutMs > LONGEST_TIMEOUT_MS)
    findings.error("SPEC_VALUE", `the timeout of workspace ${name} must be from 1s to 23h`, at);
  const { target, host, profile, state } = written;
  const schedule = scheduleOf(name, written, at, findings);
  const memoryMb = written.memory === undefined ? undefined : megabytes(written.memory);
  if (memoryMb !== undefined && (memoryMb < 128 || memoryMb > 65_536))
    findings.error("SPEC_VALUE", `the memory of workspace ${name} must be from 128MB to 64GB`, at);
  const maintenance = (written.maintenance ?? []).flatMap((window) => windowOf(name, window, at, findings));
  return {
    name,
    spec: written.spec ?? ".",
    target,
    host,
    profile,
    state,
    variables: merged("variables", defaults, own),
    environment: merged("environment", defaults, own),
    labels: merged("labels", defaults, own),
    ...defined({ schedule, memoryMb }),
    ...(maintenance.length === 0 ? {} : { maintenance }),
    timeoutMs,
  };
}

/** Names, hosts, and credentials that a workspace cannot have. */
function reportWorkspace(
  name: string,
  written: WrittenWorkspace,
  environment: FleetWorkspace["environment"],
  at: ReturnType<typeof keySpanOf>,
  findings: Findings,
): void {
  if (name === RESULTS_NAME)
    findings.error(
      "SPEC_VALUE",
      `${name} is the name of the file of results, so no workspace can have it`,
      at,
    );
  if ((written.host === undefined) === (written.profile === undefined))
    findings.error(
      "SPEC_COMBINATION",
      written.host === undefined
        ? `workspace ${name} has neither a host nor a profile`
        : `workspace ${name} has both a host and a profile`,
      at,
      { hint: "set exactly one of host and profile" },
    );
  if (Object.values(environment).includes(DATABASE_VARIABLE))
    findings.error(
      "SPEC_VALUE",
      `the environment of workspace ${name} cannot have ${DATABASE_VARIABLE}`,
      at,
      { hint: "name a variable with a credential of this workspace" },
    );
  if (hasPassword(written.host) || hasPassword(written.state))
    findings.error("SPEC_VALUE", `a URL of workspace ${name} contains a password`, at, {
      hint: "name the variable that has it in environment, such as `PGPASSWORD: ADS_DATABASE_PASSWORD`",
    });
}

function merged(
  map: Maps,
  defaults: WrittenWorkspace,
  own: WrittenWorkspace,
): Readonly<Record<string, string>> {
  return { ...defaults[map], ...own[map] };
}

function scheduleOf(
  name: string,
  { schedule, timezone = "UTC", jitter }: WrittenWorkspace,
  at: ReturnType<typeof keySpanOf>,
  findings: Findings,
): FleetWorkspace["schedule"] {
  if (schedule === undefined || !isSchedule(name, "schedule", schedule, timezone, at, findings))
    return undefined;
  return {
    cron: schedule,
    timezone,
    jitterMs: jitter === undefined ? undefined : (parseDuration(jitter) ?? 0),
  };
}

function windowOf(
  name: string,
  { start, duration, timezone = "UTC" }: WrittenWindow,
  at: ReturnType<typeof keySpanOf>,
  findings: Findings,
): readonly Window[] {
  if (!isSchedule(name, "maintenance window", start, timezone, at, findings)) return [];
  return [{ cron: start, timezone, durationMs: parseDuration(duration) ?? 0 }];
}

function isSchedule(
  name: string,
  what: string,
  cron: string,
  timezone: string,
  at: ReturnType<typeof keySpanOf>,
  findings: Findings,
): boolean {
  if (!isTimeZone(timezone)) {
    findings.error("SPEC_VALUE", `the time zone "${timezone}" of workspace ${name} does not exist`, at, {
      hint: "use a name of the IANA time zone database, such as `Europe/Berlin`",
    });
    return false;
  }
  const problem = cronProblem(cron, timezone);
  if (problem === undefined) return true;
  findings.error("SPEC_VALUE", `the ${what} of workspace ${name} ${problem}`, at, {
    hint: "write minute, hour, day of the month, month, and day of the week, such as `0 6 * * 1-5`",
  });
  return true;
}

/** `512MB` and `2GB` as a number of MB. */
export function megabytes(text: string): number {
  return Number(text.slice(0, -2)) * (text.endsWith("GB") ? 1024 : 1);
}
