import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith, load, loadFrom } from "../folder.ts";

const keys = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, at) => `k${at}`));

describe("modules that would exhaust a run", () => {
  it("are refused where one uses itself, directly or through another", async () => {
    const { told } = await load({
      "workspace.yaml": "modules: { a: { source: a } }",
      "a/workspace.yaml": "modules: { b: { source: ../b } }",
      "b/workspace.yaml": "modules: { a: { source: ../a } }",
    });
    expect(told).toEqual([
      "SPEC_MODULE b/workspace.yaml:1:12 a module uses itself: a/workspace.yaml -> b/workspace.yaml -> a/workspace.yaml",
    ]);
  });

  it("are refused where the main spec is its own module", async () => {
    const { told } = await load("modules: { a: { source: . } }");
    expect(told).toContainEqual(
      expect.stringContaining("a module uses itself: workspace.yaml -> workspace.yaml"),
    );
  });

  it("are refused where they nest too deep", async () => {
    const files: Record<string, string> = { "workspace.yaml": "modules: { m: { source: m0 } }" };
    for (let at = 0; at < 12; at++)
      files[`m${at}/workspace.yaml`] = `modules: { m: { source: ../m${at + 1} } }`;
    const { told } = await load(files);
    expect(told).toEqual([expect.stringContaining("modules nest more than 8 deep")]);
  });

  it.each([false, true])(
    "are refused where nested for_each multiplies (untrusted: %s)",
    async (untrusted) => {
      const files: Record<string, string> = {
        "workspace.yaml": `modules: { m: { source: m0, for_each: ${keys(50)} } }`,
      };
      for (let at = 0; at < 6; at++)
        files[`m${at}/workspace.yaml`] = `modules: { m: { source: ../m${at + 1}, for_each: ${keys(50)} } }`;
      files["m6/workspace.yaml"] = "users: { ada: {} }";
      const { spec, told } = await load(files, { untrusted });
      expect(spec).toBeUndefined();
      expect(told).toEqual([
        expect.stringContaining(
          `the modules of the spec make more than ${untrusted ? "1000" : "10000"} instances`,
        ),
      ]);
    },
  );

  it("are refused where instances of a large module have too many values", async () => {
    const users = Array.from({ length: 5_000 }, (_, at) => `u${at}: {}`).join(", ");
    const { told } = await load({
      "workspace.yaml": `modules: { m: { source: m, for_each: ${keys(2_000)} } }`,
      "m/workspace.yaml": `users: { ${users} }`,
    });
    expect(told).toEqual([expect.stringContaining("SPEC_TOO_LARGE")]);
  });

  it("are refused where patterns are matched against too much text", async () => {
    const { told } = await load({
      "workspace.yaml": `locals: { l: ${"a".repeat(9_000)} }\nmodules: { m: { source: m, with: { l: "\${local.l}" }, for_each: ${keys(900)} } }`,
      "m/workspace.yaml": 'inputs: { l: { type: string, pattern: "^((a{0,31}){0,31})+$" } }',
    });
    expect(told.slice(-1)).toEqual(["SPEC_TOO_LARGE 2:39 patterns are matched against too much text"]);
  });

  it("are refused where for_each has 200,000 keys", async () => {
    const { told } = await load({
      "workspace.yaml": `modules: { m: { source: m, for_each: ${keys(200_000)} } }`,
      "m/workspace.yaml": "users: { ada: {} }",
    });
    expect(told).toEqual([expect.stringContaining("more than 10000 instances")]);
  });

  it("are refused where for_each has too many keys, before any is made", async () => {
    const { told } = await load({
      "workspace.yaml": `modules: { m: { source: m, for_each: ${keys(30_000)} } }`,
      "m/workspace.yaml": "users: { ada: {} }",
    });
    expect(told).toEqual([expect.stringContaining("more than 10000 instances")]);
  });

  it("count their files, each once, towards the limits of files", async () => {
    const files: Record<string, string> = {};
    const uses = Array.from({ length: 300 }, (_, at) => {
      files[`m${at}/workspace.yaml`] = `users: { u${at}: {} }`;
      return `m${at}: { source: m${at} }`;
    });
    files["workspace.yaml"] = `modules: { ${uses.join(", ")} }`;
    const { told } = await load(files, { untrusted: true });
    expect(told).toContainEqual(expect.stringContaining("the spec has more than 200 files"));
  });

  it.each([
    ["an expression that backtracks", "^(a+)+$"],
    ["alternatives that overlap", "^(a|a)*$"],
  ])("are checked in linear time where a pattern is %s", async (_name, pattern) => {
    const { told } = await load({
      "workspace.yaml": `variables: { v: { default: ${"a".repeat(60)}b, pattern: '${pattern}' } }\nmodules: { m: { source: m, with: { x: ${"a".repeat(60)}b } } }`,
      "m/workspace.yaml": `inputs: { x: { type: string, pattern: '${pattern}' } }\nusers: { ada: {} }`,
    });
    expect(told.map((one) => one.split(" ")[0])).toEqual(["SPEC_VARIABLE", "SPEC_INPUT"]);
  });

  it("cannot have inputs whose schema refers to itself, or repeats without end", async () => {
    const { told } = await load({
      "workspace.yaml": "modules: { m: { source: m, with: { x: 1 } } }\nusers: { ada: {} }",
      "m/workspace.yaml":
        "inputs: { x: { allOf: [{ $ref: '#' }] }, y: { $ref: 'https://evil.example/s.json', default: 1 } }",
    });
    expect(told).toEqual([
      'SPEC_UNKNOWN_FIELD m/workspace.yaml:1:16 inputs.x has no keyword "allOf"',
      'SPEC_UNKNOWN_FIELD m/workspace.yaml:1:47 inputs.y has no keyword "$ref"',
    ]);
  });
});

describe("modules of an untrusted spec", () => {
  it("cannot be reached through a link, in a hidden folder, or in the state", async () => {
    const outside = folderWith({ "workspace.yaml": "users: { eve: {} }" });
    const folder = folderWith({
      "workspace.yaml":
        "modules: { a: { source: link }, b: { source: .hidden }, c: { source: .workspace/x }, d: { source: .git } }",
    });
    symlinkSync(outside, join(folder, "link"));
    for (const name of [".hidden", ".workspace/x", ".git"]) {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, "workspace.yaml"), "users: { eve: {} }");
    }
    const { spec, diagnostics } = await loadFrom(folder, { untrusted: true });
    expect(spec).toBeUndefined();
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "SPEC_OUTSIDE link/workspace.yaml is outside the spec's folder",
      "SPEC_OUTSIDE .hidden/workspace.yaml is hidden, and an untrusted spec cannot use hidden files",
      "SPEC_PRIVATE .workspace/x/workspace.yaml belongs to git, .workspace, or the state, which a spec cannot read",
      "SPEC_PRIVATE .git/workspace.yaml belongs to git, .workspace, or the state, which a spec cannot read",
    ]);
  });

  it("show no line of a file that is not a spec", async () => {
    const { diagnostics } = await load(
      {
        "workspace.yaml": "modules: { a: { source: keys } }",
        "keys/workspace.yaml": "password: hunter2\n",
      },
      { untrusted: true },
    );
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });
});
