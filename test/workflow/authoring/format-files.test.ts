// Formatting of files: where they are, what is refused, and what a write keeps.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { formatFiles, formatText } from "../../../src/workflow/authoring/format-files.ts";
import { resolveInvocation } from "../../../src/workflow/invocation/invocation.ts";

const made: string[] = [];

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "format-"));
  made.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function format(cwd: string, names: readonly string[] = [], write = true) {
  const observer = {
    report: () => undefined,
    retrying: () => undefined,
    waitingForLock: () => undefined,
    begin: () => Promise.reject(new Error("nothing is read")),
  };
  const context = { cwd, home: cwd, env: {}, observer };
  const { unformatted, diagnostics, checked } = formatFiles(resolveInvocation(context, {}), names, write);
  return {
    checked,
    files: unformatted.map(({ file }) => file),
    told: diagnostics.map(({ code, message }) => `${code} ${message}`),
  };
}

const UNTIDY = "pools:   {a: {node_type_id: x}}\n";
const TIDY = "pools: { a: { node_type_id: x } }\n";

describe("formatFiles", () => {
  it("finds includes, modules, modules of modules, and modules of every target", () => {
    const folder = folderOf({
      "workspace.yaml":
        "include: [more/*.yaml]\nmodules: {m: {source: ./m}}\ntargets: {prod: {modules: {n: {source: ./n}}}}\n",
      "more/a.yaml": UNTIDY,
      "m/workspace.yaml": "modules: { inner: { source: inner } }\n",
      "m/inner/workspace.yaml": UNTIDY,
      "n/workspace.yaml": UNTIDY,
      "other.yaml": UNTIDY,
    });
    expect(format(folder)).toEqual({
      checked: 5,
      files: ["workspace.yaml", "more/a.yaml", "n/workspace.yaml", "m/inner/workspace.yaml"],
      told: [],
    });
    expect(readFileSync(join(folder, "m/inner/workspace.yaml"), "utf8")).toBe(TIDY);
    expect(readFileSync(join(folder, "other.yaml"), "utf8")).toBe(UNTIDY);
  });

  it("keeps the mode of a file, its line ends, and its byte order mark, and leaves no other file", () => {
    const folder = folderOf({ "workspace.yaml": `\ufeff${UNTIDY}# end`.replaceAll("\n", "\r\n") });
    chmodSync(join(folder, "workspace.yaml"), 0o640);
    expect(format(folder).files).toEqual(["workspace.yaml"]);
    expect(readFileSync(join(folder, "workspace.yaml"), "utf8")).toBe(
      `\ufeff${TIDY}# end\n`.replaceAll("\n", "\r\n"),
    );
    expect(statSync(join(folder, "workspace.yaml")).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(["workspace.yaml"]);
  });

  it("leaves a file with a syntax error, and formats the others", () => {
    const broken = "pools:   {a: [\n";
    const folder = folderOf({
      "workspace.yaml": "include: [a.yaml, b.yaml]\n",
      "a.yaml": broken,
      "b.yaml": UNTIDY,
    });
    const found = format(folder);
    expect(found.files).toEqual(["b.yaml"]);
    expect(found.told.every((one) => one.startsWith("SPEC_YAML"))).toBe(true);
    expect(found.told).not.toEqual([]);
    expect(readFileSync(join(folder, "a.yaml"), "utf8")).toBe(broken);
  });

  it("refuses links that lead out, files of the state and of git, folders, and files of other folders", () => {
    const outside = folderOf({ "x.yaml": UNTIDY });
    const folder = folderOf({
      ".workspace/default/state.yaml": UNTIDY,
      ".git/config.yaml": UNTIDY,
      "folder.yaml/a.yaml": UNTIDY,
      "notes.txt": UNTIDY,
    });
    symlinkSync(join(outside, "x.yaml"), join(folder, "link.yaml"));
    const names = [
      "link.yaml",
      ".workspace/default/state.yaml",
      ".git/config.yaml",
      "folder.yaml",
      "notes.txt",
      join(outside, "x.yaml"),
      "missing.yaml",
    ];
    expect(format(folder, names)).toEqual({
      checked: 5,
      files: [],
      told: [
        "CLI_FILE notes.txt is not a YAML file",
        `CLI_FILE ${join(outside, "x.yaml")} is outside the current folder and the spec's folder`,
        "SPEC_OUTSIDE link.yaml is outside the spec's folder",
        "SPEC_PRIVATE .workspace/default/state.yaml belongs to git, .workspace, or the state, which a spec cannot read",
        "SPEC_PRIVATE .git/config.yaml belongs to git, .workspace, or the state, which a spec cannot read",
        "SPEC_NOT_FOUND folder.yaml is not a regular file",
        "SPEC_NOT_FOUND missing.yaml does not exist",
      ],
    });
    expect(readFileSync(join(outside, "x.yaml"), "utf8")).toBe(UNTIDY);
  });

  it("formats the file that a link inside the folder leads to, and keeps the link", () => {
    const folder = folderOf({ "real.yaml": UNTIDY });
    symlinkSync("real.yaml", join(folder, "link.yaml"));
    expect(format(folder, ["link.yaml"]).files).toEqual(["link.yaml"]);
    expect(readFileSync(join(folder, "real.yaml"), "utf8")).toBe(TIDY);
    expect(readdirSync(folder).sort()).toEqual(["link.yaml", "real.yaml"]);
  });

  it("writes no file with write: false, and reads each file once", () => {
    const folder = folderOf({ "workspace.yaml": UNTIDY });
    expect(format(folder, ["workspace.yaml", "./workspace.yaml"], false)).toEqual({
      checked: 1,
      files: ["workspace.yaml"],
      told: [],
    });
    expect(readFileSync(join(folder, "workspace.yaml"), "utf8")).toBe(UNTIDY);
    expect(existsSync(join(folder, ".workspace"))).toBe(false);
  });

  it("reports a spec that does not exist", () => {
    expect(format(folderOf({})).told).toEqual([expect.stringContaining("SPEC_NOT_FOUND")]);
  });
});

describe("formatText", () => {
  it("refuses bytes that are not UTF-8", () => {
    const { unformatted, diagnostics } = formatText("stdin", new Uint8Array([0x61, 0xff]));
    expect(unformatted).toEqual([]);
    expect(diagnostics.map(({ message }) => message)).toEqual(["the file is not UTF-8 text"]);
  });
});
