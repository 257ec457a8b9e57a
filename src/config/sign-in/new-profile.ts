// A profile that `workspace login` makes: its values as a source for the check, and as lines of the profile file.

import { failureOf } from "../../core/diagnostic.ts";
import type { ProfileFile, ProfileSection } from "../profile.ts";
import { ATTRIBUTE_NAMES, type AttributeName, type SourcedValue } from "./attributes.ts";
import type { Sources } from "./sources.ts";

export interface NewProfile {
  readonly name: string;
  /** In the order in which they are written. */
  readonly values: Readonly<Partial<Record<AttributeName | "dialect" | "cloud", string>>>;
}

/** The profile as the only source of a sign-in. */
export function sourcesOfProfile({ name, values }: NewProfile, path: string): Sources {
  const from = `the new profile ${name}`;
  const sourced: Partial<Record<AttributeName, SourcedValue>> = {};
  for (const attribute of ATTRIBUTE_NAMES) {
    const value = values[attribute];
    if (value !== undefined) sourced[attribute] = { value, from };
  }
  const profile: ProfileSection = { name, path, values: new Map(Object.entries(values)) };
  const read = () => ({ named: true, sources: [{ name: from, values: sourced, profile }] });
  return [{ family: "workspace", read }];
}

/** Keys that belong to a sign-in: an older one leaves none of them. */
const REPLACED = new Set<string>([...ATTRIBUTE_NAMES, "user", "dialect", "cloud"]);

/** The text of a profile file with this profile in it; other profiles, other keys, and comments stay. */
export function withProfile(text: string, { name, values }: NewProfile): string {
  assertWritable(name, values);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split(/\r?\n/);
  const own = Object.entries(values).map(([key, value]) => `${key} = ${value}`);
  const begin = lines.findIndex((line) => sectionIn(line) === name);
  if (begin < 0)
    return `${[...lines, ...(lines.length === 0 ? [] : [""]), `[${name}]`, ...own].join("\n")}\n`;
  const after = lines.slice(begin + 1);
  const next = after.findIndex((line) => sectionIn(line) !== undefined);
  const section = next < 0 ? after : after.slice(0, next);
  const kept = section.filter((line) => !REPLACED.has(keyIn(line)));
  const rest = next < 0 ? [] : after.slice(next);
  return `${[...lines.slice(0, begin + 1), ...own, ...kept, ...rest].join("\n")}\n`;
}

/** Whether a file has the profile, so that its values are replaced. */
export const hasProfile = ({ sections }: ProfileFile, name: string): boolean => sections?.has(name) === true;

const sectionIn = (line: string): string | undefined => /^\s*\[(.+)\]\s*$/.exec(line)?.[1]?.trim();
const keyIn = (line: string): string => /^\s*([^#;=][^=]*)=/.exec(line)?.[1]?.trim().toLowerCase() ?? "";

function assertWritable(name: string, values: NewProfile["values"]): void {
  if (!/^[\w.@-]+( [\w.@-]+)*$/.test(name))
    throw failureOf(
      "CLI_USAGE",
      "the name of the profile has characters that a profile file cannot contain",
      {
        hint: "use letters, digits, and . _ - @",
      },
    );
  for (const [key, value] of Object.entries(values))
    if (!/^[\x21-\x7e]+$/.test(value))
      throw failureOf(
        "CLI_USAGE",
        `the value of ${key} is empty, or has spaces or characters outside ASCII`,
        {
          hint: "copy it again without anything around it",
        },
      );
}
