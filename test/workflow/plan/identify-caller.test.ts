import { expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import { keyedDigest } from "../../../src/core/digest.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import { knownCallerFacts } from "../../../src/workflow/plan/sources.ts";

function service(answer: JsonObject | Error) {
  const asked: string[] = [];
  return {
    asked,
    reader: {
      read: async (operation: string) => {
        asked.push(operation);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  };
}

type Sources = Parameters<typeof knownCallerFacts>[0];

const KEY = new Uint8Array(32).fill(7);
const CREDENTIAL = keyedDigest(KEY, "embedded");
const STATE = emptyState("l");
const KNOWN = { ...STATE, caller: { name: "ada", credential: CREDENTIAL } };

/** The caller of a run that writes, in the embedded workspace. */
function identify({ reader, state, user }: { reader: unknown; state: Sources["state"]; user?: string }) {
  const settings = { user, endpoint: { embedded: true, identity: "embedded" } };
  return knownCallerFacts({ reader, state, settings, key: KEY, recordsCaller: true } as unknown as Sources);
}

test("a configured user is the caller only if the service reports none", async () => {
  const { reader, asked } = service({ userName: "eve" });
  expect(await identify({ reader, state: STATE, user: "bo" })).toMatchObject({ facts: { caller: "eve" } });
  expect(asked).toEqual(["scim/me"]);
  expect(await identify({ reader, state: KNOWN, user: "bo" })).toMatchObject({ facts: { caller: "ada" } });
  expect(await identify({ ...service({}), state: STATE, user: "bo" })).toEqual({
    facts: { caller: "bo" },
    callerEntries: [],
  });
});

test("a remembered caller counts for the same credential and for no other", async () => {
  const { reader, asked } = service({ userName: "eve" });
  expect(await identify({ reader, state: KNOWN })).toEqual({ facts: { caller: "ada" }, callerEntries: [] });
  expect(asked).toEqual([]);
  const other = { ...STATE, caller: { name: "ada", credential: "other" } };
  expect(await identify({ reader, state: other })).toEqual({
    facts: { caller: "eve" },
    callerEntries: [{ type: "caller", name: "eve", credential: CREDENTIAL }],
  });
});

test("a service that does not tell leaves the caller unknown", async () => {
  const refused = new Refused(404, "ENDPOINT_NOT_FOUND", error("API_REFUSED", "no such call"));
  for (const answer of [refused, {}, { userName: 7 } as JsonObject])
    expect(await identify({ ...service(answer), state: STATE })).toEqual({ facts: {}, callerEntries: [] });
});

test("an unreachable service does not make the caller anonymous", async () => {
  const lost = new UnknownOutcome(error("API_UNREACHABLE", "gone"));
  await expect(identify({ ...service(lost), state: STATE })).rejects.toBe(lost);
});
