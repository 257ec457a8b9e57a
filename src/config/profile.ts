// Profiles: `~/.workspacecfg`, an INI file whose sections name a host and a token.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Diagnostic, error, failureOf, warning } from "../core/diagnostic.ts";
import { readRegularFile } from "../core/regular-file.ts";
import { listed, shellWord } from "../core/sentences.ts";
import { nearestHint } from "../core/suggest.ts";
import { fromEnv, type ProcessContext } from "./environment.ts";
import { fileFailure } from "./files.ts";

export interface Profile {
  readonly user?: string;
  readonly dialect?: string;
  readonly cloud?: string;
}

export interface ProfileSection {
  readonly name: string;
  readonly path: string;
  /** Keys in lower case; values that are not empty. */
  readonly values: ReadonlyMap<string, string>;
}

type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface ProfileFile {
  readonly path: string;
  /** Absent where the file does not exist. */
  readonly sections?: Sections;
}

export const DEFAULT_PROFILE = "DEFAULT";

/** The profiles of this program. Throws Failure with CLI_FILE if the file cannot be read. */
export function ownProfiles(context: ProcessContext): ProfileFile {
  return readProfiles(profilePath(context, "WORKSPACE_CONFIG_FILE", ".workspacecfg"));
}

function profilePath(context: ProcessContext, variable: string, usual: string): string {
  const path = fromEnv(context, variable);
  return path === undefined ? join(context.home, usual) : path.replace(/^~(?=\/)/, context.home);
}

/** The profiles of the vendor's tools: a comment may follow a value there. Throws Failure likewise. */
export function vendorProfiles(context: ProcessContext): ProfileFile {
  const path = profilePath(context, "DATABRICKS_CONFIG_FILE", ".databrickscfg");
  const { sections } = readProfiles(path);
  if (sections === undefined) return { path };
  const cleaned = [...sections].map(
    ([name, values]) => [name, new Map([...values].map(([key, value]) => [key, plainValue(value)]))] as const,
  );
  return { path, sections: new Map(cleaned) };
}

/** Without quotes or a comment, which begins after a space. */
function plainValue(value: string): string {
  const quoted = /^(["'`])(.*?)\1(\s*[#;].*)?$/.exec(value)?.[2];
  return (quoted ?? value.replace(/\s[#;].*$/, "")).trim();
}

export function profileIn({ path, sections }: ProfileFile, name: string): ProfileSection | undefined {
  const section = sections?.get(name);
  if (section === undefined) return undefined;
  return { name, path, values: new Map([...section].filter(([, value]) => value !== "")) };
}

function readProfiles(path: string): ProfileFile {
  const text = readText(path);
  if (text === undefined) return { path };
  assertIni(text, path);
  return { path, sections: parseIni(text) };
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path).toString("utf8");
  } catch (problem) {
    if (existsSync(path)) throw fileFailure(`the profile file ${path} cannot be read`, problem);
    return undefined;
  }
}

/** An ignored line could silently drop a host or a token. */
function assertIni(text: string, path: string): void {
  const at = text.split("\n").findIndex((line) => profileLine(line) === undefined);
  if (at < 0) return;
  throw failureOf("CLI_FILE", `${path} has a line that is neither [name] nor key = value`, {
    at: { file: path, line: at + 1, column: 1 },
    hint: "write [DEFAULT], then host = … and token = … below it",
  });
}

export function noProfile(named: string, files: readonly ProfileFile[]): Diagnostic {
  const present = files.filter(({ sections }) => sections !== undefined);
  const names = [...new Set(present.flatMap(({ sections }) => [...(sections?.keys() ?? [])]))];
  const paths = listed(
    present.map(({ path }) => path),
    "or",
  );
  if (paths === "")
    return error("CLI_FILE", `profile "${named}" does not exist: no file at ${files[0]?.path}`, {
      hint: "write [name] with host and token into it, or run `workspace login --profile NAME`",
    });
  const hint = nearestHint(named, names, `profiles that exist: ${names.join(", ") || "none"}`);
  return error("CLI_FILE", `profile "${named}" does not exist in ${paths}`, { hint });
}

/** Warns about a profile file with a token that other users can read. */
export function profileExposure(path: string): readonly Diagnostic[] {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077;
  if (process.platform === "win32" || mode === 0) return [];
  return [
    warning("CLI_FILE", `${path} contains a token and is readable by other users`, {
      hint: `run \`chmod 600 ${shellWord(path)}\``,
    }),
  ];
}

interface ProfileLine {
  /** The section that begins here. */
  readonly section?: string;
  /** In lower case. */
  readonly key?: string;
  readonly value?: string;
}

/** Nothing in it for an empty line or a comment; undefined for what none of the vendor's tools reads either. */
export function profileLine(raw: string): ProfileLine | undefined {
  const line = raw.trim();
  if (line === "" || /^[#;]/.test(line)) return {};
  const section = /^\[([^\]]+)\]\s*([#;].*)?$/.exec(line)?.[1];
  if (section !== undefined) return { section: section.trim() };
  const [, key, value] = /^([^=:[][^=:]*)[=:](.*)$/.exec(line) ?? [];
  return key === undefined ? undefined : { key: key.trim().toLowerCase(), value: (value ?? "").trim() };
}

/** Sections of `key = value` or `key: value`; lines before the first section belong to DEFAULT. */
export function parseIni(text: string): Sections {
  const sections = new Map<string, Map<string, string>>();
  let current = DEFAULT_PROFILE;
  for (const line of text.split("\n")) {
    const { section, key, value = "" } = profileLine(line) ?? {};
    current = section ?? current;
    if (section === undefined && key === undefined) continue;
    const values = sections.get(current) ?? new Map<string, string>();
    if (key !== undefined) values.set(key, value);
    sections.set(current, values);
  }
  return sections;
}
