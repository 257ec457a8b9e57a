// The one comment of a target in a pull request: found by its marker, created, updated, and collapsed.

import { later, markedBody, type RunMark, readMark, type Subject } from "./body.ts";
import { ApiError } from "./http.ts";

export interface Entry {
  readonly id: string;
  readonly body: string;
}

/** The comments of one pull request. */
export interface Comments {
  /** All comments that this token's user wrote. */
  list(): Promise<readonly Entry[]>;
  /** One comment in its current state; undefined if it was deleted. */
  read(id: string): Promise<Entry | undefined>;
  create(body: string): Promise<Entry>;
  update(id: string, body: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Collapses the comment, or shows it again. */
  collapse(id: string, collapsed: boolean): Promise<void>;
}

export type CommentResult = "created" | "updated" | "outdated" | "nothing to report";

interface Marked {
  readonly entry: Entry;
  readonly mark: RunMark;
}

const ATTEMPTS = 4;

/** Writes the comment. A comment of a later run is not changed. Nothing is created without findings. */
export async function putComment(
  comments: Comments,
  subject: Subject,
  mark: RunMark,
  text: string,
): Promise<CommentResult> {
  const body = markedBody(subject, mark, text);
  return await decidedAgain(() => once(comments, subject, mark, body));
}

/** Reads and decides again if an entry was deleted meanwhile, or if a create has no clear answer. */
export async function decidedAgain<Result>(decide: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await decide();
    } catch (failure) {
      const again = failure instanceof ApiError && [0, 404, 500, 502, 503, 504].includes(failure.status);
      if (!again || attempt === ATTEMPTS) throw failure;
    }
  }
}

async function once(
  comments: Comments,
  subject: Subject,
  mark: RunMark,
  body: string,
): Promise<CommentResult> {
  const newest = marked(await comments.list(), subject).at(-1);
  if (newest === undefined) {
    if (!mark.open) return "nothing to report";
    const { id } = await comments.create(body);
    return await keepOne(comments, subject, id);
  }
  const { id } = newest.entry;
  const now = await comments.read(id);
  if (now === undefined) throw new ApiError(404, "the comment was deleted");
  const written = readMark(subject, now.body);
  if (written !== undefined && later(written, mark)) return "outdated";
  await comments.update(id, body);
  if (!mark.open || written?.open !== true) await comments.collapse(id, !mark.open);
  await keepOne(comments, subject, id);
  return "updated";
}

/** Two runs can create at once: only the comment of the latest run stays. */
async function keepOne(comments: Comments, subject: Subject, ours: string): Promise<CommentResult> {
  const all = marked(await comments.list(), subject);
  const kept = all.at(-1);
  for (const { entry } of all.slice(0, -1)) await comments.remove(entry.id);
  return kept === undefined || kept.entry.id === ours ? "created" : "outdated";
}

/** The entries of `subject`, oldest run first. Of one run, the entry that was listed first comes last. */
export function marked(entries: readonly Entry[], subject: Subject): readonly Marked[] {
  return entries
    .flatMap((entry) => {
      const mark = readMark(subject, entry.body);
      return mark === undefined ? [] : [{ entry, mark }];
    })
    .reverse()
    .sort((a, b) => (later(a.mark, b.mark) ? 1 : later(b.mark, a.mark) ? -1 : 0));
}
