// Renames objects to temporary names, so that a change can use their names: in replacements, and where names pass between objects.

import { longestName } from "../../planner/decide/passed-names.ts";
import type { Change, Replace } from "../../planner/model/change.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isSameName } from "../../resource/names.ts";
import type { Provider } from "../../resource/provider.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { type ApplyRun, newToken, openJournal } from "./apply-run.ts";
import { type JournalOpener, runChange } from "./change-result.ts";
import type { ChangeResult } from "./outcome-log.ts";
import { readUnmoved } from "./read-object.ts";

export async function renameTemporarily(run: ApplyRun, change: Change): Promise<ChangeResult> {
  if (!("temporaryName" in change) || change.temporaryName === undefined)
    throw new Error(`${change.address} has no temporary name in the plan, so it has no part for one`);
  const name = change.temporaryName;
  return runChange(run, change, async (open) => {
    const live = await readUnmoved(run, change);
    // An object that was deleted has no name.
    if (live !== undefined) await rename(run, change, live, newToken(run), name, open);
    return change.id;
  });
}

/** Renames the old object of a replacement, so that the new object can have its name. */
export async function renameReplaced(run: ApplyRun, change: Replace): Promise<ChangeResult> {
  return runChange(run, change, async (open) => {
    const live = await readUnmoved(run, change);
    // A replacement that was interrupted after this step has already renamed the object.
    if (live === undefined || !isSameName(run.input.registry.get(change.kind), live.name, change.name))
      return change.id;
    const token = newToken(run);
    await rename(run, change, live, token, asideName(run, change, token), open);
    return change.id;
  });
}

type Renamed = Extract<Change, { readonly action: "update" | "replace" | "delete" }>;

/** Renames under a separate intent; the record then contains the new name. */
async function rename(
  run: ApplyRun,
  change: Renamed,
  live: LiveObject,
  token: string,
  name: string,
  open: JournalOpener,
): Promise<void> {
  const { address, id } = change;
  const provider = run.input.registry.get(change.kind);
  if (provider.operations.rename === undefined)
    throw new Error(`${change.kind} cannot be renamed: only kinds with a verb for it are`);
  const journal = open(
    openJournal(run, change, {
      address,
      name: change.name,
      wanted: provider.nameField === undefined ? {} : { [provider.nameField]: name },
      depends_on: run.input.resources.get(address)?.dependsOn ?? change.dependsOn,
      action: "update",
      id,
      token,
      existed: true,
    }),
  );
  await provider.operations.rename(journal, { id, live, name });
  const record = run.input.lease.record(address);
  if (record?.id === id) await journal.done({ record: recordNamed(provider, record, name) });
  else await journal.close();
}

export function recordNamed<R extends StateRecord>({ nameField }: Provider, record: R, name: string): R {
  return nameField === undefined
    ? record
    : { ...record, name, applied: { ...record.applied, [nameField]: name } };
}

const SHORT_TOKEN = 6;

function asideName(run: ApplyRun, change: Replace, token: string): string {
  const mark = ` (replaced ${token.slice(0, SHORT_TOKEN)})`;
  const longest = longestName(run.input.registry.get(change.kind));
  return `${change.name.slice(0, longest - mark.length)}${mark}`;
}
