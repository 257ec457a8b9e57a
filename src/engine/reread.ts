// A look at one object, by its id or its name, and the one right before it is written: what moved since the plan is left alone.

import { parentOf, type RemoteId } from "../core/address.ts";
import { error, Failure } from "../core/diagnostic.ts";
import type { Change } from "../planner/change.ts";
import { comparable, liveFingerprint } from "../planner/fingerprint.ts";
import type { Values } from "../resource/fields.ts";
import { foldName } from "../resource/names.ts";
import type { LiveObject } from "../resource/provider.ts";
import { toNames } from "./names.ts";
import type { Run } from "./run.ts";

type Existing = Extract<Change, { readonly fingerprint: string }>;

/** The object as it is now, ids in place of names; undefined when it is gone. */
export async function look(
  run: Run,
  kind: string,
  id: RemoteId,
  desired: Values | undefined,
): Promise<LiveObject | undefined> {
  const provider = run.input.registry.get(kind);
  const live = await provider.read(run.writer, id);
  if (live === undefined || provider.hydrate === undefined) return live;
  return provider.hydrate(run.writer, live, desired);
}

/** The object that has the natural name of a change now, as its list tells it. */
export async function listedAs(run: Run, { kind, name }: Change): Promise<LiveObject | undefined> {
  const provider = run.input.registry.get(kind);
  const parents = provider.nested === undefined ? [] : [parentOf(name)];
  const all = await provider.list(run.writer, { parents, names: new Set([name]) });
  return all.find((one) => foldName(provider, one.name) === foldName(provider, name));
}

/** The object that a change rests on. Throws Failure with PLAN_LIVE_MOVED when it is another one than the plan saw. */
export async function reread(run: Run, change: Existing): Promise<LiveObject | undefined> {
  const after = "after" in change ? change.after : undefined;
  const live = await look(run, change.kind, change.id, after);
  if (live === undefined) {
    if (change.action === "delete") return undefined;
    throw moved(change, "is gone");
  }
  const provider = run.input.registry.get(change.kind);
  const named = { ...live, values: toNames(provider.fields, live.values, run.book) };
  if (liveFingerprint(provider.fields, comparable(provider, named), after) !== change.fingerprint)
    throw moved(change, "changed");
  return live;
}

function moved(change: Change, how: string): Failure {
  return new Failure(
    error("PLAN_LIVE_MOVED", `${change.address} ${how} in the workspace after the plan was made`, {
      address: change.address,
      hint: "nothing was written to it; plan again to see what is there now",
    }),
  );
}
