// What a run is set to: an option outweighs WORKSPACE_*, that outweighs the profile, that outweighs the default.

import { parseHost } from "../api/contract/host.ts";
import { type Diagnostic, error, Failure, warning } from "../core/diagnostic.ts";
import { parseDuration } from "../core/duration.ts";
import type { DialectChoice } from "../emulator/dialect/choice.ts";
import { type DialectOptions, type SpokenDialect, spokenDialect } from "./dialect.ts";
import type { CommandContext } from "./environment.ts";
import { isThisMachine, type Network, networkOf } from "./network.ts";
import { findProfile, type Profile } from "./profile.ts";

export const EMBEDDED = "embedded";

export interface HostOptions extends DialectOptions {
  readonly host: string | undefined;
  readonly profile: string | undefined;
  readonly parallelism: number | undefined;
  readonly caFile?: string | undefined;
}

/** Where requests go. `identity` is what states and plans are bound to. The embedded workspace speaks a dialect. */
export type HostTarget =
  | ({ readonly embedded: true; readonly identity: typeof EMBEDDED } & DialectChoice)
  | {
      readonly embedded: false;
      readonly identity: string;
      readonly token: string;
      readonly basic: boolean;
      readonly network: Network;
    };

export interface Settings {
  readonly place: HostTarget;
  /** What the workspace speaks. */
  readonly spoken: SpokenDialect;
  /** The user that the token belongs to, where somebody said so. */
  readonly user: string | undefined;
  readonly parallelism: number;
  /** How long one attempt at a request may take; undefined leaves it to the client. */
  readonly requestMs: number | undefined;
  readonly warnings: readonly Diagnostic[];
}

const DEFAULT_PARALLELISM = 10;

/** A variable of the environment; empty counts as unset. */
export function fromEnv(context: CommandContext, name: string): string | undefined {
  const value = context.env[name];
  return value === undefined || value === "" ? undefined : value;
}

/** Throws Failure with CLI_NO_HOST, CLI_FILE or API_UNAUTHENTICATED. */
export function settingsOf(context: CommandContext, options: HostOptions): Settings {
  const { profile, warnings } = findProfile(
    context,
    options.profile ?? fromEnv(context, "WORKSPACE_PROFILE"),
  );
  const said =
    options.host ?? (options.profile === undefined ? fromEnv(context, "WORKSPACE_HOST") : undefined);
  const host = said ?? profile.host;
  if (host === undefined) throw new Failure(noHost());
  const user = fromEnv(context, "WORKSPACE_USER") ?? profile.user;
  const parallelism =
    options.parallelism ?? integerFromEnv(context, "WORKSPACE_PARALLELISM") ?? DEFAULT_PARALLELISM;
  const spoken = dialectFor(context, options, host, profile);
  const common = { spoken, user, parallelism, requestMs: leaseFromEnv(context), warnings };
  if (host === EMBEDDED) return { place: { embedded: true, identity: EMBEDDED, ...spoken }, ...common };
  const identity = identityOf(host);
  // A profile's token goes to the profile's own host and to no other.
  const ours = profile.host !== undefined && identityOf(profile.host) === identity;
  const token = tokenFor(context, options, ours ? profile.token : undefined);
  if (token === undefined) throw new Failure(noToken(identity, profile.token !== undefined));
  const basic = fromEnv(context, "WORKSPACE_AUTH") === "basic";
  const network = networkOf(context, options.caFile, identity);
  const place = { embedded: false, identity, token, basic, network } as const;
  return { place, ...common, warnings: [...warnings, ...overPlainHttp(identity, network)] };
}

/** The dialect of a profile is that of the profile's own host. */
function dialectFor(
  context: CommandContext,
  options: DialectOptions,
  host: string | undefined,
  profile: Profile,
): SpokenDialect {
  const ours = host === undefined || profile.host === host;
  return spokenDialect(context, options, host, ours ? profile : {});
}

/** The dialect of the workspace that a command would use; it need not name one. */
export function dialectFrom(context: CommandContext, options: Partial<HostOptions>): SpokenDialect {
  const named = options.profile ?? fromEnv(context, "WORKSPACE_PROFILE");
  const { profile } = findProfile(context, named);
  const said =
    options.host ?? (options.profile === undefined ? fromEnv(context, "WORKSPACE_HOST") : undefined);
  return dialectFor(context, options, said ?? profile.host, profile);
}

function overPlainHttp(identity: string, { proxy }: Network): readonly Diagnostic[] {
  const { protocol, hostname } = new URL(identity);
  if (protocol !== "http:" || isThisMachine(hostname)) return [];
  return [
    warning(
      "CLI_PLAIN_HTTP",
      `the token goes to ${identity} unencrypted, and ${proxy === undefined ? "whoever is" : "the proxy, or whoever else is,"} on the way can read it`,
      {
        hint: "name the host with https://",
      },
    ),
  ];
}

/** A profile that was named on the command line is meant whole. */
function tokenFor(
  context: CommandContext,
  options: HostOptions,
  ofProfile: string | undefined,
): string | undefined {
  const ofEnv = fromEnv(context, "WORKSPACE_TOKEN");
  return options.profile === undefined ? (ofEnv ?? ofProfile) : (ofProfile ?? ofEnv);
}

/** What states and plans are bound to: the host without what does not tell workspaces apart. */
export function identityOf(host: string): string {
  const { origin, base } = parseHost(host);
  return `${origin}${base}`;
}

function noHost(): Diagnostic {
  return error("CLI_NO_HOST", "no workspace is named", {
    hint: "use --host URL, set WORKSPACE_HOST, or write a host into ~/.workspacecfg; `--host embedded` tries everything inside this program",
  });
}

function noToken(host: string, elsewhere: boolean): Diagnostic {
  return error("API_UNAUTHENTICATED", `there is no token for ${host}`, {
    hint: elsewhere
      ? "the profile's token belongs to another host; set WORKSPACE_TOKEN, or choose the right --profile"
      : "set WORKSPACE_TOKEN, or write a token beside the host in ~/.workspacecfg",
  });
}

export function integerFromEnv(context: CommandContext, name: string): number | undefined {
  const text = fromEnv(context, name);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Failure(error("CLI_USAGE", `${name} is not a whole number above 0`));
  return Number(text);
}

const SHORTEST_LEASE_MS = 500;
const LONGEST_LEASE_MS = 60_000;

/**
 * WORKSPACE_LEASE: how long a run that shows no sign of life keeps the lock. Whoever takes it over waits for the last request
 * as well, so a request is given up after the same time. Undefined: both are a minute.
 */
export function leaseFromEnv(context: CommandContext): number | undefined {
  const ms = timeFromEnv(context, "WORKSPACE_LEASE");
  if (ms === undefined) return undefined;
  if (ms < SHORTEST_LEASE_MS || ms > LONGEST_LEASE_MS)
    throw new Failure(
      error("CLI_USAGE", "WORKSPACE_LEASE is not between 500ms and 60s", { hint: "write it as 10s" }),
    );
  return ms;
}

export function timeFromEnv(context: CommandContext, name: string): number | undefined {
  const text = fromEnv(context, name);
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new Failure(error("CLI_USAGE", `${name} is not a time`, { hint: "write it as 30s, 5m or 250ms" }));
  return ms;
}
