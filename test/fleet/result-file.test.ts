// The results of a fleet on one machine: order, lines that a crash cut off, compaction, and links.

import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { error } from "../../src/core/diagnostic.ts";
import { openResultFile } from "../../src/fleet/result-file.ts";
import { resultOf } from "./queue/workspaces.ts";

function newFile() {
  const path = join(mkdtempSync(join(tmpdir(), "results-")), "fleet/results.jsonl");
  return { path, store: openResultFile({ path, replace: (to, text) => writeFileSync(to, text) }) };
}

describe("the file of results", () => {
  test("shows a result that only a newer version can read as failed, and names that version", async () => {
    const { path, store } = newFile();
    await store.add(resultOf("ads", "ok", { startedAt: 1_000 }));
    const newer = { ...resultOf("ads", "ok", { startedAt: 2_000, version: "0.2.0" }), status: "deferred" };
    appendFileSync(path, `${JSON.stringify(newer)}\n`);
    const [last] = (await store.recent(1, ["ads"])).get("ads") ?? [];
    expect(last).toMatchObject({
      status: "failed",
      version: "0.2.0",
      diagnostics: [
        {
          code: "FLEET_UNKNOWN",
          message:
            'workspace 0.2.0 wrote a result with the status "deferred", which this program does not know',
          hint: "update this machine to workspace 0.2.0",
        },
      ],
    });
  });

  test("returns the results of each workspace, newest first, and none before the first run", async () => {
    const { store } = newFile();
    expect(await store.recent(5, ["ads"])).toEqual(new Map());
    for (const status of ["failed", "ok"] as const) await store.add(resultOf("ads", status));
    await store.add(resultOf("web"));
    const found = await store.recent(5, ["ads", "web"]);
    expect(found.get("ads")?.map(({ status }) => status)).toEqual(["ok", "failed"]);
    expect((await store.recent(1, ["ads"])).get("ads")).toHaveLength(1);
  });

  test("loses no result after a line that a crash cut off", async () => {
    const { path, store } = newFile();
    await store.add(resultOf("ads"));
    appendFileSync(path, '{"workspace":"ads","comm');
    await store.add(resultOf("ads", "failed"));
    expect((await store.recent(5, ["ads"])).get("ads")).toHaveLength(2);
  });

  test("keeps the last 100 results of a workspace, and the findings of the last one, when a run that added one ends", async () => {
    const { path, store } = newFile();
    const diagnostics = [error("API_REFUSED", "no")];
    for (let at = 0; at < 210; at++)
      await store.add(resultOf("ads", "failed", { durationMs: at, diagnostics }));
    const size = readFileSync(path).length;
    const reader = openResultFile({ path, replace: () => expect.unreachable() });
    await reader.recent(1, ["ads"]);
    await reader.close();
    expect(readFileSync(path)).toHaveLength(size);
    await store.close();
    const lines = readFileSync(path, "utf8").trim().split("\n");
    expect(lines).toHaveLength(100);
    expect(lines.filter((line) => line.includes("API_REFUSED"))).toHaveLength(1);
    expect((await store.recent(1, ["ads"])).get("ads")).toMatchObject([{ durationMs: 209, diagnostics }]);
  });

  test("keeps the last plan, and the findings of the last failure, however many other runs follow", async () => {
    const { path, store } = newFile();
    const diagnostics = [error("API_REFUSED", "no")];
    await store.add(resultOf("ads", "changes", { command: "plan", counts: { create: 2 } }));
    await store.add(resultOf("ads", "failed", { diagnostics }));
    for (let at = 0; at < 210; at++) await store.add(resultOf("ads", "ok", { command: "validate" }));
    await store.close();
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(102);
    expect((await store.recent(1, ["ads"])).get("ads")).toMatchObject([
      { command: "validate" },
      { command: "drift", diagnostics },
      { command: "plan", counts: { create: 2 } },
    ]);
  });

  test("keeps a result that another run adds while it is compacted", async () => {
    const { path } = newFile();
    const write = (name: string): Promise<void> =>
      openResultFile({ path, replace: () => expect.unreachable() }).add(resultOf(name));
    const store = openResultFile({
      path,
      replace(to, text) {
        void write("before");
        writeFileSync(`${to}.new`, text);
        renameSync(`${to}.new`, to);
      },
    });
    for (let at = 0; at < 210; at++) await store.add(resultOf("ads"));
    await store.close();
    const found = await store.recent(500, []);
    expect([...found].map(([name, results]) => [name, results.length])).toEqual([
      ["before", 1],
      ["ads", 100],
    ]);
  });

  test("keeps a result that another run adds after a third run began to compact it", async () => {
    const { path } = newFile();
    const rename = (to: string, text: string): void => {
      writeFileSync(`${to}.new`, text);
      renameSync(`${to}.new`, to);
    };
    const second = openResultFile({ path, replace: rename });
    const first = openResultFile({
      path,
      replace(to, text) {
        void second.close();
        void openResultFile({ path, replace: rename }).add(resultOf("between"));
        rename(to, text);
      },
    });
    await second.add(resultOf("web"));
    for (let at = 0; at < 210; at++) await first.add(resultOf("ads"));
    await first.close();
    const found = await first.recent(500, []);
    expect([...found].map(([name, results]) => [name, results.length])).toEqual([
      ["between", 1],
      ["ads", 100],
      ["web", 1],
    ]);
    expect(readdirSync(dirname(path))).toEqual(["results.jsonl"]);
  });

  test("is compacted by a later run when a crash left the claim of an earlier one", async () => {
    const { path, store } = newFile();
    for (let at = 0; at < 210; at++) await store.add(resultOf("ads"));
    const claim = `${path}.${statSync(path).ino}`;
    writeFileSync(claim, "");
    await store.close();
    expect(existsSync(claim)).toBe(true);
    utimesSync(claim, 0, 0);
    await store.close();
    expect(existsSync(claim)).toBe(false);
    expect((await store.recent(500, [])).get("ads")).toHaveLength(210);
    await store.close();
    expect((await store.recent(500, [])).get("ads")).toHaveLength(100);
  });

  test("is compacted without the claims that crashes left for files that it replaced", async () => {
    const { path, store } = newFile();
    for (let at = 0; at < 210; at++) await store.add(resultOf("ads"));
    const left = ["1", "2", "2.txt"].map((end) => `${path}.${end}`);
    for (const file of left) writeFileSync(file, "");
    for (const file of [`${path}.1`, `${path}.2.txt`]) utimesSync(file, 0, 0);
    await store.close();
    expect(left.map((file) => existsSync(file))).toEqual([false, true, true]);
  });

  test("is never written through a symbolic link", async () => {
    const { path, store } = newFile();
    mkdirSync(join(path, ".."), { recursive: true });
    const victim = join(path, "../../victim");
    writeFileSync(victim, "safe\n");
    symlinkSync(victim, path);
    await expect(store.add(resultOf("ads"))).rejects.toThrow("the results of the fleet cannot be written");
    expect(readFileSync(victim, "utf8")).toBe("safe\n");
  });

  test("is in private folders when no folder existed, because states are created next to it", async () => {
    const { path, store } = newFile();
    const before = process.umask(0);
    try {
      await store.add(resultOf("ads"));
    } finally {
      process.umask(before);
    }
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  test("is rejected when it is a pipe, which would keep a reader waiting", async () => {
    const { path, store } = newFile();
    mkdirSync(dirname(path));
    spawnSync("mkfifo", [path]);
    await expect(store.recent(1, ["ads"])).rejects.toThrow(`cannot be read (${path})`);
  });
});
