// How often files are read for the contents of a spec, and how much of them an untrusted spec may have read.

import { symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SourceReader } from "../../../src/spec/files/contents.ts";
import { openSpecFolder, type SpecFolder } from "../../../src/spec/files/spec-folder.ts";
import { folderWith, loadFrom } from "../folder.ts";

/** A reader of this folder, and the paths of what it read. */
function readerOf(folder: string, mostBytes?: number) {
  const { tree } = openSpecFolder(join(folder, "workspace.yaml")) ?? expect.fail("the folder is there");
  const paths: string[] = [];
  const counting: SpecFolder = {
    ...tree,
    read: (path, most) => {
      paths.push(path);
      return tree.read(path, most);
    },
    stream: (path, most, take) => {
      paths.push(path);
      return tree.stream(path, most, take);
    },
  };
  return { reader: new SourceReader(counting, mostBytes), paths };
}

const MOST = 1 << 20;

describe("a source reader", () => {
  test("reads a file once, however many names and links lead to it", () => {
    const folder = folderWith({ a: "one", "sub/b": "two" });
    symlinkSync("a", join(folder, "link"));
    const { reader, paths } = readerOf(folder);
    const sums = ["a", "./a", "sub/../a", "link", "a"].map((path) => reader.sum(path, MOST));
    expect(new Set(sums.map((sum) => JSON.stringify(sum))).size).toBe(1);
    expect(paths).toEqual(["a"]);
    expect(reader.sum("sub/b", MOST)).not.toEqual(sums[0]);
    expect(paths).toEqual(["a", "sub/b"]);
  });

  test("makes each form of a file once", () => {
    const { reader, paths } = readerOf(folderWith({ a: "one" }));
    const forms = ["x", "y", "x"].map((key) =>
      reader.form("a", MOST, key, (bytes) => `${key}${bytes.length}`),
    );
    expect(forms.map((one) => one.ok && one.value.form)).toEqual(["x3", "y3", "x3"]);
    expect(paths).toEqual(["a", "a"]);
  });

  test("reads a file that is refused no second time", () => {
    const { reader, paths } = readerOf(folderWith({ a: "one" }));
    const refused = { ok: false, refusal: "too large", bytes: { size: 3, most: 2 } };
    expect([reader.sum("a", 2), reader.sum("a", 2)]).toEqual([refused, refused]);
    expect(paths).toEqual(["a"]);
  });

  test("reads nothing beyond its limit, and counts a file once", () => {
    const { reader } = readerOf(folderWith({ a: "12345", b: "12345", c: "1" }), 9);
    expect(reader.sum("a", MOST)).toMatchObject({ ok: true });
    expect(reader.sum("a", MOST)).toMatchObject({ ok: true });
    expect(reader.sum("b", MOST)).toEqual({ ok: false, refusal: "over limit" });
    expect(reader.sum("c", MOST)).toMatchObject({ ok: true });
    expect(reader.form("b", MOST, "", () => "")).toEqual({ ok: false, refusal: "over limit" });
  });
});

describe("an untrusted spec", () => {
  /** Files full of zeros that take no room. */
  function withLarge(yaml: string, sizes: Readonly<Record<string, number>>): string {
    const folder = folderWith({
      "workspace.yaml": yaml,
      ...Object.fromEntries(Object.keys(sizes).map((name) => [name, ""])),
    });
    for (const [name, size] of Object.entries(sizes)) truncateSync(join(folder, name), size);
    return folder;
  }

  const naming = (paths: readonly string[]) =>
    `files:\n${paths.map((path, at) => `  /f${at}: { source: ${path} }`).join("\n")}\n`;

  test("names one large file 200 times, and is read", async () => {
    const folder = withLarge(naming(Array.from({ length: 200 }, () => "a")), { a: 20 << 20 });
    const { spec, told } = await loadFrom(folder, { untrusted: true });
    expect(told).toEqual([]);
    expect(spec?.resources.size).toBe(200);
  });

  test("whose sources exceed the limit in total is refused with one diagnostic, and a trusted one is not", async () => {
    const names = ["a", "b", "c", "d"];
    const sizes = Object.fromEntries(names.map((name) => [name, 200 << 20]));
    const folder = withLarge(naming(names), sizes);
    const untrusted = await loadFrom(folder, { untrusted: true });
    expect(untrusted.spec).toBeUndefined();
    expect(untrusted.told).toEqual([
      "SPEC_READ_LIMIT 3:18 the sources of an untrusted spec exceed 256 MB in total",
    ]);
    expect((await loadFrom(folder)).told).toEqual([]);
  }, 60_000);
});
