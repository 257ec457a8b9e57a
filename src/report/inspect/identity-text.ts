// The user and the sign-in of a run, with the reasons: as text and as JSON.

import type { JsonObject } from "../../core/json.ts";
import { shellWord } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";
import { textTable } from "../text/terminal.ts";

export interface IdentityView {
  /** The user name; absent if the service did not accept the sign-in, or does not report names. */
  readonly user?: string;
  readonly host: { readonly url: string; readonly from: string };
  readonly dialect: string;
  /** Absent if there is none, as for the built-in emulator. */
  readonly signIn?: { readonly method: string; readonly from: readonly string[] };
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
}

export function identityText({ user, host, dialect, signIn, skipped }: IdentityView): string {
  const method = signIn === undefined ? "none" : `${signIn.method} (${places(signIn.from)})`;
  const facts = [
    ["user", user ?? "unknown"],
    ["host", `${host.url} (${host.from})`],
    ["dialect", dialect],
    ["sign-in", method],
  ];
  const unused = skipped.map(({ what, why }) => printable(`  ${what}: ${why}`));
  const lines = [
    ...textTable(facts.map((row) => row.map(printable))),
    ...(skipped.length === 0 ? [] : ["", "Not used:", ...unused]),
  ];
  return `${lines.join("\n")}\n`;
}

export interface SavedProfileView {
  readonly host: string;
  readonly user: string | undefined;
  readonly name: string;
  readonly path: string;
  readonly replaced: boolean;
  /** Whether `--profile` named the profile. */
  readonly named: boolean;
  readonly use:
    | { readonly method: string; readonly from: readonly string[] }
    | { readonly unusedBecause: string };
}

export function savedProfileText({ host, user, name, path, replaced, named, use }: SavedProfileView): string {
  const used = "method" in use ? `Commands now use it: ${use.method} (${places(use.from)}).` : undefined;
  const unused = "method" in use ? "" : `Commands do not use it: ${use.unusedBecause}.`;
  const lines = [
    `Signed in to ${host} as ${user ?? "an unknown user"}.`,
    `${replaced ? "Replaced" : "Wrote"} the profile ${name} in ${path}.`,
    used ?? (named ? `To use it, pass \`--profile ${shellWord(name)}\`.` : unused),
  ];
  return `${lines.map((line) => printable(line)).join("\n")}\n`;
}

/** Values of one profile together: `client_id and client_secret of profile DEFAULT of ~/.workspacecfg`. */
function places(from: readonly string[]): string {
  const groups = Map.groupBy(from, (text) => / of profile .*$/.exec(text)?.[0] ?? "");
  return [...groups]
    .map(([profile, values]) =>
      profile === ""
        ? values.join(", ")
        : `${values.map((value) => value.slice(0, -profile.length)).join(" and ")}${profile}`,
    )
    .join(", ");
}

export function identityJson({ user, host, dialect, signIn, skipped }: IdentityView): JsonObject {
  return {
    user: user ?? null,
    host: { ...host },
    dialect,
    sign_in: signIn === undefined ? null : { method: signIn.method, from: [...signIn.from] },
    not_used: skipped.map(({ what, why }) => ({ what, why })),
  };
}
