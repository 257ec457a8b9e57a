import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import { error, Failure } from "../../../src/core/diagnostic.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { registry } from "../../../src/providers/index.ts";
import type { Provider } from "../../../src/resource/kind.ts";
import { addressObjects, sourcesOf } from "../../../src/spec/export/addresses.ts";
import { fetchSources, writeExported } from "../../../src/workflow/transfer/export.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "export-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const reader = { read: () => Promise.reject(new Error("nothing is read here")) };
const REFUSED = new Refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED", error("API_REFUSED", "too large"));

/** Files whose contents arrive in these pieces, optionally followed by a failure. */
function filesOf(contents: Readonly<Record<string, readonly (string | Error)[]>>) {
  const files = registry.get("files");
  const provider: Provider = {
    ...files,
    operations: {
      ...files.operations,
      async *readContent(_, live) {
        for (const piece of contents[live.name] ?? []) {
          if (piece instanceof Error) throw piece;
          yield new TextEncoder().encode(piece);
        }
      },
    },
  };
  const objects = Object.keys(contents).map((name) => ({ id: remoteId(name), name, values: {}, facts: {} }));
  return sourcesOf(addressObjects(provider, objects));
}

const fetch = (contents: Parameters<typeof filesOf>[0], force = false) =>
  fetchSources(filesOf(contents), { folder, reader, parallelism: 4, force });

async function refusal(work: () => unknown): Promise<string> {
  try {
    await work();
    return "";
  } catch (failure) {
    if (failure instanceof Failure) return failure.diagnostics.map(({ code }) => code).join();
    throw failure;
  }
}

describe("the contents of an export", () => {
  test("are written piece by piece, each below the folder", async () => {
    const failed = await fetch({ "/a/b": ["one ", "two"], "/c": [] });
    expect(failed.size).toBe(0);
    expect(readFileSync(join(folder, "files/a/b"), "utf8")).toBe("one two");
    expect(readFileSync(join(folder, "files/c"), "utf8")).toBe("");
  });

  test("that break off leave no part of a file, and the others are there", async () => {
    const failed = await fetch({ "/a": ["part", REFUSED], "/b": ["whole"] });
    expect([...failed.keys()]).toEqual(["files./a"]);
    expect(failed.get([...failed.keys()][0] ?? ("" as never))?.message).toMatch(/files\.\/a is not exported/);
    expect(readdirSync(join(folder, "files"))).toEqual(["b"]);
  });

  test("never write over a file that is there, unless that is wanted", async () => {
    await fetch({ "/a": ["old"] });
    expect(await refusal(() => fetch({ "/a": ["new"] }))).toBe("CLI_FILE");
    expect(readFileSync(join(folder, "files/a"), "utf8")).toBe("old");
    await fetch({ "/a": ["new"] }, true);
    expect(readFileSync(join(folder, "files/a"), "utf8")).toBe("new");
  });

  test("are never written through a link, also when files may be replaced", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    symlinkSync(outside, join(folder, "files"));
    writeFileSync(join(outside, "a"), "kept");
    symlinkSync(join(outside, "a"), join(folder, "workspace.yaml"));
    expect(await refusal(() => fetch({ "/a": ["x"], "/b": ["y"] }, true))).toBe("CLI_FILE");
    expect(await refusal(() => writeExported(folder, "workspace.yaml", "{}", true))).toBe("CLI_FILE");
    expect([readdirSync(outside), readFileSync(join(outside, "a"), "utf8")]).toEqual([["a"], "kept"]);
  });

  test("need a folder that can be made", async () => {
    writeFileSync(join(folder, "files"), "a file in the way");
    expect(await refusal(() => fetch({ "/a/b": ["x"] }))).toBe("CLI_FILE");
    expect(await refusal(() => writeExported("/proc/none", "workspace.yaml", "{}", false))).toBe("CLI_FILE");
  });

  test("an unexpected failure is not swallowed", async () => {
    await expect(fetch({ "/a": [new TypeError("a bug")] })).rejects.toThrow("a bug");
    expect(existsSync(join(folder, "files/a"))).toBe(false);
  });
});
