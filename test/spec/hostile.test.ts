import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith, load, loadFrom } from "./folder.ts";

/** A chain of anchors, each nine times the one before. */
function bomb(levels: number): string {
  const lines = ["x-0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let at = 1; at < levels; at++)
    lines.push(`x-${at}: &a${at} [${Array.from({ length: 9 }, () => `*a${at - 1}`).join(", ")}]`);
  return lines.join("\n");
}

const OPENING = 100_000;

describe("files that would exhaust a reader", () => {
  it.each([
    ["open brackets", "[".repeat(OPENING), "SPEC_TOO_LARGE"],
    ["open braces", "{".repeat(OPENING), "SPEC_TOO_LARGE"],
    ["pairs of brackets and braces", "[{".repeat(OPENING), "SPEC_TOO_LARGE"],
    ["brackets behind keys", "a: ".concat("[a: ".repeat(OPENING)), "SPEC_TOO_LARGE"],
    ["dashes on one line", "- ".repeat(OPENING), "SPEC_TOO_LARGE"],
    ["question marks on one line", "? ".repeat(OPENING), "SPEC_TOO_LARGE"],
    ["colons on one line", ": ".repeat(OPENING), "SPEC_TOO_LARGE"],
    [
      "lines that go in by one space",
      Array.from({ length: 200 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
      "SPEC_TOO_LARGE",
    ],
    ["an alias bomb", bomb(12), "SPEC_TOO_LARGE"],
    ["a merge bomb", `${bomb(5)}\nusers: { <<: [${"*a4, ".repeat(50)}] }`, "SPEC_YAML"],
    ["a key without end", `users: { "${"k".repeat(2000)}": {} }`, "SPEC_TOO_LARGE"],
    ["many documents", "---\n".repeat(OPENING), "SPEC_YAML"],
    ["commas only", `users: [${",".repeat(OPENING)}`, "SPEC_YAML"],
  ])("refuses %s, and says where", async (_name, text, code) => {
    const { spec, diagnostics } = await load(text);
    expect(spec).toBeUndefined();
    expect(diagnostics[0]).toMatchObject({ code, at: { file: "workspace.yaml" } });
    expect(diagnostics.length).toBeLessThan(100);
  });

  it("three nests of 2 KB in three files are refused separately", async () => {
    const nest = "[".repeat(2048);
    const { told } = await load({
      "workspace.yaml": "include: ['a.yaml', 'b.yaml', 'c.yaml']",
      "a.yaml": nest,
      "b.yaml": nest,
      "c.yaml": nest,
    });
    expect(told.map((one) => one.split(" ").slice(0, 2).join(" "))).toEqual([
      "SPEC_TOO_LARGE a.yaml:1:65",
      "SPEC_TOO_LARGE b.yaml:1:65",
      "SPEC_TOO_LARGE c.yaml:1:65",
    ]);
  });

  it("40,000 keys are read", async () => {
    const keys = Array.from({ length: 40_000 }, (_, at) => `  user-${at}: {}`).join("\n");
    const { spec, told } = await load(`users:\n${keys}\n`);
    expect(told).toEqual([]);
    expect(spec?.resources.size).toBe(40_000);
  });

  it("40,000 keys of which the last is duplicate give one error", async () => {
    const keys = Array.from({ length: 40_000 }, (_, at) => `user-${at}: {}`).join(", ");
    const { told } = await load(`users: { ${keys}, user-39999: {} }`);
    expect(told).toEqual([expect.stringMatching(/^SPEC_DUPLICATE_KEY 1:\d+ duplicate key "user-39999"$/)]);
  });

  it("a variable that expands too much is refused", async () => {
    const list = JSON.stringify(Array.from({ length: 2000 }, () => "x"));
    const uses = Array.from({ length: 100 }, (_, at) => `u${at}: { groups: "\${var.l}" }`).join(", ");
    const { told } = await load(`variables: { l: { default: ${list} } }\nusers: { ${uses} }`);
    expect(told).toContainEqual(
      expect.stringMatching(/^SPEC_TOO_LARGE 2:\d+ expanded variables exceed the size limit$/),
    );
  });

  it.each([
    ["a concatenation of numbers", `"\${${"local.n + ".repeat(30)}local.n}"`],
    ["20,000 calls with a long list", `[${'"${size(local.n + [1])}", '.repeat(20_000)}0]`],
  ])("%s is refused", async (_name, value) => {
    const numbers = JSON.stringify(Array.from({ length: 100_000 }, () => 1));
    const { told } = await load(`locals: { n: ${numbers}, x: ${value} }\nusers: { a: {} }`);
    expect(told).toEqual([
      expect.stringMatching(
        /^SPEC_TOO_LARGE 1:\d+ (?:the evaluation makes a value that is too large|the expressions of the spec take too many steps)$/,
      ),
    ]);
  });

  it("20,000 moved entries in a chain, and in a cycle, are checked", async () => {
    const moves = Array.from({ length: 20_000 }, (_, at) => `{ from: pools.${at}, to: pools.${at + 1} }`);
    const chain = await load(`users: { a: {} }\nmoved: [${moves.join(", ")}]`);
    expect(chain.told).toEqual([
      expect.stringContaining("pools.19999 is moved to pools.20000, which the spec does not declare"),
    ]);
    const cycle = await load(
      `users: { a: {} }\nmoved: [${moves.join(", ")}, { from: pools.20000, to: pools.0 }]`,
    );
    expect(cycle.told).toEqual([
      expect.stringMatching(/moved entries form a cycle: pools\.0 -> .* -> pools\.9 -> … -> pools\.0$/),
    ]);
  });

  it("a cycle of 5,000 resources and references to 5,000 missing ones are located errors", async () => {
    const circle = Array.from(
      { length: 5000 },
      (_, at) => `  g${at}: { members: { groups: [g${(at + 1) % 5000}] } }`,
    );
    const lost = Array.from(
      { length: 5000 },
      (_, at) => `  c${at}: { instance_pool_id: "\${pools.p${at}.instance_pool_id}" }`,
    );
    const { told } = await load(`groups:\n${circle.join("\n")}\nclusters:\n${lost.join("\n")}\n`);
    expect(told).toHaveLength(5001);
    expect(told[0]).toMatch(
      /^SPEC_CYCLE 2:3 dependency cycle: groups\.g0 -> groups\.g1 -> .* … -> groups\.g0$/,
    );
  });
});

describe("files that would be more than data", () => {
  it.each([
    ["__proto__ as a kind", "__proto__: { a: 1 }", "1:1 the key __proto__ cannot be used"],
    [
      "__proto__ as a name",
      "users: { __proto__: { active: true } }",
      "1:10 the key __proto__ cannot be used",
    ],
    [
      "a merge that brings __proto__",
      "x-a: &a { __proto__: {} }\nusers: { <<: *a }",
      "1:11 the key __proto__ cannot be used",
    ],
    ["a tag", "users: !!js/function 'x'", "1:8 the tag !!js/function cannot be used"],
    ["a tag on a key", "!!binary users: {}", "1:1 the tag !!binary cannot be used"],
    ["a directive", "%YAML 1.1\n---\nusers: {}", "1:1 YAML directives cannot be used"],
    ["NUL", "users: { a\0: {} }", "1:11 the file contains the control character U+0000"],
    ["ESC", "users: { a: {} } # \u001b[2J", "1:20 the file contains the control character U+001B"],
    ["a C1 control", "users: { a: {} } # \u009b31m", "1:20 the file contains the control character U+009B"],
    ["a list as a key", "[users]: {}", "1:1 a key must be a string"],
    ["half a character", 'users: { "\\ud800": {} }', "1:10 a string contains an unpaired Unicode surrogate"],
    ["an alias to itself", "x-a: &a [*a]", "1:10 no anchor &a exists above this alias"],
    ["an alias to nothing", "users: *missing", "1:8 no anchor &missing exists above this alias"],
  ])("%s is refused", async (_name, text, problem) => {
    const { spec, told } = await load(text);
    expect(spec).toBeUndefined();
    expect(told).toEqual([`SPEC_YAML ${problem}`]);
  });

  it("takes names of JavaScript's own members for names", async () => {
    const { spec, told } = await load("users: { constructor: {}, toString: {}, hasOwnProperty: {} }");
    expect(told).toEqual([]);
    expect([...(spec?.resources.keys() ?? [])]).toEqual([
      "users.constructor",
      "users.toString",
      "users.hasOwnProperty",
    ]);
  });

  it("refuses the key __proto__ also where an expression makes it", async () => {
    const { spec, told } = await load(
      'locals: { k: __proto__ }\npools: { a: { node_type_id: x, "${local.k}": { max_capacity: 5 } } }',
    );
    expect(spec).toBeUndefined();
    expect(told).toEqual(["SPEC_YAML 2:32 the key __proto__ cannot be used"]);
  });

  it("does not find inherited members as fields, kinds, variables or attributes", async () => {
    const { told } = await load(
      'constructor: {}\npools: { a: { node_type_id: "${var.toString}", valueOf: 1 } }\nclusters: { c: { instance_pool_id: "${pools.a.constructor}" } }',
    );
    expect(told.map((one) => one.split(" ")[0])).toEqual([
      "SPEC_UNKNOWN_KIND",
      "SPEC_VARIABLE",
      "SPEC_UNKNOWN_FIELD",
      "SPEC_REFERENCE",
    ]);
  });

  it("reads a byte order mark and Windows line ends as if they were not there", async () => {
    const { told, resource } = await load("\ufeffusers:\r\n  a:\r\n    active: true\r\n");
    expect(told).toEqual([]);
    expect(resource("users.a").values).toEqual({ userName: "a", active: true });
    expect(resource("users.a").at).toMatchObject({ line: 2, column: 3 });
  });

  it("says where a file stops being UTF-8", async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode("users:\n  é"), 0xff, 0xfe, 0x3a]);
    const { told } = await load({ "workspace.yaml": bytes });
    expect(told).toEqual(["SPEC_YAML 2:4 the file is not UTF-8 text"]);
    const { told: utf16 } = await load({ "workspace.yaml": new Uint8Array([0xff, 0xfe, 0x61, 0]) });
    expect(utf16).toEqual(["SPEC_YAML 1:1 the file is not UTF-8 text"]);
  });

  it("keeps numbers beyond 2^53 digit for digit, and refuses invalid numbers", async () => {
    const { resource } = await load("pools: { p: { node_type_id: x, serial: 9007199254740993 } }");
    expect(resource("pools.p").values.serial).toBe(9007199254740993n);
    const { told } = await load("pools: { p: { node_type_id: x, serial: .inf, max_capacity: 1e999 } }");
    expect(told).toEqual([
      "SPEC_VALUE 1:40 the number is too large or not valid",
      "SPEC_VALUE 1:60 the number is too large or not valid",
    ]);
  });
});

describe("paths that lead elsewhere", () => {
  it.each([
    "/etc/passwd",
    "../outside.yaml",
    "a/../../outside.yaml",
    "../*.yaml",
    "**/../../*.yaml",
    "C:/x.yaml",
    "..\\\\x.yaml",
  ])("the include %s is refused", async (pattern) => {
    const { spec, told } = await load(`include: ["${pattern}"]`);
    expect(spec).toBeUndefined();
    expect(told).toEqual([
      expect.stringMatching(/^SPEC_OUTSIDE 1:11 the include .* points outside the spec's folder$/),
    ]);
  });

  it("a link that leads out is refused, and nothing of its target is shown", async () => {
    const folder = folderWith({ "workspace.yaml": "include: [link.yaml, folder/x.yaml]" });
    const outside = folderWith({ "x.yaml": "password: hunter2" });
    symlinkSync(join(outside, "x.yaml"), join(folder, "link.yaml"));
    symlinkSync(outside, join(folder, "folder"));
    const { told, diagnostics } = await loadFrom(folder);
    expect(told).toEqual([
      "SPEC_OUTSIDE 1:11 link.yaml is outside the spec's folder",
      "SPEC_OUTSIDE 1:22 folder/x.yaml is outside the spec's folder",
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });

  it("a main file that is a link out of its folder is refused", async () => {
    const outside = folderWith({ "x.yaml": "password: hunter2" });
    const folder = folderWith({});
    symlinkSync(join(outside, "x.yaml"), join(folder, "workspace.yaml"));
    const { told } = await loadFrom(folder);
    expect(told).toEqual(["SPEC_OUTSIDE workspace.yaml is outside the spec's folder"]);
  });

  it("a link that stays inside is followed", async () => {
    const folder = folderWith({ "workspace.yaml": "include: link.yaml", "real.yaml": "users: { a: {} }" });
    symlinkSync("real.yaml", join(folder, "link.yaml"));
    const { told, spec } = await loadFrom(folder);
    expect(told).toEqual([]);
    expect(spec?.resources.size).toBe(1);
  });

  it("circular links, folders, pipes, and devices are not files", async () => {
    const folder = folderWith({ "workspace.yaml": "include: [a.yaml, folder.yaml, pipe.yaml, device.yaml]" });
    symlinkSync("b.yaml", join(folder, "a.yaml"));
    symlinkSync("a.yaml", join(folder, "b.yaml"));
    mkdirSync(join(folder, "folder.yaml"));
    execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
    symlinkSync("/dev/zero", join(folder, "device.yaml"));
    const { told } = await loadFrom(folder);
    expect(told).toEqual([
      "SPEC_NOT_FOUND 1:11 a.yaml cannot be read, because symbolic links form a loop",
      "SPEC_NOT_FOUND 1:19 folder.yaml is not a regular file",
      "SPEC_NOT_FOUND 1:32 pipe.yaml is not a regular file",
      "SPEC_OUTSIDE 1:43 device.yaml is outside the spec's folder",
    ]);
  });

  it("a pattern passes over pipes, links and hidden folders", async () => {
    const folder = folderWith({
      "workspace.yaml": "include: '**/*.yml'",
      "a/b.yml": "users: { a: {} }",
      ".git/c.yml": "{",
      "node_modules/d.yml": "{",
    });
    execFileSync("mkfifo", [join(folder, "a/pipe.yml")]);
    symlinkSync("/etc", join(folder, "etc"));
    const { told, spec } = await loadFrom(folder);
    expect(told).toEqual([]);
    expect(spec?.files.map(({ path }) => path)).toEqual(["workspace.yaml", "a/b.yml"]);
  });

  it("a name with a NUL is not a path", async () => {
    const { told } = await load('include: "a\\0b"');
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^SPEC_OUTSIDE 1:10/);
  });

  it("a file beyond the limit is not read", async () => {
    const folder = folderWith({ "workspace.yaml": "include: big.yaml" });
    writeFileSync(join(folder, "big.yaml"), "#".repeat((8 << 20) + 1));
    const { told } = await loadFrom(folder);
    expect(told).toEqual(["SPEC_TOO_LARGE 1:10 big.yaml is too large: 8,388,609 bytes (limit: 8,388,608)"]);
  });

  it("the main file beyond the limit is not read, and the hint says how to make it smaller", async () => {
    const folder = folderWith({});
    writeFileSync(join(folder, "workspace.yaml"), "#".repeat((8 << 20) + 1));
    const { diagnostics } = await loadFrom(folder);
    expect(diagnostics).toMatchObject([
      { code: "SPEC_TOO_LARGE", hint: "split it into files, and list them under include" },
    ]);
  });
});

describe("a separate process", () => {
  it("ends with diagnostics for nests that abort a reader without a limit", () => {
    const folder = folderWith({ "workspace.yaml": `users: ${"[{".repeat(500_000)}` });
    const script = `
      const { loadSpec } = await import(${JSON.stringify(new URL("../../src/spec/load-spec.ts", import.meta.url).href)});
      const { registry } = await import(${JSON.stringify(new URL("./kinds.ts", import.meta.url).href)});
      const { diagnostics } = await loadSpec({ file: ${JSON.stringify(join(folder, "workspace.yaml"))}, env: {}, registry, secrets: "skip", keyed: () => "" });
      console.log(diagnostics.map((one) => one.code).join());
    `;
    const ran = spawnSync(process.execPath, ["--stack-size=500", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect({ status: ran.status, stdout: ran.stdout, signal: ran.signal }).toEqual({
      status: 0,
      stdout: "SPEC_TOO_LARGE\n",
      signal: null,
    });
  });
});

describe("a chain of 20,000 dependencies", () => {
  it("is read without a report of a cycle where two paths lead to one resource", async () => {
    const chain = Array.from(
      { length: 19_999 },
      (_, at) => `  g${at}: { members: { groups: [g${at + 1}, g20000] } }`,
    );
    const { told } = await load(
      `groups:\n${chain.join("\n")}\n  g19999: { members: { groups: [g20000] } }\n  g20000: {}\n`,
    );
    expect(told).toEqual([]);
  });
});
