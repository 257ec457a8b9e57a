import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

async function init(context: ReturnType<typeof contextWith>) {
  return runProgram(context, ["init", "--editor"]);
}

const jsonIn = (folder: string, path: string): unknown =>
  JSON.parse(readFileSync(join(folder, path), "utf8"));

test("init --editor writes a spec, the schema, and settings", async () => {
  const context = contextWith();
  expect(await init(context)).toBe(0);
  expect(readFileSync(join(context.cwd, "workspace.yaml"), "utf8")).toContain(
    "# yaml-language-server: $schema=./workspace.schema.json",
  );
  expect(jsonIn(context.cwd, "workspace.schema.json")).toMatchObject({
    properties: { modules: {}, moved: {} },
  });
  expect(jsonIn(context.cwd, ".vscode/settings.json")).toEqual({
    "yaml.schemas": {
      "./workspace.schema.json": ["workspace.yaml", "**/workspace.yaml"],
      "./test.schema.json": ["**/*.test.yaml"],
    },
  });
  expect(jsonIn(context.cwd, "test.schema.json")).toMatchObject({
    properties: { tests: {}, world: { anyOf: [{}, { $ref: "workspace.schema.json" }] } },
  });
});

test("init --editor keeps an existing spec and other settings, and is idempotent", async () => {
  const context = contextWith();
  const { cwd } = context;
  writeFileSync(join(cwd, "workspace.yaml"), "users: { ada@example.com: {} }\n");
  mkdirSync(join(cwd, ".vscode"));
  writeFileSync(
    join(cwd, ".vscode/settings.json"),
    '{ "editor.tabSize": 2, "yaml.schemas": { "x": ["y"] } }',
  );
  for (let at = 0; at < 2; at++) {
    expect(await init(context)).toBe(0);
    expect(readFileSync(join(cwd, "workspace.yaml"), "utf8")).toBe(
      "# yaml-language-server: $schema=./workspace.schema.json\nusers: { ada@example.com: {} }\n",
    );
    expect(jsonIn(cwd, ".vscode/settings.json")).toMatchObject({
      "editor.tabSize": 2,
      "yaml.schemas": {
        x: ["y"],
        "./workspace.schema.json": ["workspace.yaml", "**/workspace.yaml"],
        "./test.schema.json": ["**/*.test.yaml"],
      },
    });
  }
});

test("init --editor does not touch settings with comments, and says what to add", async () => {
  const context = contextWith();
  const { cwd } = context;
  mkdirSync(join(cwd, ".vscode"));
  const settings = '{ // mine\n  "editor.tabSize": 2 }';
  writeFileSync(join(cwd, ".vscode/settings.json"), settings);
  expect(await init(context)).toBe(1);
  expect(readFileSync(join(cwd, ".vscode/settings.json"), "utf8")).toBe(settings);
  expect(context.err()).toContain("yaml.schemas");
});

const mappings = (folder: string): string => readFileSync(join(folder, ".idea/jsonSchemas.xml"), "utf8");

test("init --editor maps the schema for JetBrains once, and keeps other mappings", async () => {
  const context = contextWith();
  const { cwd } = context;
  expect(await init(context)).toBe(0);
  const first = mappings(cwd);
  expect(first).toMatch(
    /relativePathToSchema" value="workspace.schema.json"[\s\S]*path" value="workspace.yaml"/,
  );
  expect(await init(context)).toBe(0);
  expect(mappings(cwd)).toBe(first);
  const other = first.replaceAll("workspace", "other");
  writeFileSync(join(cwd, ".idea/jsonSchemas.xml"), other);
  expect(await init(context)).toBe(0);
  expect(mappings(cwd)).toContain('value="other.schema.json"');
  expect(mappings(cwd)).toContain('value="workspace.schema.json"');
  expect(mappings(cwd).match(/<entry /g)).toHaveLength(3);
  expect(mappings(cwd).match(/<\/entry>\s*<\/map>/)).not.toBeNull();
});

test("init --editor does not touch mappings of an unknown form", async () => {
  const context = contextWith();
  mkdirSync(join(context.cwd, ".idea"));
  writeFileSync(join(context.cwd, ".idea/jsonSchemas.xml"), "<project />");
  expect(await init(context)).toBe(1);
  expect(mappings(context.cwd)).toBe("<project />");
  expect(context.err()).toContain("JSON Schema Mappings");
});

test.each([".gitignore", ".vscode", ".idea", "workspace.schema.json"])(
  "init --editor does not write through the link %s of a hostile checkout",
  async (name) => {
    const context = contextWith();
    const outside = folderWith("");
    writeFileSync(join(outside, "file"), "kept\n");
    symlinkSync(
      name.startsWith(".g") || name.endsWith("json") ? join(outside, "file") : outside,
      join(context.cwd, name),
    );
    expect(await init(context)).toBe(1);
    expect(context.err()).toContain(`${name} is a symbolic link`);
    expect(readdirSync(outside).sort()).toEqual(["file", "workspace.yaml"]);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept\n");
  },
);
