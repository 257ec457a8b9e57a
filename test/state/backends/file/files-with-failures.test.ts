// File operations of a state: waits for free file descriptors, and failures as diagnostics.

import { expect, test } from "vitest";
import { filesWithFailures } from "../../../../src/state/backends/file/files-with-failures.ts";
import type { FileSystem } from "../../../../src/state/model/ports.ts";
import { Disk, memoryFiles } from "../../memory-files.ts";

/** Files whose folder can be listed after so many failures, and the waits. */
function failing(code: string, failures: number) {
  let left = failures;
  const waits: number[] = [];
  const list: FileSystem["list"] = async () => {
    if (left-- > 0) throw Object.assign(new Error(`${code}: no`), { code });
    return ["state.json"];
  };
  const clock = {
    now: () => 0,
    sleep: async (ms: number) => {
      waits.push(ms);
    },
  };
  return { fs: filesWithFailures({ ...memoryFiles(new Disk()), list }, clock), waits };
}

test("an operation waits until the process may open another file", async () => {
  const { fs, waits } = failing("EMFILE", 3);
  expect(await fs.list("/s")).toEqual(["state.json"]);
  expect(waits).toEqual([50, 50, 50]);
});

test("an operation that finds no free file descriptor within 10 s fails with the way to raise the limit", async () => {
  const { fs, waits } = failing("ENFILE", 1_000);
  await expect(fs.list("/s")).rejects.toMatchObject({
    diagnostics: [
      {
        code: "STATE_IO",
        message: "reading the folder /s failed",
        cause: "ENFILE: no",
        hint: expect.stringContaining("ulimit -n"),
      },
    ],
  });
  expect(waits.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(10_000);
});

test("any other failure is not repeated", async () => {
  const { fs, waits } = failing("EACCES", 1);
  await expect(fs.list("/s")).rejects.toMatchObject({
    diagnostics: [{ hint: expect.stringContaining("disk has space") }],
  });
  expect(waits).toEqual([]);
});
