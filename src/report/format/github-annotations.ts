// Annotations of GitHub Actions: one workflow command per notice, within GitHub's limits for a step.

import { count } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runSentence } from "../text/run-info.ts";
import { repositoryPath } from "../text/source-link.ts";
import { isOwn, type Notice, noticeText } from "./notice.ts";

/** GitHub keeps this many errors, warnings, and notices of a step, and drops the rest without a word. */
const MOST = 10;

const COMMANDS = { error: "error", warning: "warning", note: "notice" } as const;

/** `notices`: the most severe first. `summary`: sentences about all of them. */
export function githubAnnotations(
  notices: readonly Notice[],
  info: RunInfo,
  summary: readonly string[],
): string {
  const summaryCommands = [
    command("notice", { title: "workspace" }, [...summary, runSentence(info)].join("\n")),
  ];
  const lines = (["error", "warning", "note"] as const).flatMap((name) => {
    const level = COMMANDS[name];
    const first = name === "note" ? summaryCommands : [];
    const own = notices.filter((notice) => notice.level === name && isOwn(notice));
    if (own.length + first.length <= MOST)
      return [...first, ...own.map((notice) => annotation(notice, info))];
    const rest = own.length - (MOST - 1 - first.length);
    const more = `${count(rest, `more ${level}`)}: GitHub shows ${MOST} of a step; the other reports of this run show everything`;
    return [
      ...first,
      ...own.slice(0, MOST - 1 - first.length).map((notice) => annotation(notice, info)),
      command(level, { title: count(rest, `more ${level}`) }, more),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function annotation(notice: Notice, info: RunInfo): string {
  const { level, title, at } = notice;
  const file = at === undefined ? undefined : repositoryPath(at.file, info);
  const place: Record<string, string | number> =
    at && file !== undefined ? { file, line: at.line, col: at.column } : {};
  return command(COMMANDS[level], { ...place, title: title.slice(0, 200) }, noticeText(notice));
}

function command(
  level: string,
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const assignments = Object.entries(properties).map(
    ([name, value]) => `${name}=${propertyText(String(value))}`,
  );
  return `::${level} ${assignments.join(",")}::${dataText(message)}`;
}

/** The runner undoes these escapes only; what it would still read as a command is visible text. */
function dataText(text: string): string {
  return text
    .split("\n")
    .map((line) => printable(line).replaceAll("%", "%25"))
    .join("%0A");
}

/** Without colons, no part of it is read as a command. */
function propertyText(text: string): string {
  return printable(text.replaceAll("%", "%25").replaceAll(":", "%3A").replaceAll(",", "%2C"));
}
