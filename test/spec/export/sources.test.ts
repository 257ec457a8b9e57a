import { expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import { registry } from "../../../src/providers/index.ts";
import type { LiveObject } from "../../../src/resource/live.ts";
import { addressObjects, sourcesOf } from "../../../src/spec/export/addresses.ts";

function pathsOf(kind: string, names: readonly (readonly [string, string?])[]): readonly string[] {
  const objects = names.map(
    ([name, language]): LiveObject => ({
      id: remoteId(name),
      name,
      values: language === undefined ? {} : { language },
      facts: {},
    }),
  );
  return sourcesOf(addressObjects(registry.get(kind), objects)).map(({ path }) => path);
}

test("a notebook's file has the extension of its language", () => {
  expect(
    pathsOf("notebooks", [
      ["/a/p", "PYTHON"],
      ["/a/q", "SQL"],
      ["/a/r", "R"],
      ["/a/s", "SCALA"],
    ]),
  ).toEqual(["notebooks/a/p.py", "notebooks/a/q.sql", "notebooks/a/r.r", "notebooks/a/s.scala"]);
});

test("no name leads out of the folder, and none is a glob or a template", () => {
  for (const path of pathsOf("files", [
    ["/../../etc/passwd"],
    ["/a/./b"],
    ["/a/.../c"],
    ["/${x}/*?[y]{z}"],
    ["/a\\b/c:d"],
    ["/\u0000\u202e/\n"],
    ["/%2E%2E/x"],
  ])) {
    expect(path.split("/")).not.toContain("..");
    expect(path.split("/")).not.toContain(".");
    expect(path).toMatch(/^files\/[^*?[\]{}$\\:\p{Cc}\p{Cf}]+$/u);
  }
});

test("names that a file system could take for the same get paths of their own", () => {
  const paths = pathsOf("files", [["/a/B"], ["/A/b"], ["/a/b"]]);
  expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(3);
});

test("a notebook whose file would be called like a folder gets another name", () => {
  expect(
    pathsOf("notebooks", [
      ["/x/a", "PYTHON"],
      ["/x/a.py/b", "PYTHON"],
    ]),
  ).toEqual(["notebooks/x/a-2.py", "notebooks/x/a.py/b.py"]);
});

test("a name that is too long for a file system is shortened and stays unique", () => {
  const [one = "", two = ""] = pathsOf("files", [[`/${"é".repeat(200)}a`], [`/${"é".repeat(200)}b`]]);
  expect(one).not.toBe(two);
  expect(Buffer.byteLength(one)).toBeLessThan(255);
});

test.each([
  ["/.git/config", "files/%2Egit/config"],
  ["/a/.GIT/hooks/post-checkout", "files/a/%2EGIT/hooks/post-checkout"],
  ["/.workspace/default/key", "files/%2Eworkspace/default/key"],
  ["/.gitattributes", "files/%2Egitattributes"],
  ["/a/.envrc", "files/a/%2Eenvrc"],
  ["/.../x", "files/%2E.%2E/x"],
  ["/git~1/config", "files/git%7E1/config"],
  ["/a./b ", "files/a%2E/b%20"],
  ["/ .git/x", "files/%20.git/x"],
  ["/repo/HEAD", "files/repo/%48EAD"],
  ["/repo/head", "files/repo/%68ead"],
  ["/nul.txt/x", "files/%6Eul.txt/x"],
  ["/a.git/x.y", "files/a.git/x.y"],
  ["/%2Egit/config", "files/%252Egit/config"],
])("%s is written to %s, where no program acts on it", (name, path) => {
  expect(pathsOf("files", [[name]])).toEqual([path]);
});
