// Reads `fleet.yaml`: validates it against its schema, applies the defaults, and checks what a schema cannot.

import { Failure } from "../core/diagnostic.ts";
import { parseDuration } from "../core/duration.ts";
import { defined, type Json } from "../core/json.ts";
import { SensitiveTexts } from "../core/sensitive.ts";
import { suggester } from "../core/suggest.ts";
import { Findings } from "../spec/model/findings.ts";
import type { SourceText } from "../spec/model/source.ts";
import { keySpanOf, plain, type SpecNode, spanOf } from "../spec/model/tree.ts";
import { schemaMessages } from "../spec/schema/error-messages.ts";
import { ajvForSpecs, toSchemaErrors } from "../spec/schema/validate.ts";
import { readYaml } from "../spec/yaml/read-yaml.ts";
import { cronProblem, FLEET_SCHEMA, SOURCE_NAME } from "./fleet-schema.ts";
import { type Fleet, type FleetWorkspace, LONGEST_TIMEOUT_MS } from "./model/fleet.ts";
import { RESULTS_NAME, stateIdentity } from "./state-location.ts";

const DEFAULT_TIMEOUT = "10m";
/** It contains a credential of the fleet, which no workspace needs. */
const DATABASE_VARIABLE = "WORKSPACE_FLEET_DATABASE";

const SOURCE = new RegExp(SOURCE_NAME);

type Maps = "variables" | "environment" | "labels";

/** What may be a credential, which no message may show: values of `environment` that cannot be names of variables, and passwords in URLs. */
function credentialsIn(value: Json): SensitiveTexts {
  const found = new SensitiveTexts();
  const { defaults, workspaces } = (value ?? {}) as { readonly defaults?: Json; readonly workspaces?: Json };
  for (const entry of [defaults, ...entriesOf(workspaces)]) {
    const { environment, host, state } = (entry ?? {}) as Readonly<Record<string, Json | undefined>>;
    for (const source of entriesOf(environment)) if (!SOURCE.test(String(source))) found.add(String(source));
    for (const url of [host, state]) if (hasPassword(url)) found.add(String(url));
  }
  return found;
}

/** A server without a password, such as `ops@db.example:5432`, up to the path of a URL. */
const SERVER = /^[^/]*:\/\/(?:[^/?#@:]*@)?(?:\[[\da-f:.]+\]|[^/?#@:]*)(?::\d{1,5})?(?:[/?#]|$)/i;

function hasPassword(url: Json | undefined): boolean {
  return typeof url === "string" && /^[^/]*:\/\/[^/]*:.*@/.test(url) && !SERVER.test(url);
}

function entriesOf(map: Json | undefined): readonly Json[] {
  return typeof map === "object" && map !== null ? Object.values(map) : [];
}

type WrittenWorkspace = Partial<
  Record<"spec" | "target" | "host" | "profile" | "state" | "schedule" | "timezone" | "timeout", string> &
    Record<Maps, Readonly<Record<string, string>>>
>;

interface WrittenFleet {
  readonly defaults?: WrittenWorkspace;
  readonly workspaces: Readonly<Record<string, WrittenWorkspace>>;
}

/** Parses a fleet file. Throws Failure with every problem and its place. */
export function readFleet(source: SourceText, folder: string): Fleet {
  const findings = new Findings();
  const root = readYaml(source, findings);
  if (root === undefined) throw new Failure(...findings.diagnostics());
  const value = plain(root);
  reportSchema(root, value, findings);
  const credentials = credentialsIn(value);
  if (findings.failed) throw new Failure(...findings.diagnostics(undefined, credentials));
  const { defaults = {}, workspaces } = value as unknown as WrittenFleet;
  const read = Object.entries(workspaces)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, written]) => workspaceOf(name, written, defaults, root, findings));
  reportSharedStates(folder, read, root, findings);
  if (findings.failed) throw new Failure(...findings.diagnostics(undefined, credentials));
  return { folder, workspaces: read };
}

function reportSharedStates(
  folder: string,
  workspaces: readonly FleetWorkspace[],
  root: SpecNode,
  findings: Findings,
): void {
  const ofAnyTarget = Map.groupBy(workspaces, (one) => stateIdentity(folder, one, "default"));
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
  for (const one of schemaMessages(toSchemaErrors(validate.errors ?? [], value), "the fleet", suggester())) {
    const at = one.onKey ? keySpanOf(root, one.path) : spanOf(root, one.path);
    findings.error(one.code, one.message, at, one.hint === undefined ? {} : { hint: one.hint });
  }
}

function workspaceOf(
  name: string,
  own: WrittenWorkspace,
  defaults: WrittenWorkspace,
  root: SpecNode,
  findings: Findings,
): FleetWorkspace {
  // A workspace that names its profile does not take the host of the defaults, and the other way round.
  const inherited = own.host !== undefined || own.profile !== undefined ? withoutHost(defaults) : defaults;
  const written = { ...inherited, ...own };
  const at = keySpanOf(root, ["workspaces", name]);
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
  if (Object.values(merged("environment", defaults, own)).includes(DATABASE_VARIABLE))
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
  const timeoutMs = parseDuration(written.timeout ?? DEFAULT_TIMEOUT) ?? 0;
  if (timeoutMs < 1000 || timeoutMs > LONGEST_TIMEOUT_MS)
    findings.error("SPEC_VALUE", `the timeout of workspace ${name} must be from 1s to 23h`, at);
  const { target, host, profile, state } = written;
  const schedule = scheduleOf(name, written, at, findings);
  return {
    name,
    spec: written.spec ?? ".",
    ...defined({ target, host, profile, state }),
    variables: merged("variables", defaults, own),
    environment: merged("environment", defaults, own),
    labels: merged("labels", defaults, own),
    ...defined({ schedule }),
    timeoutMs,
  };
}

function withoutHost({ host: _host, profile: _profile, ...rest }: WrittenWorkspace): WrittenWorkspace {
  return rest;
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
  { schedule, timezone = "UTC" }: WrittenWorkspace,
  at: ReturnType<typeof keySpanOf>,
  findings: Findings,
): FleetWorkspace["schedule"] {
  if (schedule === undefined) return undefined;
  if (!isTimeZone(timezone)) {
    findings.error("SPEC_VALUE", `the time zone "${timezone}" of workspace ${name} does not exist`, at, {
      hint: "use a name of the IANA time zone database, such as `Europe/Berlin`",
    });
    return undefined;
  }
  const problem = cronProblem(schedule, timezone);
  if (problem !== undefined)
    findings.error("SPEC_VALUE", `the schedule of workspace ${name} ${problem}`, at, {
      hint: "write minute, hour, day of the month, month, and day of the week, such as `0 6 * * 1-5`",
    });
  return { cron: schedule, timezone };
}

function isTimeZone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
    return true;
  } catch {
    return false;
  }
}
