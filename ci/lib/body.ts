// The text of a comment or issue: two hidden markers, the report, and what the platform allows in length.

import { isRecord } from "./http.ts";

/** What a comment belongs to: one target of one folder. */
export interface Subject {
  readonly target: string;
  readonly folder: string;
}

export const subjectText = ({ target, folder }: Subject): string =>
  folder === "." ? target : `${target} (${folder})`;

/** The run that wrote a comment. Runs are ordered by number, then attempt. */
export interface RunMark {
  readonly number: number;
  readonly attempt: number;
  readonly commit: string;
  /** Says whether something was left to report. */
  readonly open: boolean;
  /** Digest of the reported differences. */
  readonly digest?: string;
  /** Whether a note is not written yet on a change that the digest cannot show. */
  readonly noteIsDue?: boolean;
  /** Whether the state could not record this drift, so that all of it is new again in the next run. */
  readonly isUnrecorded?: boolean;
}

/** The first line of the report in Markdown. No target can end it. */
export const marker = (target: string): string =>
  `<!-- workspace:${encodeURIComponent(target.toWellFormed())} -->`;

/** Both markers, then `text`. Markers count in this position only, so a report cannot contain one. */
export function markedBody(subject: Subject, mark: RunMark, text: string): string {
  const fields = { folder: subject.folder, ...mark };
  return `${marker(subject.target)}\n<!-- workspace-run ${encodeURIComponent(JSON.stringify(fields))} -->\n${withoutMarkers(text)}`;
}

export const withoutMarkers = (text: string): string =>
  text.replace(/^(?:\s*<!-- workspace[^\n]*-->\s*\n)+/, "");

/** The mark of `body`, if it belongs to `subject`. */
export function readMark(subject: Subject, body: string): RunMark | undefined {
  const [first = "", second = ""] = body.trimStart().split(/\r?\n/, 2);
  if (first.trim() !== marker(subject.target)) return undefined;
  const fields = decoded(/^<!-- workspace-run (\S+) -->$/.exec(second.trim())?.[1] ?? "");
  if (!isRecord(fields) || fields.folder !== subject.folder) return undefined;
  const { number, attempt, commit, open, digest, noteIsDue, isUnrecorded } = fields;
  if (!Number.isSafeInteger(number) || !Number.isSafeInteger(attempt)) return undefined;
  return {
    number: number as number,
    attempt: attempt as number,
    commit: typeof commit === "string" ? commit : "",
    open: open !== false,
    ...(typeof digest === "string" ? { digest } : {}),
    ...(noteIsDue === true ? { noteIsDue } : {}),
    ...(isUnrecorded === true ? { isUnrecorded } : {}),
  };
}

/** Says whether `a` is a later run than `b`. */
export const later = (a: RunMark, b: RunMark): boolean =>
  a.number !== b.number ? a.number > b.number : a.attempt > b.attempt;

/** `text` in at most `most` characters: cut after a line, with open fences and blocks closed, and a note with `link`. */
export function fitted(text: string, most: number, link: string): string {
  if (text.length <= most) return text;
  const note = `\n\nThis report is too long for a comment. The rest is in ${link}.\n`;
  const closing = 200;
  const cut = text.lastIndexOf("\n", most - note.length - closing);
  const kept = text.slice(0, Math.max(0, cut));
  return kept + closers(kept).slice(0, closing) + note;
}

function closers(text: string): string {
  let fence: string | undefined;
  let open = 0;
  for (const line of text.split("\n")) {
    const found = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) {
      if (found !== undefined) fence = found;
      else open += count(line, /<details\b/g) - count(line, /<\/details>/g);
    } else if (found !== undefined && found[0] === fence[0] && found.length >= fence.length)
      fence = undefined;
  }
  return `${fence === undefined ? "" : `\n${fence}`}${"\n\n</details>".repeat(Math.max(0, open))}`;
}

const count = (line: string, pattern: RegExp): number => line.match(pattern)?.length ?? 0;

/** `text` in a fence that it cannot end. GitLab carries out a line that begins with a slash, so none does. */
export function fenced(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}text\n${text.trimEnd().replaceAll(/^\//gm, " /")}\n${fence}`;
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(text));
  } catch {
    return undefined;
  }
}
