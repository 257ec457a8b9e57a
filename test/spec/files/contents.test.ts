import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Failure } from "../../../src/core/diagnostic.ts";
import { digest } from "../../../src/core/digest.ts";
import { folderWith, load, loadFrom } from "../folder.ts";

describe("one file", () => {
  it("is a payload with a digest; the source itself is not a value", async () => {
    const { resource } = await load({
      "workspace.yaml": "files: { /init/a.sh: { source: a.sh } }",
      "a.sh": "echo\n",
    });
    const { values, payload } = resource("files./init/a.sh");
    expect(values).toEqual({ content: `5 bytes, sha256 ${digest("echo\n")}` });
    expect(payload?.digest).toBe(digest("echo\n"));
    expect(new TextDecoder().decode(payload?.bytes())).toBe("echo\n");
    expect(payload?.secret).toBeUndefined();
  });

  it("is compared by what its kind makes of it", async () => {
    const { resource } = await load({
      "workspace.yaml": "notebooks: { /S/n: { source: n.py } }",
      "n.py": "x\n\n",
    });
    expect(resource("notebooks./S/n").values.content).toBe("x|SOURCE");
    expect(resource("notebooks./S/n").payload?.digest).toBe(digest("x\n\n"));
  });

  it.each([
    ["n.py", { language: "PYTHON", format: "SOURCE" }],
    ["n.scala", { language: "SCALA", format: "SOURCE" }],
    ["n.sql", { language: "SQL", format: "SOURCE" }],
    ["n.r", { language: "R", format: "SOURCE" }],
    ["n.R", { language: "R", format: "SOURCE" }],
    ["n.ipynb", { format: "JUPYTER" }],
    ["n.html", { format: "HTML" }],
    ["n.dbc", { format: "DBC" }],
  ])("%s tells language and format", async (name, said) => {
    const { resource } = await load({
      "workspace.yaml": `notebooks: { /n: { source: ${name} } }`,
      [name]: "x",
    });
    const { content: _content, ...values } = resource("notebooks./n").values;
    expect(values).toEqual(said);
  });

  it("a declared language takes precedence over the extension", async () => {
    const { resource } = await load({
      "workspace.yaml":
        "notebooks: { /a: { source: a.txt, language: SQL, format: SOURCE }, /b: { source: b.py, format: JUPYTER }, /c: { source: b.py, format: SOURCE } }",
      "a.txt": "x",
      "b.py": "x",
    });
    expect(resource("notebooks./c").values).toMatchObject({ language: "PYTHON", format: "SOURCE" });
    expect(resource("notebooks./a").values).toMatchObject({ language: "SQL", format: "SOURCE" });
    expect(resource("notebooks./b").values).toEqual({ format: "JUPYTER", content: "x|JUPYTER" });
  });

  it("that changes before it is sent is not sent", async () => {
    const { resource, folder } = await load({ "workspace.yaml": "files: { /a: { source: a } }", a: "one" });
    writeFileSync(join(folder, "a"), "two");
    const { payload } = resource("files./a");
    expect(() => payload?.bytes()).toThrow(Failure);
    expect(() => payload?.bytes()).toThrow(/PLAN_STALE: a changed during the run/);
  });

  it("of several megabytes is summed in pieces", async () => {
    const large = new Uint8Array(3 << 20).fill(7);
    const { resource } = await load({ "workspace.yaml": "files: { /a: { source: a } }", a: large });
    expect(resource("files./a").payload?.digest).toBe(digest(large));
    expect(resource("files./a").payload?.bytes()).toHaveLength(large.length);
  });

  it("makes a folder that is managed come first, and a job that names it come later", async () => {
    const { resource } = await load({
      "workspace.yaml": `
directories: { /S: {}, /S/etl: {} }
notebooks: { /S/etl/n: { source: n.py } }
files: { /init/a.jar: { source: n.py } }
jobs: { j: { notebook_path: /S/etl/n, libraries: [{ jar: "fs:/init/a.jar" }] }, k: { notebook_path: /other } }
`,
      "n.py": "x",
    });
    expect(resource("directories./S/etl").dependsOn).toEqual(["directories./S"]);
    expect(resource("notebooks./S/etl/n").dependsOn).toEqual(["directories./S/etl"]);
    expect(resource("jobs.j").dependsOn).toEqual(["files./init/a.jar", "notebooks./S/etl/n"]);
    expect(resource("jobs.k").dependsOn).toEqual([]);
  });
});

describe("a whole folder", () => {
  const files = {
    "nb/a.py": "a",
    "nb/sub/deep/b.sql": "b",
    "nb/sub/readme.txt": "no notebook",
    "nb/old/c.py": "c",
    "nb/.hidden/d.py": "d",
  };

  it("becomes a notebook for each file, and a folder for each folder below it", async () => {
    const { spec, told, resource } = await load({
      "workspace.yaml": "notebooks: { /S/etl: { source_dir: nb } }",
      ...files,
    });
    expect(told).toEqual([]);
    expect([...(spec?.resources.keys() ?? [])].sort()).toEqual([
      "directories./S/etl/old",
      "directories./S/etl/sub",
      "directories./S/etl/sub/deep",
      "notebooks./S/etl/a",
      "notebooks./S/etl/old/c",
      "notebooks./S/etl/sub/deep/b",
    ]);
    expect(resource("notebooks./S/etl/sub/deep/b").values).toMatchObject({
      language: "SQL",
      content: "b|SOURCE",
    });
    expect(resource("notebooks./S/etl/sub/deep/b").dependsOn).toEqual(["directories./S/etl/sub/deep"]);
  });

  it("keeps names whole for files, and takes patterns", async () => {
    const { spec } = await load({
      "workspace.yaml":
        "files: { /lib: { source_dir: nb, include: ['**/*.py', 'sub/**'], exclude: ['old/**', '**/*.sql'] } }",
      ...files,
    });
    expect([...(spec?.resources.keys() ?? [])]).toEqual(["files./lib/a.py", "files./lib/sub/readme.txt"]);
  });

  it("yields to an explicit declaration", async () => {
    const { resource, told } = await load({
      "workspace.yaml":
        "notebooks: { /S: { source_dir: nb, exclude: ['old/**', 'sub/**'] }, /S/a: { source: other.py } }",
      "other.py": "other",
      ...files,
    });
    expect(told).toEqual([]);
    expect(resource("notebooks./S/a").values.content).toBe("other|SOURCE");
  });

  it("is found from the file that names it", async () => {
    const { resource } = await load({
      "workspace.yaml": "include: team/a.yaml",
      "team/a.yaml": "notebooks: { /S: { source_dir: nb } }",
      "team/nb/x.py": "x",
    });
    expect(resource("notebooks./S/x").values.content).toBe("x|SOURCE");
  });

  it("with two files of one name, without files, or that is none, is refused", async () => {
    const { told } = await load({
      "workspace.yaml":
        "notebooks:\n  /a: { source_dir: two }\n  /b: { source_dir: none }\n  /c: { source_dir: two, include: ['*.r'] }\n  /d: { source_dir: two, include: ['../*'] }\n",
      "two/x.py": "1",
      "two/x.sql": "2",
    });
    expect(told).toEqual([
      "SPEC_DUPLICATE_NAME 2:3 both two/x.sql and two/x.py define notebooks./a/x",
      "SPEC_NOT_FOUND 3:21 notebooks./b: none is not a folder",
      "SPEC_INCLUDE 4:21 notebooks./c: no file in two matches",
      "SPEC_INCLUDE 5:21 notebooks./d: no file in two matches",
      'SPEC_OUTSIDE 5:36 notebooks./d: the pattern "../*" points outside its folder',
    ]);
  });
});

describe("problems", () => {
  it("a notebook, a file, and a file of a secret beyond the limit state their size and the limit", async () => {
    const folder = folderWith({
      "workspace.yaml":
        "notebooks: { /a: { source: big.py } }\nfiles: { /b: { source: huge.bin } }\nscopes: { s: { secrets: { k: { file: big.py } } } }\n",
      "big.py": "#".repeat((10 << 20) + 1),
      "huge.bin": "",
    });
    truncateSync(join(folder, "huge.bin"), 2 ** 31);
    expect((await loadFrom(folder)).told.map((one) => one.replace(/^(\w+) \d+:\d+/, "$1")).sort()).toEqual([
      "SPEC_TOO_LARGE files./b: huge.bin is too large: 2,147,483,648 bytes (limit: 2,147,483,647)",
      "SPEC_TOO_LARGE notebooks./a: big.py is too large: 10,485,761 bytes (limit: 10,485,760)",
      "SPEC_TOO_LARGE secrets.s/k: big.py is too large: 10,485,761 bytes (limit: 1,048,576)",
    ]);
  });

  it("a source folder in which only links match has a different error than an empty one", async () => {
    const folder = folderWith({ "workspace.yaml": "notebooks: { /S: { source_dir: nb } }", "real.py": "" });
    mkdirSync(join(folder, "nb"));
    symlinkSync("../real.py", join(folder, "nb", "a.py"));
    expect((await loadFrom(folder)).told).toEqual([
      "SPEC_INCLUDE 1:32 notebooks./S: only links or pipes in nb match, and the spec does not read those",
    ]);
  });

  it("a file that is missing, outside, unnamed, or of an unknown type is reported", async () => {
    const folder = folderWith({
      "workspace.yaml":
        "notebooks:\n  /a: { source: none.py }\n  /b: { source: /etc/passwd }\n  /c: {}\n  /d: { source: d.txt }\n  /e: { source: link.py }\n  /f: { source: ok.py, content: x }\n",
      "d.txt": "",
      "ok.py": "",
    });
    symlinkSync("/etc/hostname", join(folder, "link.py"));
    const { told } = await loadFrom(folder);
    expect(told).toEqual([
      "SPEC_NOT_FOUND 2:17 notebooks./a: none.py does not exist",
      'SPEC_OUTSIDE 3:17 notebooks./b: "/etc/passwd" is outside the spec\'s folder',
      'SPEC_MISSING_FIELD 4:3 notebooks./c requires the field "source"',
      "SPEC_VALUE 5:17 notebooks./d: cannot infer the language or format from the extension of d.txt",
      "SPEC_OUTSIDE 6:17 notebooks./e: link.py is outside the spec's folder",
      'SPEC_UNKNOWN_FIELD 7:24 notebooks./f has no field "content"',
    ]);
  });
});
