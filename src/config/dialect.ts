// The API dialect of a workspace: from an option, a variable, the profile, or the name of the host.

import { AZURE_CLOUDS, hostName, parseHost } from "../api/auth/endpoints.ts";
import { DATABRICKS_TABLE } from "../api/dialect/databricks.ts";
import { CONTRACT_TABLE, type DialectTable } from "../api/dialect/table.ts";
import { failureOf } from "../core/diagnostic.ts";
import { defined } from "../core/json.ts";
import { shortened } from "../core/sentences.ts";
import type { ProcessContext } from "./environment.ts";
import type { Profile } from "./profile.ts";

/** Listed here, so that help and completion do not load the emulator. */
export const DIALECTS = ["contract", "databricks"] as const;
export const CLOUDS = ["azure", "aws", "gcp"] as const;

/** A dialect, and the cloud of its host; the contract has no clouds. */
export interface SpokenDialect {
  readonly dialect: (typeof DIALECTS)[number];
  readonly cloud: (typeof CLOUDS)[number];
}

/** As options give it; undefined means that another source decides. */
export interface DialectOptions {
  readonly dialect?: SpokenDialect["dialect"] | undefined;
  readonly cloud?: SpokenDialect["cloud"] | undefined;
}

/** Throws Failure with CLI_USAGE if a variable has no allowed value. */
export function dialectOf(
  context: ProcessContext,
  dialectOptions: DialectOptions = {},
): Partial<SpokenDialect> {
  const dialect =
    dialectOptions.dialect ?? allowed("WORKSPACE_DIALECT", context.env.WORKSPACE_DIALECT, DIALECTS);
  const cloud = dialectOptions.cloud ?? allowed("WORKSPACE_CLOUD", context.env.WORKSPACE_CLOUD, CLOUDS);
  return defined({ dialect, cloud });
}

/** The dialect of a host; `profile` is one of this host. Throws Failure with CLI_USAGE. */
export function spokenDialect(
  context: ProcessContext,
  dialectOptions: DialectOptions,
  host: string | undefined,
  profile: Profile,
): SpokenDialect {
  const named = dialectOf(context, dialectOptions);
  const ofHost = host === undefined ? undefined : cloudOfHost(host);
  const dialect =
    named.dialect ??
    allowed("dialect in the profile", profile.dialect, DIALECTS) ??
    (ofHost === undefined ? "contract" : "databricks");
  const cloud = named.cloud ?? allowed("cloud in the profile", profile.cloud, CLOUDS) ?? ofHost ?? "azure";
  return { dialect, cloud };
}

export function dialectTable({ dialect }: SpokenDialect): DialectTable {
  return dialect === "databricks" ? DATABRICKS_TABLE : CONTRACT_TABLE;
}

const HOSTS: readonly (readonly [string, SpokenDialect["cloud"]])[] = [
  ...AZURE_CLOUDS.map(({ hosts }) => [hosts, "azure"] as const),
  [".gcp.databricks.com", "gcp"],
  [".cloud.databricks.com", "aws"],
];

export function cloudOfHost(host: string): SpokenDialect["cloud"] | undefined {
  if (host === "embedded") return undefined;
  const name = hostName(new URL(parseHost(host).origin));
  return HOSTS.find(([end]) => name.endsWith(end))?.[1];
}

function allowed<T extends string>(
  name: string,
  text: string | undefined,
  values: readonly T[],
): T | undefined {
  if (text === undefined || text === "") return undefined;
  const value = values.find((value) => value === text);
  if (value !== undefined) return value;
  const message = `${name} is ${JSON.stringify(shortened(text, 50))}; use one of ${values.join(", ")}`;
  throw failureOf("CLI_USAGE", message, { hint: `set ${name} to one of these values, or unset it` });
}
