import { expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import { identify } from "../../../src/workflow/plan/gather-facts.ts";

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

const STATE = emptyState("l");
const KNOWN = { ...STATE, caller: { name: "ada", credential: "digest" } };

test("a configured user is used without a request", async () => {
  const { reader, asked } = service({ userName: "eve" });
  expect(await identify({ reader, state: KNOWN, credential: "digest", userName: "bo" })).toEqual({
    name: "bo",
  });
  expect(asked).toEqual([]);
});

test("a remembered caller counts for the same credential and for no other", async () => {
  const { reader, asked } = service({ userName: "eve" });
  expect(await identify({ reader, state: KNOWN, credential: "digest" })).toEqual({ name: "ada" });
  expect(asked).toEqual([]);
  expect(await identify({ reader, state: KNOWN, credential: "other" })).toEqual({
    name: "eve",
    entry: { type: "caller", name: "eve", credential: "other" },
  });
});

test("a service that does not tell leaves the caller unknown", async () => {
  const refused = new Refused(404, "ENDPOINT_NOT_FOUND", error("API_REFUSED", "no such call"));
  for (const answer of [refused, {}, { userName: 7 } as JsonObject])
    expect(await identify({ ...service(answer), state: STATE, credential: "d" })).toEqual({
      name: undefined,
    });
});

test("an unreachable service does not make the caller anonymous", async () => {
  const lost = new UnknownOutcome(error("API_UNREACHABLE", "gone"));
  await expect(identify({ ...service(lost), state: STATE, credential: "d" })).rejects.toBe(lost);
});
