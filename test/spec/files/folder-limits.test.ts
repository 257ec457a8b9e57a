// How often an untrusted spec may have its folder searched, and how many files it may name by that.

import { expect, it } from "vitest";
import { load } from "../folder.ts";

const times = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

const files = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`d/f${at}.py`, "1"]));

it("refuses source folders that name one folder many times", async () => {
  const spec = `files:\n${times(250, (at) => `  /n${at}: { source_dir: d }\n`)}`;
  const { spec: read, told } = await load({ ...files, "workspace.yaml": spec }, { untrusted: true });
  expect(read).toBeUndefined();
  expect(told).toEqual([
    "SPEC_TOO_LARGE 168:3 source folders name more than 20,000 files; each pattern counts as 20",
  ]);
});

it("accepts as many from a trusted spec", async () => {
  const spec = `files:\n${times(20, (at) => `  /n${at}: { source_dir: d }\n`)}`;
  const { spec: read } = await load({ ...files, "workspace.yaml": spec });
  expect(read?.resources.size).toBe(20 * 100);
});

it("counts patterns of source folders that match no file", async () => {
  const patterns = times(1100, (at) => `"**/a${at}*.py",`);
  const spec = `files: { /n: { source_dir: d, include: [${patterns}] } }`;
  const { told } = await load({ ...files, "workspace.yaml": spec }, { untrusted: true });
  expect(told).toEqual([expect.stringContaining("SPEC_TOO_LARGE")]);
});

it("counts patterns of includes as files", async () => {
  const spec = `include:\n${times(300, (at) => `  - "**/n${at}*.yaml"\n`)}`;
  const { told } = await load({ ...files, "workspace.yaml": spec }, { untrusted: true });
  expect(told.filter((one) => one.includes("matches no file"))).toHaveLength(199);
  expect(told).toContain("SPEC_TOO_LARGE 201:5 the spec has more than 200 files and patterns of files");
});
