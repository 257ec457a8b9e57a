import { expect, test } from "vitest";
import type { Reader } from "../../../src/api/contract/reader.ts";
import { addressOf, remoteId } from "../../../src/core/address.ts";
import { error, Failure } from "../../../src/core/diagnostic.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import type { State } from "../../../src/state/model/record.ts";
import { withOrigins } from "../../../src/workflow/drift/drift.ts";
import { sensitiveValuesOf } from "../../../src/workflow/session/open-state.ts";
import { ready } from "../../state/build.ts";

const adhoc = ready("clusters.adhoc", { id: remoteId("c-1") });
const sensitive = sensitiveValuesOf({ key: new Uint8Array(), lineage: "l" });
const state: State = { ...emptyState("l"), records: new Map([[adhoc.address, adhoc]]) };

function drift(kind: string, rest: Partial<Drift> = {}): Drift {
  return { address: addressOf(kind, "adhoc"), kind, name: "adhoc", what: "changed", diffs: [], ...rest };
}

const field = (name: string) => ({
  path: [name],
  before: 1,
  after: 2,
  cause: "drift" as const,
  replaces: false,
});

function recording(answer: () => object) {
  const requests: unknown[] = [];
  const read = (operation: string, query: unknown) => {
    requests.push([operation, query]);
    return Promise.resolve().then(answer);
  };
  return { requests, api: { read } as unknown as Reader };
}

const resized = () => ({ events: [{ timestamp: 99, type: "RESIZING", details: { user: "ada" } }] });

test("nothing is asked if nothing differs", async () => {
  const { requests, api } = recording(resized);
  expect(await withOrigins([], state, api, sensitive)).toEqual([]);
  expect(requests).toEqual([]);
});

test("one request for a cluster that differs gives the user and the time", async () => {
  const { requests, api } = recording(resized);
  const [found] = await withOrigins(
    [drift("clusters", { diffs: [field("num_workers"), field("pinned")] })],
    state,
    api,
    sensitive,
  );
  expect(found?.origin).toEqual({ by: "ada", at: 99 });
  const event_types = ["EDITED", "RESIZING", "PINNED", "UNPINNED"];
  expect(requests).toEqual([
    ["clusters/events", { cluster_id: "c-1", order: "DESC", limit: 1, event_types }],
  ]);
});

test("events that cannot be read leave the origin unknown", async () => {
  const { api } = recording(() => {
    throw new Failure(error("API_FORBIDDEN", "no"));
  });
  const [found] = await withOrigins([drift("clusters", { diffs: [field("pinned")] })], state, api, sensitive);
  expect(found?.origin).toEqual({});
});

test("other kinds contain the origin, without a request", async () => {
  const { requests, api } = recording(resized);
  const found = await withOrigins(
    [
      drift("secrets", { facts: { last_updated_timestamp: "7" } }),
      drift("files", { facts: { modification_time: "8" } }),
      drift("jobs", { facts: { creator_user_name: "ada" } }),
      drift("groups"),
      drift("clusters", { what: "deleted" }),
    ],
    state,
    api,
    sensitive,
  );
  expect(found.map((one) => one.origin)).toEqual([{ at: 7 }, { at: 8 }, { creator: "ada" }, {}, {}]);
  expect(requests).toEqual([]);
});
