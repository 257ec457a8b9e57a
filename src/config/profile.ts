// Profiles: `~/.workspacecfg`, an INI file whose sections name a host and a token.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Diagnostic, error, Failure, warning } from "../core/diagnostic.ts";
import { nearestHint } from "../core/suggest.ts";
import { readRegularFile } from "../state/backends/file/regular-file.ts";
import type { CommandContext } from "./environment.ts";
import { fileFailure } from "./files.ts";

export interface Profile {
  readonly host?: string;
  readonly token?: string;
  readonly user?: string;
  readonly dialect?: string;
  readonly cloud?: string;
}

export interface FoundProfile {
  readonly profile: Profile;
  readonly warnings: readonly Diagnostic[];
}

type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

export const DEFAULT_PROFILE = "DEFAULT";

/** The profile that was asked for, or DEFAULT where there is one. Throws Failure when a profile that was named is missing. */
export function findProfile(context: CommandContext, named: string | undefined): FoundProfile {
  const path = context.env.WORKSPACE_CONFIG_FILE ?? join(context.home, ".workspacecfg");
  const text = readText(path);
  if (text === undefined) {
    if (named === undefined) return { profile: {}, warnings: [] };
    throw new Failure(
      error("CLI_FILE", `there is no profile "${named}": ${path} does not exist`, {
        hint: "write [name] with host and token into it",
      }),
    );
  }
  assertIni(text, path);
  const sections = parseIni(text);
  const section = sections.get(named ?? DEFAULT_PROFILE);
  if (section === undefined && named !== undefined) throw new Failure(missing(named, path, sections));
  return {
    profile: profileOf(section ?? new Map()),
    warnings: section?.has("token") === true ? exposure(path) : [],
  };
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path).toString("utf8");
  } catch (problem) {
    if (existsSync(path)) throw fileFailure(`the profile file ${path} cannot be read`, problem);
    return undefined;
  }
}

/** A line that is nothing would leave a host or a token out without a word. */
function assertIni(text: string, path: string): void {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const at = lines.findIndex((line) => !/^\s*([#;].*|\[.+\]\s*|[^=[\s][^=]*=.*)?$/.test(line));
  if (at < 0) return;
  throw new Failure(
    error("CLI_FILE", `${path} has a line that is neither [name] nor key = value`, {
      at: { file: path, line: at + 1, column: 1 },
      hint: "write [DEFAULT], then host = … and token = … below it",
    }),
  );
}

function missing(named: string, path: string, sections: Sections): Diagnostic {
  const known = [...sections.keys()];
  const hint = nearestHint(named, known, `profiles there: ${known.join(", ") || "none"}`);
  return error("CLI_FILE", `${path} has no profile "${named}"`, { hint });
}

function profileOf(section: ReadonlyMap<string, string>): Profile {
  const member = (name: keyof Profile) => {
    const value = section.get(name);
    return value === undefined || value === "" ? {} : { [name]: value };
  };
  return {
    ...member("host"),
    ...member("token"),
    ...member("user"),
    ...member("dialect"),
    ...member("cloud"),
  };
}

/** A token that others on this machine can read. */
function exposure(path: string): readonly Diagnostic[] {
  const mode = statSync(path).mode & 0o077;
  if (process.platform === "win32" || mode === 0) return [];
  return [
    warning("CLI_FILE", `${path} holds a token and can be read by others`, {
      hint: `run: chmod 600 ${path}`,
    }),
  ];
}

/** Sections of `key = value` lines; `#` and `;` begin comments; what stands before the first section belongs to DEFAULT. */
export function parseIni(text: string): Sections {
  const sections = new Map<string, Map<string, string>>();
  let current = DEFAULT_PROFILE;
  for (const raw of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const head = /^\[(.+)\]$/.exec(line)?.[1];
    if (head !== undefined) {
      current = head.trim();
      if (!sections.has(current)) sections.set(current, new Map());
      continue;
    }
    const equals = line.indexOf("=");
    if (equals <= 0) continue;
    const section = sections.get(current) ?? new Map<string, string>();
    section.set(line.slice(0, equals).trim().toLowerCase(), line.slice(equals + 1).trim());
    sections.set(current, section);
  }
  return sections;
}
