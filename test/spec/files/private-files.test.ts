// `.git`, `.workspace` and the state are never read as a spec, a source, an include, a secret's file or a source folder.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith, loadFrom } from "../folder.ts";

const SECRET = "token = ghs_canary_4411";
const KEPT = {
  ".git/config": SECRET,
  ".git/hooks/a.py": SECRET,
  ".workspace/default/key": SECRET,
  ".workspace/default/a.py": SECRET,
  "kept/key": SECRET,
  "kept/a.py": SECRET,
  "notes/a.py": "print(1)\n",
};

/** The places of a path in a spec. */
const PLACES: readonly (readonly [string, (path: string) => string])[] = [
  ["an include", (path) => `include: [${JSON.stringify(path)}]\nusers: {}\n`],
  [
    "a notebook's source",
    (path) => `notebooks: { /n: { source: ${JSON.stringify(path)}, language: PYTHON } }\n`,
  ],
  ["a file's source", (path) => `files: { /f: { source: ${JSON.stringify(path)} } }\n`],
  ["a secret's file", (path) => `scopes: { s: { secrets: { k: { file: ${JSON.stringify(path)} } } } }\n`],
];

const PATHS = [
  ".git/config",
  "./notes/../.git/config",
  ".GIT/config",
  ".git./config",
  ".git /config",
  ".g\u200cit/config",
  ".git::$INDEX_ALLOCATION/config",
  "git~1/config",
  ".workspace/default/key",
  ".Workspace/default/key",
  "link/config",
  "alias",
  "kept/key",
  "way/key",
];

async function told(yaml: string, untrusted: boolean, more: Readonly<Record<string, string>> = {}) {
  const folder = folderWith({ ...KEPT, ...more, "workspace.yaml": yaml });
  symlinkSync(".git", join(folder, "link"));
  symlinkSync(".workspace/default/key", join(folder, "alias"));
  symlinkSync("kept", join(folder, "way"));
  return loadFrom(folder, { untrusted, states: [join(folder, "kept")] });
}

describe.each([false, true])("with untrusted: %s", (untrusted) => {
  describe.each(PLACES)("%s", (_, yaml) => {
    // An untrusted spec's secret is not even looked for.
    const paths = untrusted ? PATHS.filter((path) => !yaml(path).includes("secrets")) : PATHS;
    test.runIf(paths.length > 0)(
      "that leads into git or the state is refused, and nothing of it is shown",
      async () => {
        for (const path of paths) {
          const { spec, diagnostics } = await told(yaml(path), untrusted);
          expect(spec, path).toBeUndefined();
          expect(
            diagnostics.map(({ code }) => code),
            path,
          ).toEqual(["SPEC_PRIVATE"]);
          expect(JSON.stringify(diagnostics), path).not.toContain("canary");
        }
      },
    );
  });

  test.each([".git", ".git/hooks", ".workspace", "link", "kept", "way", "notes/../.git"])(
    "the source folder %s is refused",
    async (path) => {
      const { diagnostics } = await told(`notebooks: { /n: { source_dir: ${path} } }\n`, untrusted);
      expect(diagnostics.map(({ code }) => code)).toEqual(["SPEC_PRIVATE"]);
    },
  );

  test.each([".git/**", "{.git,notes}/conf*", "kept/*", "**/key"])(
    "the pattern %s of an include reads nothing of git or the state",
    async (pattern) => {
      const { spec, diagnostics } = await told(`include: [${JSON.stringify(pattern)}]\n`, untrusted);
      expect(spec).toBeUndefined();
      expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(["SPEC_PRIVATE"]));
      expect(JSON.stringify(diagnostics)).not.toContain("canary");
    },
  );

  test("a source folder around the state refuses the state's files", async () => {
    const { diagnostics } = await told('notebooks: { /n: { source_dir: "." } }\n', untrusted);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "notebooks./n/kept/a: kept/a.py belongs to git, .workspace, or the state, which a spec cannot read",
    ]);
  });

  test("names that only resemble these are read", async () => {
    const files = { "a.git/x.py": "1\n", "git~x/x.py": "1\n", "workspace/x.py": "1\n", "keptx/x.py": "1\n" };
    const sources = Object.keys(files).map((path, at) => `  /n${at}: { source: ${path} }`);
    const { spec, diagnostics } = await told(`notebooks:\n${sources.join("\n")}\n`, untrusted, files);
    expect(diagnostics).toEqual([]);
    expect(spec?.resources.size).toBe(4);
  });
});

describe("the spec itself", () => {
  test.each([".git/config", ".workspace/default/key", "kept/key"])("is refused at %s", async (path) => {
    const folder = folderWith(KEPT);
    const { diagnostics } = await loadFrom(folder, {
      file: join(folder, path),
      states: [join(folder, "kept")],
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(["SPEC_PRIVATE"]);
    expect(JSON.stringify(diagnostics)).not.toContain("canary");
  });

  test("is refused where it is a link into git", async () => {
    const folder = folderWith(KEPT);
    symlinkSync(".git/config", join(folder, "workspace.yaml"));
    expect((await loadFrom(folder)).diagnostics.map(({ code }) => code)).toEqual(["SPEC_PRIVATE"]);
  });

  test("is read next to a state folder, whose files are refused", async () => {
    const folder = folderWith({ "workspace.yaml": "include: [key, state.json, journal.jsonl]\n" });
    for (const name of ["key", "state.json", "journal.jsonl"]) writeFileSync(join(folder, name), SECRET);
    const { diagnostics } = await loadFrom(folder, { states: [folder] });
    expect(diagnostics.map(({ code }) => code)).toEqual(["SPEC_PRIVATE", "SPEC_PRIVATE", "SPEC_PRIVATE"]);
    mkdirSync(join(folder, "teams"));
    writeFileSync(join(folder, "teams/workspace.yaml"), "users: {}\n");
    const below = await loadFrom(folder, { file: join(folder, "teams/workspace.yaml"), states: [folder] });
    expect(below.told).toEqual(["SPEC_EMPTY the spec declares no resources, so it manages nothing"]);
  });
});
