import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderWith, load, loadFrom } from "../folder.ts";

it("reads paths and patterns, each file once, from the folder of the file that names them", async () => {
  const { told, spec } = await load({
    "workspace.yaml": "include: [teams/*.yaml, teams/a.yaml, more/b.yaml]\nusers: { main: {} }",
    "teams/a.yaml": "users: { a: {} }",
    "teams/z.yaml": "users: { z: {} }\ninclude: deeper/*.yaml",
    "teams/deeper/d.yaml": "groups: { d: {} }\ninclude: [../../workspace.yaml, ../a.yaml]",
    "more/b.yaml": "users: { b: {} }",
  });
  expect(told).toEqual([]);
  expect([...(spec?.resources.keys() ?? [])]).toEqual([
    "users.main",
    "users.a",
    "users.z",
    "users.b",
    "groups.d",
  ]);
  expect(spec?.files.map(({ path }) => path)).toEqual([
    "workspace.yaml",
    "teams/a.yaml",
    "teams/z.yaml",
    "teams/deeper/d.yaml",
    "more/b.yaml",
  ]);
});

it("joins the entries about the state of all files, and locates each in its file", async () => {
  const { told, spec } = await load({
    "workspace.yaml":
      "include: [b.yaml, a.yaml]\npools: { x: { node_type_id: n }, y: { node_type_id: n } }\nmoved: [{ from: pools.o, to: pools.x }]",
    "a.yaml": "moved: [{ from: pools.p, to: pools.y }]\nremoved: [{ address: pools.q }]",
    "b.yaml": "removed:\n  - { address: pools.q }\nimport: [{ to: pools.y, id: i }]\nmoved:",
  });
  expect(told).toEqual(["SPEC_STATE_ENTRY a.yaml:2:22 pools.q is removed twice"]);
  expect(spec).toBeUndefined();
  const valid = await load({
    "workspace.yaml":
      "include: [a.yaml]\npools: { x: { node_type_id: n }, y: { node_type_id: n } }\nmoved: [{ from: pools.o, to: pools.x }]",
    "a.yaml": "moved: [{ from: pools.p, to: pools.y }]",
  });
  expect(valid.spec?.stateEntries?.moved.map(({ from, at }) => [from, at.file])).toEqual([
    ["pools.o", "workspace.yaml"],
    ["pools.p", "a.yaml"],
  ]);
});

it("refuses a resource that two files define, and names the first definition", async () => {
  const { told, diagnostics } = await load({
    "workspace.yaml": "include: a.yaml\nusers:\n  ada: {}\n",
    "a.yaml": "users: { ada: {} }",
  });
  expect(told).toEqual(["SPEC_DUPLICATE_KEY a.yaml:1:10 users.ada is defined in two files"]);
  expect(diagnostics[0]?.hint).toBe("it is first defined in workspace.yaml:3");
});

it("joins variables, targets and policies of several files", async () => {
  const { told, resource, spec } = await load(
    {
      "workspace.yaml":
        "include: a.yaml\npolicy: { max_deletes: 5 }\nvariables: { x: 1 }\ntargets: { prod: { variables: { x: 2 } } }",
      "a.yaml":
        "policy: { on_immutable_change: replace }\nvariables: { y: 1 }\ntargets: { prod: { pools: { p: { max_capacity: '${var.x}' } } } }\npools: { p: { node_type_id: n } }",
    },
    { target: "prod" },
  );
  expect(told).toEqual([]);
  expect(resource("pools.p").values.max_capacity).toBe(2);
  expect(spec?.policy).toMatchObject({ max_deletes: { count: 5 }, on_immutable_change: "replace" });
});

it("refuses one policy that two files set", async () => {
  const { told } = await load({
    "workspace.yaml": "include: a.yaml\npolicy: { max_deletes: 5 }",
    "a.yaml": "policy: { max_deletes: 6 }",
  });
  expect(told).toEqual(["SPEC_DUPLICATE_KEY a.yaml:1:11 policy.max_deletes is defined in two files"]);
});

it("names an include that is missing, matches nothing, or is not a path", async () => {
  const { told } = await load("include: [none.yaml, 'none/*.yaml', 7, '${var.x}.yaml']");
  expect(told).toEqual([
    "SPEC_NOT_FOUND 1:11 none.yaml does not exist",
    'SPEC_INCLUDE 1:22 the include "none/*.yaml" matches no file',
    "SPEC_TYPE 1:37 include must be a list of paths, not the number 7",
    "SPEC_INCLUDE 1:40 an include cannot contain a variable, because files are read before variables",
  ]);
});

it("says that a pattern matched only links and pipes, which are not read, and names one", async () => {
  const folder = folderWith({ "workspace.yaml": "include: ['t/*.yaml']", "real.yaml": "pools: {}" });
  mkdirSync(join(folder, "t"));
  symlinkSync("../real.yaml", join(folder, "t", "a.yaml"));
  execFileSync("mkfifo", [join(folder, "t", "b.yaml")]);
  const { told, diagnostics } = await loadFrom(folder);
  expect(told).toEqual([
    'SPEC_INCLUDE 1:11 the include "t/*.yaml" matches only links or pipes, which are not read',
  ]);
  expect(diagnostics[0]?.hint).toBe(
    "replace t/a.yaml with a regular file, or include the file that it points to",
  );
});

it("reads the files that a pattern matches, except links", async () => {
  const folder = folderWith({
    "workspace.yaml": "include: ['t/*.yaml']",
    "t/real.yaml": "groups: { g: {} }",
  });
  symlinkSync("real.yaml", join(folder, "t", "a.yaml"));
  expect((await loadFrom(folder)).told).toEqual([]);
});

it("names a loop of symbolic links, as a file or in the way to one", async () => {
  const folder = folderWith({
    "workspace.yaml": "include: [a.yaml, round/c.yaml]\nfiles: { /f: { source: b.yaml } }",
  });
  symlinkSync("b.yaml", join(folder, "a.yaml"));
  symlinkSync("a.yaml", join(folder, "b.yaml"));
  symlinkSync("round", join(folder, "round"));
  expect((await loadFrom(folder)).told).toEqual([
    "SPEC_NOT_FOUND 1:11 a.yaml cannot be read, because symbolic links form a loop",
    "SPEC_NOT_FOUND 1:19 round/c.yaml cannot be read, because symbolic links form a loop",
    "SPEC_NOT_FOUND 2:24 files./f: b.yaml cannot be read, because symbolic links form a loop",
  ]);
});

it("reports the YAML problems of every file", async () => {
  const { told } = await load({
    "workspace.yaml": "include: [a.yaml, b.yaml]",
    "a.yaml": "users: [1",
    "b.yaml": "users: a: b",
  });
  expect(told).toEqual([
    "SPEC_YAML a.yaml:1:10 a bracket or brace is not closed, or its content is not indented enough",
    "SPEC_YAML b.yaml:1:8 the line contains a second key",
  ]);
});

it("refuses a file that is a list or a string", async () => {
  expect((await load("- a\n")).told).toEqual(["SPEC_TYPE 1:1 a spec must be a map of sections, not a list"]);
  expect((await load("hello")).told).toEqual([
    "SPEC_TYPE 1:1 a spec must be a map of sections, not a string",
  ]);
});

it("that is missing hides nothing that is wrong elsewhere, and nothing is said that may only be missing", async () => {
  const { told, spec } = await load({
    "workspace.yaml": `include: [nowhere.yaml, teams/*.yaml]
policy: { max_delete: 5 }
targets: { prod: 7 }
clusters: { c: { num_worker: 1, instance_pool_id: "\${pools.elsewhere.instance_pool_id}", spark_conf: { k: "\${var.elsewhere}" } } }
`,
  });
  expect(spec).toBeUndefined();
  expect(told.map((one) => one.replace(/ \d+:\d+/, ""))).toEqual([
    "SPEC_NOT_FOUND nowhere.yaml does not exist",
    'SPEC_INCLUDE the include "teams/*.yaml" matches no file',
    'SPEC_UNKNOWN_FIELD policy has no field "max_delete"',
    "SPEC_TYPE the target prod must be a map of sections, not the number 7",
    'SPEC_UNKNOWN_FIELD clusters.c has no field "num_worker"',
  ]);
});

it("finds nothing through a link that leads out of the folder", async () => {
  const outside = folderWith({ "deep/secret-name.yaml": "groups: { g: {} }" });
  const folder = folderWith({
    "workspace.yaml": "include: ['out/**/*.yaml']\nnotebooks: { /a: { source_dir: ., include: ['out/**'] } }",
  });
  symlinkSync(outside, join(folder, "out"));
  expect((await loadFrom(folder)).told).toEqual([
    'SPEC_INCLUDE 1:11 the include "out/**/*.yaml" matches no file',
    "SPEC_INCLUDE 2:32 notebooks./a: only links or pipes in . match, and the spec does not read those",
  ]);
});
