// Files that are made to hang, blow up, or mislead their reader, each with the name in its error.

import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A folder whose spec does harm: its files, and what else is to be made in it. */
export interface HostileFiles {
  readonly name: string;
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly make?: (folder: string) => void;
  readonly args?: readonly string[];
  /** The expected code; several if reading meets several errors at once. */
  readonly code: RegExp;
}

const main = (text: string | Uint8Array) => ({ "workspace.yaml": text });
const file = (source: string) => main(`files:\n  /x: { source: ${JSON.stringify(source)} }\n`);
const bytes = (...values: number[]) => Uint8Array.from(values);
/** A spec with which nothing is wrong. */
export const POOL = "pools:\n  p: { node_type_id: Standard_DS3_v2 }\n";
const link = (target: string, name: string) => (folder: string) => symlinkSync(target, join(folder, name));

const bomb = Array.from(
  { length: 40 },
  (_, at) => `  k${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(",")}]`,
);

export const HOSTILE_FILES: readonly HostileFiles[] = [
  {
    name: "an alias bomb",
    files: main(`variables:\n  k0: &a0 [x]\n${bomb.join("\n")}\n`),
    code: /SPEC_TOO_LARGE/,
  },
  { name: "an alias of itself", files: main("pools: &p\n  a: *p\n"), code: /SPEC_/ },
  { name: "a merge key of itself", files: main("pools: &p\n  <<: *p\n"), code: /SPEC_/ },
  { name: "20,000 aliases", files: main(`a: &a x\nb: [${"*a ,".repeat(20_000)}]\n`), code: /SPEC_TOO_LARGE/ },
  { name: "100,000 opened lists", files: main("[".repeat(100_000)), code: /SPEC_TOO_LARGE/ },
  { name: "100,000 opened maps", files: main("{".repeat(100_000)), code: /SPEC_TOO_LARGE/ },
  { name: "100,000 dashes", files: main("- ".repeat(100_000)), code: /SPEC_TOO_LARGE/ },
  { name: "100,000 question marks", files: main("? ".repeat(100_000)), code: /SPEC_TOO_LARGE/ },
  { name: "100,000 colons", files: main("a: ".repeat(100_000)), code: /SPEC_/ },
  {
    name: "100,000 deeper lines",
    files: main(Array.from({ length: 3_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n")),
    code: /SPEC_TOO_LARGE/,
  },
  {
    name: "three nests of 2 KB in three files",
    files: {
      "workspace.yaml": `include: [b.yaml, c.yaml]\nx: ${"[".repeat(2_000)}`,
      "b.yaml": `y: ${"[".repeat(2_000)}`,
      "c.yaml": `z: ${"{".repeat(2_000)}`,
    },
    code: /SPEC_TOO_LARGE/,
  },
  {
    name: "40,000 unknown keys",
    files: main(`pools:\n  p:\n${Array.from({ length: 40_000 }, (_, at) => `    k${at}: 1\n`).join("")}`),
    code: /SPEC_UNKNOWN_FIELD/,
  },
  {
    name: "40,000 times the same key",
    files: main(`pools:\n${"  p: { node_type_id: a }\n".repeat(40_000)}`),
    code: /SPEC_DUPLICATE_KEY/,
  },
  { name: "a key of a megabyte", files: main(`${"k".repeat(1 << 20)}: 1\n`), code: /SPEC_/ },
  { name: "9 MB of comment", files: main(`# ${"x".repeat(9 << 20)}\n`), code: /SPEC_TOO_LARGE/ },
  { name: "__proto__ as a section", files: main("__proto__: { polluted: true }\n"), code: /SPEC_YAML/ },
  {
    name: "__proto__ as a field",
    files: main("pools:\n  p: { node_type_id: a, __proto__: { x: 1 } }\n"),
    code: /SPEC_YAML/,
  },
  {
    name: "constructor as a kind",
    files: main("constructor: { prototype: { x: 1 } }\n"),
    code: /SPEC_UNKNOWN_KIND/,
  },
  {
    name: "a reference into a prototype",
    files: main(
      `${POOL}clusters:\n  c: { spark_version: a, num_workers: 1, instance_pool_id: "\${pools.__proto__.constructor}" }\n`,
    ),
    code: /SPEC_REFERENCE/,
  },
  {
    name: "a variable of a prototype",
    files: main(`pools:\n  p: { node_type_id: "\${var.__proto__}" }\n`),
    code: /SPEC_VARIABLE/,
  },
  { name: "a tag", files: main("pools: !!js/function 'x'\n"), code: /SPEC_YAML/ },
  { name: "a binary tag", files: main("pools: !!binary aGk=\n"), code: /SPEC_YAML/ },
  { name: "a directive", files: main("%TAG ! tag:x,2000:\n---\npools: {}\n"), code: /SPEC_YAML/ },
  { name: "two documents", files: main(`${POOL}---\n${POOL}`), code: /SPEC_YAML/ },
  { name: "NUL", files: main("pools:\n  a\0b: {}\n"), code: /SPEC_YAML/ },
  { name: "ESC", files: main("pools:\n  a\u001b[2J: {}\n"), code: /SPEC_YAML/ },
  {
    name: "bytes that are not UTF-8",
    files: main(bytes(0x70, 0x3a, 0x20, 0xff, 0xfe, 0xc3, 0x28)),
    code: /SPEC_YAML/,
  },
  { name: "UTF-16", files: main(bytes(0xff, 0xfe, 0x70, 0, 0x3a, 0, 0x0a, 0)), code: /SPEC_YAML/ },
  {
    name: "a byte order mark in the middle",
    files: main(`pools:\n  \ufeffp: { node_typ: a }\n`),
    code: /SPEC_/,
  },
  {
    name: "a number above 2^53",
    files: main("pools:\n  p: { node_type_id: a, max_capacity: 9007199254740993 }\n"),
    code: /SPEC_/,
  },
  {
    name: "a number of 100,000 digits",
    files: main(`pools:\n  p: { node_type_id: a, max_capacity: ${"9".repeat(100_000)} }\n`),
    code: /SPEC_/,
  },
  { name: "1e999", files: main("pools:\n  p: { node_type_id: a, max_capacity: 1e999 }\n"), code: /SPEC_/ },
  {
    name: "an include that climbs",
    files: main("include: [../../../../etc/passwd]\n"),
    code: /SPEC_OUTSIDE/,
  },
  { name: "an absolute include", files: main("include: [/etc/passwd]\n"), code: /SPEC_OUTSIDE/ },
  {
    name: "an include through a link",
    files: main("include: [p.yaml]\n"),
    make: link("/etc/passwd", "p.yaml"),
    code: /SPEC_OUTSIDE/,
  },
  {
    name: "a folder that is a link",
    files: main("include: [d/passwd]\n"),
    make: link("/etc", "d"),
    code: /SPEC_OUTSIDE/,
  },
  {
    name: "a link to itself",
    files: main("include: [l.yaml]\n"),
    make: link("l.yaml", "l.yaml"),
    code: /SPEC_/,
  },
  {
    name: "a named pipe",
    files: main("include: [f.yaml]\n"),
    make: (folder) => execFileSync("mkfifo", [join(folder, "f.yaml")]),
    code: /SPEC_NOT_FOUND/,
  },
  {
    name: "a spec that is a named pipe",
    files: { "other.yaml": "" },
    make: (folder) => execFileSync("mkfifo", [join(folder, "f.yaml")]),
    args: ["-f", "f.yaml"],
    code: /SPEC_NOT_FOUND/,
  },
  { name: "a spec that is a folder", files: { "other.yaml": "" }, args: ["-f", "."], code: /SPEC_NOT_FOUND/ },
  { name: "a spec that is /dev/zero", files: {}, args: ["-f", "/dev/zero"], code: /SPEC_NOT_FOUND/ },
  { name: "a spec in /proc", files: {}, args: ["-f", "/proc/self/environ"], code: /SPEC_/ },
  {
    name: "a variable file that is /dev/zero",
    files: main(POOL),
    args: ["--var-file", "/dev/zero"],
    code: /CLI_FILE/,
  },
  {
    name: "a variable file that is a named pipe",
    files: main(POOL),
    make: (folder) => execFileSync("mkfifo", [join(folder, "v")]),
    args: ["--var-file", "v"],
    code: /CLI_FILE/,
  },
  {
    name: "a source in /dev through a link",
    files: file("z"),
    make: link("/dev/zero", "z"),
    code: /SPEC_OUTSIDE/,
  },
  {
    name: "a source in /proc through a link",
    files: file("e"),
    make: link("/proc/self/environ", "e"),
    code: /SPEC_OUTSIDE/,
  },
  { name: "a source that climbs", files: file("../../etc/passwd"), code: /SPEC_OUTSIDE/ },
  { name: "a source with a NUL", files: main('files:\n  /x: { source: "a\\0b" }\n'), code: /SPEC_/ },
  {
    name: "a source that is a pipe",
    files: file("f"),
    make: (folder) => execFileSync("mkfifo", [join(folder, "f")]),
    code: /SPEC_NOT_FOUND/,
  },
  {
    name: "a notebook of 11 MB",
    files: { ...main("notebooks:\n  /n: { source: n.py }\n"), "n.py": "x".repeat(11 << 20) },
    code: /SPEC_TOO_LARGE|SPEC_LIMIT/,
  },
  {
    name: "includes in a circle, of which one is bad",
    files: {
      "workspace.yaml": "include: [a.yaml]\n",
      "a.yaml": "include: [b.yaml]\n",
      "b.yaml": "include: [a.yaml, workspace.yaml]\nnope: 1\n",
    },
    code: /SPEC_UNKNOWN_KIND/,
  },
  {
    name: "3,000 included files",
    files: {
      "workspace.yaml": 'include: ["d/*.yaml"]\n',
      ...Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`d/${at}.yaml`, ""])),
    },
    code: /SPEC_TOO_LARGE/,
  },
  {
    name: "a pattern that backtracks",
    files: main(`include: ["${"*a".repeat(60)}*b.yaml"]\n`),
    make: (folder) => writeFileSync(join(folder, `${"a".repeat(200)}.yaml`), ""),
    code: /SPEC_INCLUDE/,
  },
  {
    name: "braces that multiply",
    files: main(`include: ["${"{a,b,c,d}".repeat(20)}.yaml"]\n`),
    code: /SPEC_INCLUDE/,
  },
  {
    name: "a variable of a megabyte used 100 times",
    files: main(
      `variables: { v: ${"x".repeat(1 << 20)} }\npools:\n${Array.from({ length: 100 }, (_, at) => `  p${at}: { node_type_id: "\${var.v}" }\n`).join("")}`,
    ),
    code: /SPEC_/,
  },
  {
    name: "a circle of 5,000 references",
    files: main(
      `clusters:\n${Array.from({ length: 5_000 }, (_, at) => `  c${at}: { spark_version: a, num_workers: 1, instance_pool_id: "\${pools.p.instance_pool_id}", spark_conf: { x: "\${clusters.c${(at + 1) % 5_000}.cluster_id}" } }\n`).join("")}${POOL}`,
    ),
    code: /SPEC_CYCLE/,
  },
];
