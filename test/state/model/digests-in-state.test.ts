// Digests in place of sensitive values at every place of a state that has values of resources.

import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { SensitiveValues } from "../../../src/core/sensitive/values.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import {
  concealedState,
  hasSensitiveDigests,
  knowsAll,
  markRecorded,
  revealedState,
} from "../../../src/state/model/digests-in-state.ts";
import type { OpenIntent, State } from "../../../src/state/model/record.ts";
import { intent, ready } from "../build.ts";

const A = "things.a" as Address;
const VALUES = { key: "secret-value", size: 1 };
const sensitiveValues = () => new SensitiveValues({ key: new Uint8Array(32).fill(7), lineage: "l" });

const open: OpenIntent = { ...intent(A, { wanted: VALUES }), seq: 1, at: 1 };
const STATES: Readonly<Record<string, Partial<State>>> = {
  "the applied values of a record": { records: new Map([[A, ready(A, { applied: VALUES })]]) },
  "the read values of a record": { records: new Map([[A, ready(A, { applied: {}, seen: VALUES })]]) },
  "an open intent": { open: [open] },
  "a sweep": { sweeps: [{ token: "t", address: A, until: 9, intent: open }] },
};

test.each(Object.entries(STATES))(
  "a sensitive value is a digest that a run with it reveals: %s",
  (_, part) => {
    const state = { ...emptyState("l"), ...part };
    const first = sensitiveValues();
    first.declare(A, VALUES, [["key"]]);
    const stored = concealedState(state, first);
    expect([hasSensitiveDigests(state), hasSensitiveDigests(stored)]).toEqual([false, true]);
    const later = sensitiveValues();
    expect([markRecorded(state, later), markRecorded(stored, later)]).toEqual([false, true]);
    expect([later.isRecorded(A, ["key"]), later.isRecorded(A, ["size"])]).toEqual([true, false]);
    expect(knowsAll(stored, later)).toBe(false);
    later.learn(VALUES);
    expect(knowsAll(stored, later)).toBe(true);
    expect(revealedState(stored, later)).toEqual(state);
  },
);
