// The one open issue of a target's drift: opened, updated, and closed.

import { later, markedBody, type RunMark, type Subject, subjectText } from "./body.ts";
import { decidedAgain, type Entry, marked } from "./comment.ts";

/** The open issues of one repository that carry the label of drift. */
export interface Issues {
  /** All open ones that this token's user wrote. */
  list(): Promise<readonly Entry[]>;
  create(title: string, body: string): Promise<Entry>;
  update(id: string, title: string, body: string): Promise<void>;
  /** Adds a comment, which notifies the people who follow the issue. */
  note(id: string, text: string): Promise<void>;
  close(id: string): Promise<void>;
}

export type IssueResult = "opened" | "updated" | "closed" | "outdated" | "nothing to report";

/** The label of the issue, and of nothing else. */
export const DRIFT_LABEL = "workspace-drift";

/** What a run found. */
export interface IssueReport {
  readonly text: string;
  /** The address of the run, or words for it. */
  readonly run: string;
  /** Whether a difference is new that the digest of the mark cannot show. */
  readonly hiddenIsNew: boolean;
}

/** Makes the issue say what the report says; closes it if nothing is open. Duplicates of older runs are closed. */
export async function putIssue(
  issues: Issues,
  subject: Subject,
  mark: RunMark,
  report: IssueReport,
): Promise<IssueResult> {
  return await decidedAgain(() => once(issues, subject, mark, report));
}

async function once(
  issues: Issues,
  subject: Subject,
  mark: RunMark,
  { text, run, hiddenIsNew }: IssueReport,
): Promise<IssueResult> {
  const body = markedBody(subject, mark, text);
  const title = `Drift: ${subjectText(subject)}`;
  const all = marked(await issues.list(), subject);
  const newest = all.at(-1);
  if (newest !== undefined && later(newest.mark, mark)) return "outdated";
  for (const { entry } of all.slice(0, -1)) await issues.close(entry.id);
  if (newest === undefined) {
    if (!mark.open) return "nothing to report";
    await issues.create(title, body);
    return "opened";
  }
  const { id } = newest.entry;
  const isNew = hiddenIsNew && newest.mark.isUnrecorded !== true;
  const noteIsDue = isNew || newest.mark.noteIsDue === true;
  // No later run finds this change again: the state has it as reported.
  if (mark.open && isNew) await issues.update(id, title, markedBody(subject, { ...mark, noteIsDue }, text));
  // The mark of this run comes last: after a run that could not add its note, the next one finds the mark before it, and adds the note.
  if (!mark.open) await issues.note(id, `No drift is left that needs attention, according to ${run}.`);
  else if (newest.mark.digest !== mark.digest || noteIsDue)
    await issues.note(id, `The drift changed, according to ${run}.`);
  await issues.update(id, title, body);
  if (mark.open) return "updated";
  await issues.close(id);
  return "closed";
}
