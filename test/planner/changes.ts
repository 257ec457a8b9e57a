// Short ways to write one change of each action.

import { type Address, kindOf, nameOf, remoteId } from "../../src/core/address.ts";
import type {
  Action,
  Adopt,
  Change,
  Compare,
  Create,
  Delete,
  Forget,
  MoveRecord,
  Noop,
  Replace,
  Report,
  Update,
} from "../../src/planner/model/change.ts";

/** As the change, but with plain strings for addresses and IDs. */
type Given<T> = {
  readonly [K in keyof T]?: K extends "dependsOn" | "removeAfter" ? readonly string[] : T[K];
};

function common(text: string) {
  const address = text as Address;
  const parts = { address, kind: kindOf(address), name: nameOf(address), cause: "spec" as const };
  return { ...parts, reasons: [], consequences: [], dependsOn: [] };
}

const existing = { id: remoteId("1"), before: {}, fingerprint: "f" };
const diff = { path: ["size"], before: 1, after: 2, cause: "spec", replaces: true } as const;
const reaching = { after: {}, unresolved: [] };

const made = <T extends Change>(change: Change, given: Given<T>): T => ({ ...change, ...given }) as T;

export const create = (text: string, given: Given<Create> = {}): Create =>
  made({ ...common(text), ...reaching, action: "create" }, given);
export const update = (text: string, given: Given<Update> = {}): Update =>
  made(
    {
      ...common(text),
      ...existing,
      ...reaching,
      action: "update",
      diffs: [{ ...diff, replaces: false }],
      steps: [{ operation: "update" }],
    },
    given,
  );
export const replace = (text: string, given: Given<Replace> = {}): Replace =>
  made(
    {
      ...common(text),
      ...existing,
      ...reaching,
      action: "replace",
      diffs: [diff],
      because: [diff],
      replacing: "create-first",
      removeAfter: [],
    },
    given,
  );
export const remove = (text: string, given: Given<Delete> = {}): Delete =>
  made({ ...common(text), ...existing, action: "delete" }, given);
export const adopt = (text: string, given: Given<Adopt> = {}): Adopt =>
  made({ ...common(text), ...existing, ...reaching, action: "adopt" }, given);
export const move = (text: string, given: Given<MoveRecord> = {}): MoveRecord =>
  made(
    { ...common(text), ...existing, ...reaching, action: "move", movedFrom: "pools.old" as Address },
    given,
  );
export const forget = (text: string, given: Given<Forget> = {}): Forget =>
  made({ ...common(text), id: existing.id, action: "forget" }, given);
export const compare = (text: string, given: Given<Compare> = {}): Compare =>
  made(
    {
      ...common(text),
      ...existing,
      ...reaching,
      action: "compare",
      steps: [{ operation: "put" }],
      source: "env K",
    },
    given,
  );
export const noop = (text: string, given: Given<Noop> = {}): Noop =>
  made({ ...common(text), id: existing.id, before: {}, ...reaching, action: "noop" }, given);
export const report = (text: string, given: Given<Report> = {}): Report =>
  made({ ...common(text), ...existing, action: "report" }, given);

/** One change of every action, of the same resource. */
export const one = (text: string): Readonly<Record<Action, Change>> => ({
  create: create(text),
  update: update(text),
  replace: replace(text),
  delete: remove(text),
  adopt: adopt(text),
  import: adopt(text, { action: "import" }),
  move: move(text),
  forget: forget(text),
  compare: compare(text),
  noop: noop(text),
  report: report(text),
});
