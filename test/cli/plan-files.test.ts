// Saved plans through the real `apply FILE`: whatever was changed in one, it is refused and nothing is written.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { parseJson, stringifyJson } from "../../src/core/exact-json.ts";
import type { Json } from "../../src/core/json.ts";
import { type Path, withValueAt } from "../../src/core/pointer.ts";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";
import { contextWith } from "./context.ts";
import { folderWith } from "./program.ts";

const TOKEN = "plan-token";
const BEFORE = `
pools: { a: { node_type_id: Standard_DS3_v2, max_capacity: 5 }, b: { node_type_id: Standard_DS3_v2 } }
groups: { g: {} }
`;
const AFTER = `
policy: { max_deletes: 100% }
pools:
  a: { node_type_id: Standard_DS3_v2, max_capacity: 7 }
  c: { node_type_id: Standard_DS3_v2, custom_tags: { team: x } }
clusters:
  k: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.c.instance_pool_id}" }
scopes: { s: { secrets: { t: { env: SECRET } } } }
`;

let server: RunningServer;
let other: RunningServer;
let cwd: string;
let plan: string;

beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  other = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  cwd = folderWith(BEFORE);
  expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
  writeFileSync(join(cwd, "workspace.yaml"), AFTER);
  expect(await run(["plan", "--out", "good.plan"])).toMatchObject({ code: 0 });
  plan = readFileSync(join(cwd, "good.plan"), "utf8");
});
afterAll(async () => {
  await server.close();
  await other.close();
});

async function run(words: readonly string[], host = server.url, folder = cwd) {
  const env = { WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN, SECRET: "hunter2" };
  const context = contextWith(env, folder);
  return { code: await runProgram(context, words), err: context.err() };
}

async function writes(of = server): Promise<number> {
  const answer = await fetch(`${of.url}/__emulator/requests`);
  const { requests } = (await answer.json()) as { requests: { write: boolean }[] };
  return requests.filter((one) => one.write).length;
}

function leaves(value: Json, path: Path = []): Path[] {
  if (value === null || typeof value !== "object") return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.length === 0 ? [path] : entries.flatMap(([key, member]) => leaves(member, [...path, key]));
}

function at(value: Json, path: Path): Json {
  return path.reduce<Json>((found, key) => Reflect.get(Object(found), key) as Json, value);
}

function flipped(value: Json): Json {
  if (typeof value === "string") return `${value}x`;
  if (typeof value === "boolean") return !value;
  if (value === null) return 1;
  return typeof value === "object" ? [1] : Number(value) + 1;
}

async function apply(text: string, words: readonly string[] = [], host = server.url, folder = cwd) {
  writeFileSync(join(folder, "tried.plan"), text);
  return run(["apply", "tried.plan", ...words], host, folder);
}

describe("a saved plan", () => {
  test("with any leaf changed or taken out is refused by apply, and nothing is written", async () => {
    const whole = parseJson(plan);
    const paths = leaves(whole);
    const before = await writes();
    const accepted: string[] = [];
    for (const path of paths)
      for (const value of [flipped(at(whole, path)), undefined]) {
        const { code, err } = await apply(stringifyJson(withValueAt(whole, path, value) ?? null));
        if (![1, 4].includes(code) || !/PLAN_|STATE_|SPEC_|CLI_/.test(err) || /CLI_INTERNAL/.test(err))
          accepted.push(`${path.join("/")}: ${code} ${err}`);
      }
    expect(paths.length).toBeGreaterThan(100);
    expect(accepted).toEqual([]);
    expect(await writes()).toBe(before);
  }, 120_000);

  test("that is cut anywhere, empty, or something else is refused", async () => {
    const before = await writes();
    const cuts = Array.from({ length: 40 }, (_, part) =>
      plan.slice(0, Math.floor((plan.length * part) / 40)),
    );
    for (const text of [...cuts, "null", "[]", "{}", "7", '"x"', "[".repeat(100_000), `${plan}${plan}`]) {
      const { code, err } = await apply(text);
      expect([code, err]).toEqual([1, expect.stringContaining("PLAN_FILE")]);
      expect(err).not.toContain("CLI_INTERNAL");
    }
    expect(await writes()).toBe(before);
  }, 60_000);

  test("for another host, or with another state, is refused", async () => {
    const elsewhere = await apply(plan, [], other.url);
    expect(elsewhere.code).not.toBe(0);
    expect(await writes(other)).toBe(0);
    const empty = folderWith(AFTER);
    const before = await writes();
    const foreign = await apply(plan, [], server.url, empty);
    expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining("PLAN_FILE")]);
    const fresh = await apply(plan, ["--state", "fresh"]);
    expect(fresh.code).toBe(1);
    expect(await writes()).toBe(before);
  });

  test("that brings its own spec, state and key along from another folder is refused", async () => {
    const folder = folderWith("");
    mkdirSync(join(folder, "theirs"));
    cpSync(cwd, join(folder, "theirs"), { recursive: true });
    mkdirSync(join(folder, "mine"));
    const theirs = join(folder, "theirs");
    expect(
      await run(
        ["plan", "--file", "../theirs/workspace.yaml", "--out", "evil.plan"],
        server.url,
        join(folder, "mine"),
      ),
    ).toMatchObject({ code: 0 });
    const before = await writes();
    const found = await run(["apply", "evil.plan"], server.url, join(folder, "mine"));
    expect([found.code, found.err]).toEqual([1, expect.stringContaining("PLAN_FILE")]);
    expect(await writes()).toBe(before);
    expect(readFileSync(join(theirs, "workspace.yaml"), "utf8")).toBe(AFTER);
  });

  test("is applied once", async () => {
    expect(await apply(plan)).toMatchObject({ code: 0 });
    const before = await writes();
    expect(await apply(plan)).toMatchObject({ code: 4 });
    expect(await writes()).toBe(before);
  });
});
