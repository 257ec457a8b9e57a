// The run of a report: tool version, host, target, commit, time. Every format shows it.

import type { PlanPart } from "../../planner/model/plan.ts";
import { markdownCode, markdownText, printable } from "./printable.ts";
import { commitPage, type RunSource } from "./source-link.ts";
import type { Colors } from "./terminal.ts";

/** Made by the command, not by the planner: a plan of the same input stays the same. */
export interface RunInfo extends RunSource {
  readonly toolVersion: string;
  /** Empty where the run ended before it was known. */
  readonly host: string;
  readonly target?: string;
  /** ISO 8601. */
  readonly madeAt: string;
  readonly runUrl?: string;
  /** The person that the CI service names, else the user of this machine. */
  readonly actor?: string;
  /** The user of the service, where the run knew it. */
  readonly caller?: string;
  /** The spec's file, relative to the working directory or absolute. */
  readonly spec?: string;
  /** The options that make the plan partial. */
  readonly partial?: string;
  /** The run applied a saved plan, which cannot be applied again. */
  readonly savedPlan?: boolean;
  /** How the run was restricted: `offline`, `untrusted`. */
  readonly modes: readonly string[];
}

/** `target dev`, `commit 1a2b3c4d5e6f`, `workspace 0.1.0`, the time: what a line below a heading joins. The host, modes and URL are not in it. */
export function runParts({ toolVersion, target, commit, madeAt, partial }: RunInfo): readonly string[] {
  return [
    ...(partial === undefined ? [] : [`partial (${partial})`]),
    ...(target === undefined ? [] : [`target ${target}`]),
    ...(commit === undefined ? [] : [commitPart(commit)]),
    `workspace ${toolVersion}`,
    madeAt,
  ];
}

/** `by ada as etl@example.com`: the actor, and the caller if it is another; for pages and comments, which others read. */
export function runAuthor({ actor, caller }: Pick<RunInfo, "actor" | "caller">): readonly string[] {
  const by = actor ?? caller;
  if (by === undefined) return [];
  return [caller === undefined || caller === by ? `by ${by}` : `by ${by} as ${caller}`];
}

/** What `runParts` says about the commit. */
export const commitPart = (commit: string): string => `commit ${commit.slice(0, 12)}`;

export function runLines(info: RunInfo | undefined, colors: Colors): readonly string[] {
  return info === undefined ? [] : [colors.dim(runSentence(info))];
}

/** The same in one line of plain text, for documents that have no other place for it. */
export function runSentence(info: RunInfo): string {
  const host = hasHost(info) ? [info.host] : [];
  const url = info.runUrl === undefined ? [] : [info.runUrl];
  return printable([...host, ...info.modes, ...runParts(info), ...url].join(" · "));
}

/** An offline plan has no host: its mode says so. */
export function hasHost({ host, modes }: Pick<RunInfo, "host" | "modes">): boolean {
  return host !== "" && !modes.includes(host);
}

/** The start of a Markdown report: its marker, its title, and its run. */
export function markdownHead(title: string, info: RunInfo | undefined): string {
  const about = info === undefined ? "" : `\n${runMarkdown(info)}`;
  return `${markdownMarker(info?.target)}\n\n## ${markdownText(title)}\n${about}`;
}

/** The first line of a Markdown report, by which its comment is found again. No target can end the comment. */
export function markdownMarker(target = "default"): string {
  return `<!-- workspace:${encodeURIComponent(target.toWellFormed())} -->`;
}

/** The line below a heading in Markdown; the commit is short, and whole on the page of the run. */
export function runMarkdown(info: RunInfo): string {
  const { madeAt, commit, runUrl } = info;
  const parts = [...info.modes, ...runAuthor(info), ...runParts(info)].map((part) => {
    if (commit !== undefined && part === commitPart(commit))
      return markdownLink(markdownText(part), commitPage(info));
    return part === madeAt ? part : markdownText(part);
  });
  const page =
    runUrl === undefined || linkTarget(runUrl) === undefined ? "" : ` · ${markdownLink("run", runUrl)}`;
  const host = hasHost(info) ? `Workspace ${markdownCode(info.host)} · ` : "";
  return `${host}${parts.join(" · ")}${page}\n`;
}

/** `markdown` with a link, or alone without an address that a browser can open. */
export function markdownLink(markdown: string, url: string | undefined): string {
  const target = url === undefined ? undefined : linkTarget(url);
  return target === undefined ? markdown : `[${markdown}](${target})`;
}

/** The address of a page as the target of a link in Markdown: nothing in it ends the link or is a command. */
function linkTarget(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined;
  const encoded = encodeURI(parsed.href.toWellFormed()).replaceAll("%25", "%");
  return encoded
    .replace(/[^\w:/?#@!$&+,;=.%~-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)
    .replaceAll("::", ":%3A")
    .replaceAll("##", "#%23");
}

export function runJson(info: RunInfo): Record<string, unknown> {
  const { target, commit, madeAt, runUrl, actor, caller, modes, partial } = info;
  const restricted = {
    ...(modes.length === 0 ? {} : { modes }),
    partial: partial === undefined ? undefined : true,
  };
  return { target, commit, made_at: madeAt, run_url: runUrl, actor, caller, ...restricted };
}

/** The options that make a plan partial. */
export function partOptions({ options = ["--only"] }: PlanPart): string {
  return options.join(", ");
}
