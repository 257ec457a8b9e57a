// The settings of a run. Options take precedence over WORKSPACE_* variables, the profile, and defaults, in this order.

import type { Credential } from "../api/auth/credential.ts";
import { isLoopback, isPrivate, METADATA_SERVICE, parseHost } from "../api/auth/endpoints.ts";
import type { CliAnswer } from "../api/auth/token-request.ts";
import { type Diagnostic, error, Failure, failureOf, warning } from "../core/diagnostic.ts";
import { parseDuration } from "../core/duration.ts";
import { cloudOfHost, type DialectOptions, dialectOf, type SpokenDialect, spokenDialect } from "./dialect.ts";
import { fromEnv, type ProcessContext } from "./environment.ts";
import { type Network, networkOf } from "./network.ts";
import type { Profile } from "./profile.ts";
import { azureCliRunner } from "./sign-in/azure.ts";
import {
  chooseSignIn,
  NO_AZURE_CLI,
  NOT_AZURE,
  type SignInChoice,
  type SkippedSignIn,
} from "./sign-in/choose.ts";
import {
  hostIn,
  isSpecProfile,
  ownProfile,
  profileSources,
  type SourcedValue,
  type Sources,
  signInSources,
} from "./sign-in/sources.ts";

export const EMBEDDED = "embedded";

export interface HostOptions extends DialectOptions {
  readonly host: string | undefined;
  readonly profile: string | undefined;
  /** Named by the spec: every other source takes precedence, and only the profile's own token goes to its host. */
  readonly specProfile?: string;
  readonly parallelism: number | undefined;
  readonly caFile?: string | undefined;
  /** For all reads of a plan, in milliseconds. */
  readonly readTimeout?: number | undefined;
  /** The author of the spec is not trusted: the sign-in runs no other program. */
  readonly untrusted?: boolean;
}

/** Where requests go. `identity` is what states and plans are bound to. The embedded workspace speaks a dialect. */
export type Endpoint =
  | ({ readonly embedded: true; readonly identity: typeof EMBEDDED } & Partial<SpokenDialect>)
  | {
      readonly embedded: false;
      readonly identity: string;
      readonly credential: Credential;
      readonly signInFrom: readonly string[];
      readonly network: Network;
      /** How a token endpoint on another host is reached. */
      readonly networkTo: (origin: string) => Network;
      readonly azureCli?: (args: readonly string[]) => Promise<CliAnswer>;
    };

export interface Settings {
  readonly endpoint: Endpoint;
  readonly dialect: SpokenDialect;
  readonly user: string | undefined;
  readonly parallelism: number;
  /** How long one attempt at a request may take; undefined leaves it to the client. */
  readonly requestMs: number | undefined;
  readonly warnings: readonly Diagnostic[];
}

const DEFAULT_PARALLELISM = 10;

export interface HostSettings {
  readonly host: SourcedValue;
  readonly dialect: SpokenDialect;
  readonly sources: Sources;
  /** Absent for the embedded workspace, which needs none. */
  readonly choice?: SignInChoice;
}

/** Throws Failure with CLI_NO_HOST, CLI_FILE or CLI_USAGE. */
export function hostSettings(
  context: ProcessContext,
  options: HostOptions,
  sources = sourcesFor(context, options),
): HostSettings {
  const { host, profile, dialect } = namedHost(context, options, sources);
  if (host === undefined)
    throw failureOf("CLI_NO_HOST", "no host is set", {
      hint: "set --host, WORKSPACE_HOST, or host in ~/.workspacecfg; to use the built-in emulator, pass `--host embedded`",
    });
  if (host.value === EMBEDDED) return { host, dialect, sources };
  const choice = chooseSignIn({
    context,
    host: identityOf(host.value),
    sources,
    identityOf,
    azure: (dialectOf(context, options).cloud ?? profile.cloud) === "azure",
    untrusted: options.untrusted === true || isSpecProfile(context, options),
  });
  return { host, dialect, sources, choice };
}

function sourcesFor(context: ProcessContext, options: Partial<HostOptions>): Sources {
  const { specProfile, profile } = options;
  return specProfile !== undefined && isSpecProfile(context, options)
    ? profileSources(context, specProfile)
    : signInSources(context, profile);
}

function namedHost(context: ProcessContext, options: Partial<HostOptions>, sources: Sources) {
  const host = options.host === undefined ? hostIn(sources) : { value: options.host, from: "--host" };
  const own = ownProfile(sources);
  // The dialect of a profile applies to its host. A host from the vendor's variables or profiles speaks the vendor's dialect.
  const vendors: Profile =
    host !== undefined && "family" in host && host.family === "databricks" ? { dialect: "databricks" } : {};
  const profile = host === undefined || own.host === host.value ? own.profile : vendors;
  return { host, profile, dialect: spokenDialect(context, options, host?.value, profile) };
}

/** Throws Failure with CLI_NO_HOST, CLI_FILE, CLI_USAGE, CLI_PLAIN_HTTP or API_UNAUTHENTICATED. */
export function settingsOf(context: ProcessContext, options: HostOptions): Settings {
  return settingsFor(context, options, hostSettings(context, options));
}

/** Throws Failure likewise. */
export function settingsFor(
  context: ProcessContext,
  options: HostOptions,
  { host, dialect, sources, choice }: HostSettings,
): Settings {
  const user = fromEnv(context, "WORKSPACE_USER") ?? ownProfile(sources).profile.user;
  const parallelism =
    options.parallelism ?? integerFromEnv(context, "WORKSPACE_PARALLELISM") ?? DEFAULT_PARALLELISM;
  const warnings = choice?.warnings ?? [];
  const common = { dialect, user, parallelism, requestMs: leaseFromEnv(context), warnings };
  if (choice === undefined)
    return { endpoint: { embedded: true, identity: EMBEDDED, ...dialect }, ...common };
  const identity = identityOf(host.value);
  const { credential } = choice;
  if (credential === undefined) throw new Failure(noToken(identity, choice));
  // The vendor's own hosts serve https only: plain http is a mistake, or an attack.
  const needsHttps = credential.method !== "pat" || cloudOfHost(identity) !== undefined;
  if (needsHttps && !isPrivate(new URL(identity)))
    throw failureOf(
      "CLI_PLAIN_HTTP",
      `the ${credential.method} sign-in is not used for ${identity}, which is not encrypted`,
      { hint: "use an https:// URL" },
    );
  const networkTo = (origin: string): Network =>
    origin === METADATA_SERVICE ? {} : networkOf(context, options.caFile, origin);
  const network = networkTo(identity);
  const signIn = {
    signInFrom: choice.from,
    ...(credential.method === "azure-cli"
      ? { azureCli: azureCliRunner(choice.from[0] ?? "az", context) }
      : {}),
  };
  const endpoint = { embedded: false, identity, credential, network, networkTo, ...signIn } as const;
  return { endpoint, ...common, warnings: [...warnings, ...overPlainHttp(identity, network)] };
}

/** The dialect that a command would use. A profile file that cannot be used counts as absent: commands that connect report it. */
export function dialectFrom(context: ProcessContext, options: Partial<HostOptions>): SpokenDialect {
  try {
    return namedHost(context, options, sourcesFor(context, options)).dialect;
  } catch (problem) {
    if (problem instanceof Failure && problem.diagnostics.every(({ code }) => code === "CLI_FILE"))
      return spokenDialect(context, options, undefined, {});
    throw problem;
  }
}

function overPlainHttp(identity: string, { proxy }: Network): readonly Diagnostic[] {
  const { protocol, hostname } = new URL(identity);
  if (protocol !== "http:" || isLoopback(hostname)) return [];
  return [
    warning(
      "CLI_PLAIN_HTTP",
      `the token goes to ${identity} unencrypted, and ${proxy === undefined ? "anyone" : "the proxy or anyone else"} on the network path can read it`,
      { hint: "use an https:// URL" },
    ),
  ];
}

/** The identity that states and plans are bound to: the host without parts that do not distinguish workspaces. */
export function identityOf(host: string): string {
  const { origin, base } = parseHost(host);
  return `${origin}${base}`;
}

/** Says what was tried, and gives the most likely fix. */
function noToken(host: string, { skipped }: SignInChoice): Diagnostic {
  // The Azure CLI is tried without any value, so it does not show what the user configured.
  const skippedSignIns = skipped.filter(({ what, why }) => what !== "azure-cli" || why !== NOT_AZURE);
  return error("API_UNAUTHENTICATED", `no token is set for ${host}`, {
    hint: tokenHint(skippedSignIns),
    ...(skippedSignIns.length === 0
      ? {}
      : { cause: skippedSignIns.map(({ what, why }) => `${what}: ${why}`).join("; ") }),
  });
}

function tokenHint(skippedSignIns: readonly SkippedSignIn[]): string {
  if (skippedSignIns.some(({ why }) => /^(it is|they are) for /.test(why)))
    return "the values found are for another host: choose it with --profile or --host, or run `workspace login`";
  if (skippedSignIns.some(({ why }) => why === NOT_AZURE))
    return "if the host is a workspace of Azure, pass --cloud azure; otherwise, run `workspace login`";
  if (skippedSignIns.some(({ what, why }) => what !== "azure-cli" && why === NO_AZURE_CLI))
    return "install the Azure CLI and run `az login`, or choose another sign-in with `workspace login --auth-type`";
  return "run `workspace login`, or set WORKSPACE_TOKEN";
}

export function integerFromEnv(context: ProcessContext, name: string): number | undefined {
  const text = fromEnv(context, name);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw failureOf("CLI_USAGE", `${name} is not an integer above 0`);
  return Number(text);
}

const SHORTEST_LEASE_MS = 500;
const LONGEST_LEASE_MS = 60_000;

/** WORKSPACE_LEASE: how long a run without heartbeats keeps the lock, and how long a request may take. */
export function leaseFromEnv(context: ProcessContext): number | undefined {
  const ms = timeFromEnv(context, "WORKSPACE_LEASE");
  if (ms === undefined) return undefined;
  if (ms < SHORTEST_LEASE_MS || ms > LONGEST_LEASE_MS)
    throw failureOf("CLI_USAGE", "WORKSPACE_LEASE is not between 500ms and 60s", { hint: "write it as 10s" });
  return ms;
}

const READ_TIMEOUT_MS = { trusted: 600_000, untrusted: 120_000 };
const SHORTEST_READ_TIMEOUT_MS = 100;
const LONGEST_READ_TIMEOUT_MS = 86_400_000;

/** How long all reads of a plan may take, in milliseconds. Throws Failure with CLI_USAGE. */
export function readTimeoutOf(
  context: ProcessContext,
  { readTimeout, untrusted }: Pick<HostOptions, "readTimeout" | "untrusted">,
): number {
  const ms = readTimeout ?? timeFromEnv(context, "WORKSPACE_READ_TIMEOUT");
  if (ms === undefined) return READ_TIMEOUT_MS[untrusted === true ? "untrusted" : "trusted"];
  if (ms >= SHORTEST_READ_TIMEOUT_MS && ms <= LONGEST_READ_TIMEOUT_MS) return ms;
  const source = readTimeout === undefined ? "WORKSPACE_READ_TIMEOUT" : "--read-timeout";
  throw failureOf("CLI_USAGE", `${source} is not between 100ms and 24h`, { hint: "write it as 10m" });
}

export function timeFromEnv(context: ProcessContext, name: string): number | undefined {
  const text = fromEnv(context, name);
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined)
    throw failureOf("CLI_USAGE", `${name} is not a valid duration`, { hint: "write it as 30s, 5m or 250ms" });
  return ms;
}
