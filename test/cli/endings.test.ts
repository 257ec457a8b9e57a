// However a run ends, a machine that asked for a form gets it on stdout, and it fits its schema.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";
import { closedValidator } from "../output-schemas.ts";
import { contextWith } from "./context.ts";

const TOKEN = "endings-token";
const GOOD = "pools: { a: { node_type_id: Standard_DS3_v2 }, b: { node_type_id: Standard_DS3_v2 } }\n";
const BAD = "pools: { a: { node_typ_id: x } }\n";
const KEPT =
  "pools: { a: { node_type_id: Standard_DS4_v2, lifecycle: { prevent_destroy: true, on_immutable_change: replace } } }\n";

const fits = {
  plan: closedValidator("plan"),
  drift: closedValidator("drift"),
  events: closedValidator("apply-events"),
};

let server: RunningServer;
beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterAll(() => server.close());

type Variables = Readonly<Record<string, string>>;

interface Ran {
  readonly code: number;
  readonly out: string;
}

function folderWith(spec: string): string {
  const folder = mkdtempSync(join(tmpdir(), "endings-"));
  writeFileSync(join(folder, "workspace.yaml"), spec);
  return folder;
}

async function ran(folder: string, line: string, token = TOKEN, env: Variables = {}): Promise<Ran> {
  const context = contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: token, ...env }, folder);
  const code = await runProgram(context, line.split(" "));
  return { code, out: context.out() };
}

function document(kind: "plan" | "drift", out: string) {
  const found = JSON.parse(out);
  fits[kind](found);
  expect(fits[kind].errors).toBeNull();
  return found;
}

function events(out: string) {
  const found = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  for (const one of found) {
    fits.events(one);
    expect(fits.events.errors).toBeNull();
  }
  return found;
}

const codes = (found: { diagnostics: readonly { code: string }[] }) =>
  found.diagnostics.map((one) => one.code);

describe.each(["plan", "drift"] as const)("%s -o json", (command) => {
  test("a spec that is wrong, a token that is wrong, and words that do not fit end in a document with diagnostics", async () => {
    const wrong = await ran(folderWith(BAD), `${command} -o json`);
    expect([wrong.code, codes(document(command, wrong.out))]).toEqual([
      1,
      ["SPEC_MISSING_FIELD", "SPEC_UNKNOWN_FIELD"],
    ]);
    const known = folderWith(`groups: { known-to-${command}: {} }\n`);
    expect((await ran(known, "apply --auto-approve")).code).toBe(0);
    const stranger = await ran(known, `${command} --output json`, "no-such-token");
    expect([stranger.code, codes(document(command, stranger.out))]).toEqual([1, ["API_UNAUTHENTICATED"]]);
    const usage = await ran(folderWith(GOOD), `${command} --output=json --nope`);
    expect([usage.code, codes(document(command, usage.out))]).toEqual([1, ["CLI_USAGE"]]);
  });

  test("a run that is well ends in a document that fits the schema", async () => {
    document(command, (await ran(folderWith(GOOD), `${command} -o json`)).out);
  });
});

test("a plan that cannot be saved is one document all the same, with what went wrong in it", async () => {
  const { code, out } = await ran(folderWith(GOOD), "plan -o json --out no/such/folder/plan");
  expect([code, codes(document("plan", out))]).toEqual([1, ["CLI_FILE"]]);
});

test("validate -o json ends in a document for words that do not fit, too", async () => {
  const { code, out } = await ran(folderWith(GOOD), "validate -o json --var");
  expect([code, JSON.parse(out)]).toMatchObject([1, { valid: false, diagnostics: [{ code: "CLI_USAGE" }] }]);
});

describe("apply -o json is one event a line", () => {
  test("if the spec is wrong, if the token is wrong, and if it cannot prompt", async () => {
    const told = async (folder: string, line: string, token?: string) =>
      events((await ran(folder, line, token)).out).map((one) => [one.type, one.diagnostic.code]);
    expect(await told(folderWith(BAD), "apply -o json --auto-approve")).toContainEqual([
      "diagnostic",
      "SPEC_UNKNOWN_FIELD",
    ]);
    expect(await told(folderWith(GOOD), "apply -o json --auto-approve", "nope")).toEqual([
      ["diagnostic", "API_UNAUTHENTICATED"],
    ]);
    expect(await told(folderWith(GOOD), "apply -o json --no-input")).toEqual([
      ["diagnostic", "CLI_CONFIRMATION"],
    ]);
    expect(await told(folderWith(GOOD), "destroy -o json --nope")).toEqual([["diagnostic", "CLI_USAGE"]]);
  });

  test("when all is done, and when a guard refuses what comes next", async () => {
    const folder = folderWith(GOOD);
    const done = await ran(folder, "apply -o json --auto-approve");
    expect(done.code).toBe(0);
    const types = events(done.out).map((one) => one.type);
    expect([types[0], types.at(-1), new Set(types).size]).toEqual(["apply_begin", "change_summary", 4]);
    writeFileSync(join(folder, "workspace.yaml"), KEPT);
    const refused = await ran(folder, "apply -o json --auto-approve");
    expect(refused.code).toBe(3);
    expect(events(refused.out)).toMatchObject([
      { type: "diagnostic", diagnostic: { code: "GUARD_PREVENT_DESTROY", addresses: ["pools.a"] } },
    ]);
  });
});

test("the comparison of a secret is in the document of its plan, and its result is an event of the apply", async () => {
  const folder = folderWith("scopes: { endings: { secrets: { a: { env: A }, b: { env: B } } } }\n");
  const values = { A: "value-of-a", B: "value-of-b" };
  expect((await ran(folder, "apply --auto-approve", TOKEN, values)).code).toBe(0);
  const planned = await ran(folder, "plan -o json --detailed-exitcode --out saved.plan");
  const { summary, resource_changes } = document("plan", planned.out);
  expect([planned.code, summary.compare, summary.update]).toEqual([2, 2, 0]);
  expect(resource_changes.slice(1)).toMatchObject(
    ["secrets.endings/a", "secrets.endings/b"].map((address) => ({
      address,
      action: "compare",
      severity: "security",
      change: { actions: ["update"], after_unknown: { value: true } },
    })),
  );
  const applied = await ran(folder, "apply saved.plan -o json", TOKEN, { ...values, B: "rotated" });
  const found = events(applied.out);
  expect(found.filter(({ type }) => type === "apply_complete")).toMatchObject([
    { address: "secrets.endings/a", action: "noop", result: "applied" },
    { address: "secrets.endings/b", action: "update", result: "applied" },
  ]);
  expect([applied.code, found.at(-1).applied.update]).toEqual([0, 1]);
});

test("`schema` prints each of them", async () => {
  for (const [flag, id] of [
    ["--plan", "plan.schema.json"],
    ["--drift", "drift.schema.json"],
    ["--apply-events", "apply-events.schema.json"],
  ])
    expect(JSON.parse((await ran(tmpdir(), `schema ${flag}`)).out).$id).toBe(id);
});
