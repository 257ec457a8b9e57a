// The test of the check: a planted secret is found in each of the six encodings and in every output.

import { expect, test } from "vitest";
import { faultFreeRun } from "../run/fault-free-run.ts";
import { Trial } from "../run/trial.ts";
import { CANARIES, FILE_CANARY } from "../world/scenarios.ts";
import { formsOf, leaksIn } from "./canary.ts";
import { violations } from "./invariants.ts";

const SECRET = CANARIES.DB_PASSWORD;

test.each([
  ["raw", SECRET],
  ["base64", Buffer.from(`user:${SECRET}!`).toString("base64")],
  ["base64url", Buffer.from(`ab${SECRET}`).toString("base64url")],
  ["hex", Buffer.from(SECRET).toString("hex")],
  ["URL", encodeURIComponent(SECRET)],
  ["JSON", JSON.stringify({ value: SECRET })],
])("a secret encoded as %s is found anywhere", (encoding, form) => {
  const found = leaksIn(new Map([["a log", `x ${form} y`]]), [FILE_CANARY, SECRET]);
  expect(found).toContainEqual({ secret: 1, encoding, place: "a log" });
});

test("every canary looks different in every encoding", () => {
  for (const secret of [...Object.values(CANARIES), FILE_CANARY]) {
    const firsts = [...formsOf(secret).values()].map(([first]) => first);
    expect(new Set(firsts).size).toBe(6);
  }
});

test("output without a secret is clean", () => {
  expect(leaksIn(new Map([["a log", "c4nary and nothing of a password"]]), [SECRET])).toEqual([]);
});

test.each([
  [
    "the state's folder",
    (trial: Trial) => trial.site.disk.put("/state/notes", Buffer.from(FILE_CANARY).toString("base64")),
  ],
  ["an event", (trial: Trial) => trial.tell("events", { message: `it is ${SECRET}` })],
  ["a request line", (trial: Trial) => trial.ledger.lines.push(`GET /x?v=${encodeURIComponent(SECRET)}`)],
])("a leak that is planted in %s fails a case", async (_place, plant) => {
  const reference = await faultFreeRun("create");
  const trial = await Trial.of(reference.stage);
  try {
    await trial.apply();
    expect(await violations(trial, reference)).toEqual([]);
    plant(trial);
    expect((await violations(trial, reference)).join()).toMatch(/secret \d stands in/);
  } finally {
    trial.close();
  }
});
