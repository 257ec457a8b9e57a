// Proposes accepted drift: commits the edited files to a branch of the pipeline, and keeps one pull request for it.

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { toDottedPath } from "../../src/core/pointer.ts";
import { printable } from "../../src/report/text/printable.ts";
import { fenced, type Subject, subjectText } from "./body.ts";
import { type Checkout, runGit, withToken } from "./git.ts";
import { isRecord } from "./http.ts";
import { BadInput, type Env, type Platform } from "./settings.ts";

/** The open pull requests of one repository. */
export interface PullRequests {
  /** The one of `branch`, which only the pipeline writes. */
  find(branch: string): Promise<string | undefined>;
  create(request: ProposedChange): Promise<void>;
  update(id: string, request: ProposedChange): Promise<void>;
  close(id: string): Promise<void>;
}

export interface ProposedChange {
  readonly branch: string;
  /** The branch that the pull request is merged into. */
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

/** What `workspace drift accept` did, for people and for git. */
export interface AcceptedDrift {
  readonly report: string;
  /** Relative to the checkout. */
  readonly files: readonly string[];
}

export type ProposalResult = "opened" | "updated" | "closed" | "nothing to propose";

/** Undefined if `json` is not the answer of `workspace drift accept`. */
export function acceptedDrift(json: string): AcceptedDrift | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(answer) || !Array.isArray(answer.accepted)) return undefined;
  const files = recordsIn(answer.files).flatMap(({ path }) => (typeof path === "string" ? [path] : []));
  const { edited = [], known = [] } = Object.groupBy(recordsIn(answer.accepted), (resource) =>
    files.length === 0 || isInSpec(resource) ? "known" : "edited",
  );
  const accepted = edited.flatMap(acceptedLines);
  const refused = recordsIn(answer.refused).map(
    ({ message, hint }) => `${message}; ${hint ?? "change it by hand"}`,
  );
  const notes = recordsIn(answer.notes).map(({ message, hint }) =>
    [message, hint].filter(Boolean).join("; "),
  );
  const unchanged = Array.isArray(answer.without_drift) ? answer.without_drift.map(String) : [];
  const nothing =
    refused.length === 0 ? "No drift is left to accept." : "None of the drift that is left can be accepted.";
  const sections = [
    ...(accepted.length === 0
      ? [nothing]
      : [
          "The spec declares these live values. Merge to keep them. To restore the declared values instead, close this and apply.",
          // Before what can be long: a cut text keeps its beginning.
          ...(notes.length === 0 ? [] : ["Before you merge:", block(notes)]),
          block(accepted),
        ]),
    ...(known.length === 0
      ? []
      : [
          "The spec has this drift already, and the next apply records it:",
          block(known.map(({ address }) => String(address))),
        ]),
    ...(unchanged.length === 0 ? [] : ["No drift at:", block(unchanged)]),
    ...(refused.length === 0 ? [] : ["Not accepted:", block(refused)]),
  ];
  return {
    report: `${sections.join("\n\n")}\n`,
    files,
  };
}

/** Keys and live values can have characters that mislead a reader. */
const block = (lines: readonly string[]): string => fenced(lines.map(printable).join("\n"));

const recordsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** The live values needed no edit. */
function isInSpec({ what, fields, content }: Readonly<Record<string, unknown>>): boolean {
  return what === "changed" && recordsIn(fields).length === 0 && content === undefined;
}

function acceptedLines({
  address,
  what,
  fields,
  content,
}: Readonly<Record<string, unknown>>): readonly string[] {
  const lines = recordsIn(fields).map(({ path, before, after, at }) => {
    const place = isRecord(at) ? ` (${at.file}:${at.line})` : "";
    return `${address} ${toDottedPath(Array.isArray(path) ? path : [])}: ${JSON.stringify(before ?? null)} → ${JSON.stringify(after ?? null)}${place}`;
  });
  if (content !== undefined) lines.push(`${address}: content → ${content}`);
  return lines.length > 0 ? lines : [`${address}: ${what}`];
}

/** A name of a branch for one target of one folder; the same for the same subject, and another for any other. */
export function branchOf({ target, folder }: Subject): string {
  const parts = folder === "." ? [target] : [folder, target];
  return `workspace-drift-${parts.map(branchPart).join("+")}`;
}

const branchPart = (text: string): string =>
  text.replace(/[^\w-]/gu, (character) => Buffer.from(character).toString("hex").replace(/../g, ".$&"));

export interface Proposing {
  /** The checkout. */
  readonly cwd: string;
  readonly env: Env;
  readonly platform: Platform;
  readonly subject: Subject;
  readonly base: string | undefined;
  readonly token: string;
  readonly accepted: AcceptedDrift;
  readonly body: string;
}

/**
 * Pushes the files as one commit on top of the checkout. Without an edit, the pull request of an earlier run is closed, and its text
 * says why.
 */
export async function propose(
  pulls: PullRequests,
  { cwd, env, platform, subject, base, token, accepted, body }: Proposing,
): Promise<ProposalResult> {
  if (base === undefined)
    throw new BadInput("accept needs a run of a branch, which its pull request is merged into");
  const branch = branchOf(subject);
  const open = await pulls.find(branch);
  const request = { branch, base, title: `Accept drift: ${subjectText(subject)}`, body };
  if (!commit({ cwd, env }, accepted.files, `Accept drift of ${JSON.stringify(subject.target)}`)) {
    if (open === undefined) return "nothing to propose";
    await pulls.update(open, request);
    await pulls.close(open);
    return "closed";
  }
  push({ cwd, env }, platform, branch, token);
  if (open === undefined) await pulls.create(request);
  else await pulls.update(open, request);
  return open === undefined ? "opened" : "updated";
}

/** Whether something was to be committed. */
function commit(checkout: Checkout, files: readonly string[], message: string): boolean {
  if (files.length === 0) return false;
  // Git follows no link: what it leads to was edited.
  runGit(checkout, ["add", "--", ...files.map((file) => realpathSync(resolve(checkout.cwd, file)))]);
  if (runGit(checkout, ["diff", "--cached", "--name-only"]) === "") return false;
  const identity = ["-c", "user.name=workspace", "-c", "user.email=workspace@localhost"];
  runGit(checkout, [...identity, "-c", "commit.gpgSign=false", "commit", "--quiet", "--message", message]);
  return true;
}

function push(checkout: Checkout, platform: Platform, branch: string, token: string): void {
  const origin = runGit(checkout, ["remote", "get-url", "origin"]);
  const url = origin.replace(/^(https?:\/\/)[^/@]*@/, "$1");
  const target = ["--force", url, `HEAD:refs/heads/${branch}`];
  runGit(withToken(checkout, platform, url, token), ["push", "--quiet", ...target]);
}
