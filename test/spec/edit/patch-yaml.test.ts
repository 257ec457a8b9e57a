// A JSON Patch on a YAML text: the data is what the patch says, and the text that is not about it stays.

import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../../src/core/json.ts";
import { documentData, patchYaml } from "../../../src/spec/edit/patch-yaml.ts";
import { documentPatch } from "../../../src/spec/edit/spec-edits.ts";
import { Findings } from "../../../src/spec/model/findings.ts";
import { SourceText } from "../../../src/spec/model/source.ts";
import { plain } from "../../../src/spec/model/tree.ts";
import { readYaml } from "../../../src/spec/yaml/read-yaml.ts";

const TEXT = `# The team's workspace.
pools:
    # Shared by everyone.
    shared: {node_type_id: Standard_DS3_v2,   max_capacity: 9} # warm
    spare:
        node_type_id: 'Standard_DS3_v2'   # cheap
        custom_tags: { a: "1", b: '2' }

clusters:
  etl:
    num_workers: 2 # two are enough
    spark_conf:
      # speed
      spark.speculation: "true"
      spark.x: y

    libraries:
    - jar: dbfs:/a.jar # first
    - jar: dbfs:/b.jar
      other: 1
  empty:
  braces: {}
`;

function patched(path: string, value: Json): string {
  return patchYaml(TEXT, [{ op: "replace", path, value }]);
}

/** The lines that differ. */
function lines(after: string): readonly string[] {
  const [old, now] = [TEXT.split("\n"), after.split("\n")];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

describe("patchYaml", () => {
  test("replaces a scalar and keeps its comment and its quotes", () => {
    expect(lines(patched("/clusters/etl/num_workers", 8))).toEqual([
      "-    num_workers: 2 # two are enough",
      "+    num_workers: 8 # two are enough",
    ]);
    expect(lines(patched("/pools/spare/node_type_id", "Big"))).toEqual([
      "-        node_type_id: 'Standard_DS3_v2'   # cheap",
      "+        node_type_id: 'Big'   # cheap",
    ]);
    expect(lines(patched("/pools/shared/max_capacity", 12))).toEqual([
      "-    shared: {node_type_id: Standard_DS3_v2,   max_capacity: 9} # warm",
      "+    shared: {node_type_id: Standard_DS3_v2,   max_capacity: 12} # warm",
    ]);
  });

  test("adds a member to a map on one line, to a map on lines, to an empty value, and to braces", () => {
    const add = (path: string, value: Json) => lines(patchYaml(TEXT, [{ op: "add", path, value }]));
    expect(add("/pools/shared/min_idle_instances", 1)).toEqual([
      "-    shared: {node_type_id: Standard_DS3_v2,   max_capacity: 9} # warm",
      "+    shared: {node_type_id: Standard_DS3_v2,   max_capacity: 9, min_idle_instances: 1} # warm",
    ]);
    expect(add("/pools/spare/max_capacity", 3)).toEqual(["+        max_capacity: 3"]);
    expect(lines(patched("/clusters/empty", { num_workers: 1 }))).toEqual(["+    num_workers: 1"]);
    expect(add("/clusters/braces/num_workers", 1)).toEqual([
      "-  braces: {}",
      "+  braces: { num_workers: 1 }",
    ]);
    expect(add("/clusters/etl/custom_tags", { team: "a b" })).toEqual(["+    custom_tags: { team: a b }"]);
  });

  test("removes a member with the comment that describes it, and leaves an empty map as braces", () => {
    expect(
      lines(patchYaml(TEXT, [{ op: "remove", path: "/clusters/etl/spark_conf/spark.speculation" }])),
    ).toEqual(["-      # speed", '-      spark.speculation: "true"']);
    const both = patchYaml(TEXT, [
      { op: "remove", path: "/clusters/etl/spark_conf/spark.speculation" },
      { op: "remove", path: "/clusters/etl/spark_conf/spark.x" },
    ]);
    expect(lines(both)).toContain("+    spark_conf: {}");
    expect(lines(patchYaml(TEXT, [{ op: "remove", path: "/pools/spare/custom_tags/a" }]))).toEqual([
      `-        custom_tags: { a: "1", b: '2' }`,
      "+        custom_tags: { b: '2' }",
    ]);
  });

  test("adds, removes, and changes items of a list where they are", () => {
    expect(
      lines(
        patchYaml(TEXT, [{ op: "add", path: "/clusters/etl/libraries/1", value: { jar: "dbfs:/c.jar" } }]),
      ),
    ).toEqual(["+    - { jar: dbfs:/c.jar }"]);
    expect(lines(patchYaml(TEXT, [{ op: "remove", path: "/clusters/etl/libraries/0" }]))).toEqual([
      "-    - jar: dbfs:/a.jar # first",
    ]);
    expect(lines(patchYaml(TEXT, [{ op: "remove", path: "/clusters/etl/libraries/1/jar" }]))).toEqual([
      "-    - jar: dbfs:/b.jar",
      "-      other: 1",
      "+    - other: 1",
    ]);
  });

  test("shows invisible characters as escapes", () => {
    expect(patched("/clusters/etl/spark_conf/spark.x", "a\u202eb\u0007")).toContain(
      'spark.x: "a\\u202eb\\u0007"',
    );
  });

  test("keeps carriage returns", () => {
    const text = "a:\r\n  b: 1\r\n";
    expect(patchYaml(text, [{ op: "add", path: "/a/c", value: 2 }])).toBe("a:\r\n  b: 1\r\n  c: 2\r\n");
  });
});

/** A small generator of documents, so that each run tries the same ones. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

function value(next: () => number, depth: number): Json {
  const kind = Math.floor(next() * (depth > 0 ? 8 : 5));
  if (kind < 2) return Math.floor(next() * 9);
  if (kind === 2)
    return (
      ["plain", "a: b", "- x", "true", "12", "it's", "two\nlines", "", "#x", "[", "a, b"][
        Math.floor(next() * 11)
      ] ?? ""
    );
  if (kind === 3) return next() > 0.5;
  if (kind === 4) return null;
  const size = Math.floor(next() * 4);
  if (kind === 5) return Array.from({ length: size }, () => value(next, depth - 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [
      ["a", "b", "c", "spark.d", "e f"][Math.floor(next() * 5)],
      value(next, depth - 1),
    ]),
  );
}

function yamlOf(json: Json, next: () => number, indent = ""): string {
  if (json === null || typeof json !== "object" || Object.keys(json).length === 0 || next() < 0.3)
    return ` ${JSON.stringify(json)}${indent !== "" && next() < 0.3 ? " # note" : ""}`;
  if (Array.isArray(json))
    return json
      .map((item: Json) => `\n${indent}-${yamlOf(item, next, `${indent}  `).replace(/^\n\s*/, " ")}`)
      .join("");
  return Object.entries(json)
    .map(
      ([key, inner]) =>
        `\n${indent}${next() < 0.2 ? `# about ${key}\n${indent}` : ""}${key}:${yamlOf(inner, next, `${indent}  `)}`,
    )
    .join("");
}

describe("comments", () => {
  const LIST = `users:
  # the boss
  - a
  # the deputy
  - b
  # the cook
  - c
`;

  test("above an item of a list leave with it when another item comes to its position", () => {
    const patch = documentPatch({ users: ["a", "b", "c"] }, { users: ["a", "c", "d"] }, [], () => false);
    expect(patchYaml(LIST, patch)).toBe("users:\n  # the boss\n  - a\n  # the cook\n  - c\n  - d\n");
    const whole = documentPatch({ users: ["a", "b", "c"] }, { users: ["d"] }, [], () => false);
    expect(patchYaml(LIST, whole)).toBe("users:\n  - d\n");
    const flow = "users: [\n  # the boss\n  a,\n  b, # the deputy\n]\n";
    const other = documentPatch({ users: ["a", "b"] }, { users: ["c", "b"] }, [], () => false);
    expect(patchYaml(flow, other)).toBe("users: [\n  c, b, # the deputy\n]\n");
  });

  test("above an item of a list stay with it when another item comes before it", () => {
    const patch = documentPatch({ users: ["a", "b", "c"] }, { users: ["a", "d", "b", "c"] });
    expect(patchYaml(LIST, patch)).toBe(LIST.replace("  # the deputy", "  - d\n  # the deputy"));
  });

  test.each([
    ["users: [\n  a, # the boss\n  b, # the deputy\n]\n", "  b, # the deputy\n  c,\n]\n"],
    ["users: [\n  a, # the boss\n  b # the deputy\n]\n", "  b, # the deputy\n  c\n]\n"],
    ["users: [a, # the boss\n  b] # all\n", "\n  b, c] # all\n"],
    ["users: [\n  a, b # both\n  ]\n", "  a, b, # both\n  c\n  ]\n"],
    ["users: [a, b # both\n  ]\n", "users: [a, b, # both\n  c\n  ]\n"],
    ["users: [\r\n  a,\r\n  b, # the deputy\r\n]\r\n", "  b, # the deputy\r\n  c,\r\n]\r\n"],
  ])("behind the last item in brackets stay with it when another item comes after it: %j", (text, end) => {
    const result = patchYaml(text, [{ op: "add", path: "/users/-", value: "c" }]);
    expect(result.slice(-end.length)).toBe(end);
    expect(parse(result)).toEqual({ users: ["a", "b", "c"] });
  });

  test("behind the last member in braces stay with it when another member comes after it", () => {
    const text = "tags: {\n  a: 1, # one\n  b: 2, # two\n}\n";
    expect(patchYaml(text, [{ op: "add", path: "/tags/c", value: 3 }])).toBe(
      text.replace("# two\n", "# two\n  c: 3,\n"),
    );
  });

  test("above an item in brackets stay with it when another item comes before it", () => {
    const text = "users: [\n  # the boss\n  a,\n  # the deputy\n  b,\n]\n";
    const withItemAt = (at: number) => patchYaml(text, [{ op: "add", path: `/users/${at}`, value: "c" }]);
    expect(withItemAt(1)).toBe(text.replace("  # the deputy", "  c,\n  # the deputy"));
    expect(withItemAt(0)).toBe(text.replace("  # the boss", "  c,\n  # the boss"));
  });

  const replaced = (text: string, path: string, value: Json) =>
    patchYaml(text, [{ op: "replace", path, value }]);
  const removed = (text: string, path: string) => patchYaml(text, [{ op: "remove", path }]);

  test("behind the head of a block of text stay with its value", () => {
    const text = "a:\n  b: | # why\n    x\n\n  c: 1\n";
    expect(replaced(text, "/a/b", "1")).toBe("a:\n  b: |- # why\n    1\n\n  c: 1\n");
    expect(replaced(text, "/a/b", "y\nz\n")).toBe("a:\n  b: | # why\n    y\n    z\n\n  c: 1\n");
    expect(replaced(text, "/a/b", 1)).toBe("a:\n  b: 1 # why\n\n  c: 1\n");
    expect(replaced(text, "/a/b", { d: { e: 1, f: 2 } })).toBe(
      "a:\n  b: # why\n    d: { e: 1, f: 2 }\n\n  c: 1\n",
    );
    expect(replaced("a:\n- > # why\n  x\n  y\n- z\n", "/a/0", "q")).toBe("a:\n- q # why\n- z\n");
  });

  test("and empty lines after a block of text stay", () => {
    const text = "a:\n  b: |+\n    x\n\nc: |\n  x\n\n# d\nd: 1\n";
    expect(patchYaml(text, [{ op: "add", path: "/a/e", value: 1 }])).toBe(
      text.replace("x\n\nc", "x\n\n  e: 1\nc"),
    );
    expect(replaced(text, "/c", "y\n")).toBe(text.replace("|\n  x", "|\n  y"));
    expect(removed("a: 1\nc: |\n  x\n\n# d\nd: 1\n", "/c")).toBe("a: 1\n\n# d\nd: 1\n");
  });

  test("between a key and its value stay", () => {
    const text = "a:\n  b: # head\n    # why\n    10 # ten\n  c: 1\n";
    expect(replaced(text, "/a/b", 3)).toBe(text.replace("10", "3"));
    expect(replaced("a:\n-\n  # why\n  x\n", "/a/0", "y")).toBe("a:\n-\n  # why\n  y\n");
  });

  test("of a removed member in braces over lines are removed, and the others stay", () => {
    const text = "a: { q: { k: 1 }, # q\n  p: { k: 2 } # p\n}\n# end\n";
    expect(removed(text, "/a/p")).toBe("a: { q: { k: 1 } # q\n}\n# end\n");
    expect(removed(text, "/a/q")).toBe("a: { p: { k: 2 } # p\n}\n# end\n");
    expect(removed("a: { q: 1, # q\n  p: 2 }\n", "/a/p")).toBe("a: { q: 1 # q\n  }\n");
    expect(removed("a: { q: 1, # q\n  # about p\n  p: 2, # p\n  }\n", "/a/p")).toBe("a: { q: 1, # q\n  }\n");
    expect(removed("a: { q: 1, # q\n  # about p\n  p: 2 # p\n  }\n", "/a/q")).toBe(
      "a: {\n  # about p\n  p: 2 # p\n  }\n",
    );
  });

  test("of a removed member in braces with a line for each are removed", () => {
    const text =
      "a: {\n  # about q\n  q: 1, # q\n  # about r\n  r: [2], # r\n\n  # about p\n  p: 3 # p\n} # end\n";
    const [q, r, p] = [
      "  # about q\n  q: 1, # q\n",
      "  # about r\n  r: [2], # r\n",
      "  # about p\n  p: 3 # p\n",
    ];
    expect(removed(text, "/a/q")).toBe(text.replace(q, ""));
    expect(removed(text, "/a/r")).toBe(text.replace(r, ""));
    expect(removed(text, "/a/p")).toBe(text.replace(p, "").replace("[2],", "[2]"));
    const first = "a: [\n  q # q\n  , r # r\n  , p # p\n]\n";
    expect(removed(first, "/a/2")).toBe(first.replace("  , p # p\n", ""));
    expect(removed(first, "/a/1")).toBe(first.replace("  , r # r\n", ""));
    expect(documentData(removed(first, "/a/0"))).toEqual({ a: ["r", "p"] });
  });

  test("in a removed member are removed, also behind its last line", () => {
    const text = "a:\n  p:\n    k: 1 # k\n    # in p\n\n    # in p, too\n  # in a\n  q: 1\n";
    expect(removed(text, "/a/p")).toBe("a:\n  # in a\n  q: 1\n");
    expect(removed("a:\n- p: 1\n  # in p\n# end\n- q\n", "/a/0")).toBe("a:\n# end\n- q\n");
    expect(removed("a:\n  p: 1\n    # in p\nb: 1\n", "/a/p")).toBe("a: {}\nb: 1\n");
    expect(removed("b: 1\na:\n  p: 1\n  # in a", "/a/p")).toBe("b: 1\na: {}\n  # in a");
  });

  test("of the only member are removed, and that of its key stays", () => {
    expect(removed("a: # only\n  # about p\n  p: { k: 1 } # p\n# end\n", "/a/p")).toBe(
      "a: {} # only\n# end\n",
    );
    expect(removed("x:\n  a:\n    # about p\n    p:\n      k: 1 # k\n  b: 1\n", "/x/a/p")).toBe(
      "x:\n  a: {}\n  b: 1\n",
    );
    expect(removed("a: # note: only\n- 1 # p\nb: 1\n", "/a/0")).toBe("a: [] # note: only\nb: 1\n");
  });

  test("and each line end stay in a file with carriage returns", () => {
    const text = "a:\r\n  b: | # why\r\n    x\r\n    y\r\n\r\n  c: { q: 1, # q\r\n    p: 2 # p\r\n  }\r\n";
    const edited = patchYaml(text, [
      { op: "replace", path: "/a/b", value: "z\nw\n" },
      { op: "remove", path: "/a/c/p" },
    ]);
    expect(edited).toBe("a:\r\n  b: | # why\r\n    z\r\n    w\r\n\r\n  c: { q: 1 # q\r\n  }\r\n");
  });
});

/** What the spec has after an edit: errors of its reader, or the data. */
function specOf(text: string): Json {
  const findings = new Findings();
  const node = readYaml(new SourceText("f", text), findings);
  const messages = findings.diagnostics().map(({ message }) => message);
  return messages.length > 0 ? messages : node === undefined ? null : (plain(node) as Json);
}

describe("strings with a meaning in YAML", () => {
  const hostile = [
    ..."<< <<x < = ~ null Null NULL true False yes no on y 1 01 1.0 0x1F 0o7 0b1 1e3 -1 +1 .5 .inf -.Inf .nan 1_000 1:30 2026-01-01".split(
      " ",
    ),
    ...[
      "",
      " ",
      " a",
      "a ",
      "\t",
      "a\tb",
      "a\nb",
      "a\r\nb",
      "\n",
      ": ",
      ":",
      ":a",
      "a:",
      "a: b",
      "a:b",
      "a #b",
      "a#b",
      "#",
      "# a",
    ],
    ..."- -- --- ... ? , [ ] { } & * ! | > ' \" % @ ` . + \\ /".split(" "),
    ...[
      "? x",
      "- a",
      "--- x",
      "%a",
      "@a",
      "`a",
      "!a",
      "!!str a",
      "&a",
      "*a",
      "| a",
      "> a",
      "'a",
      '"a',
      "[a",
      "{a",
    ],
    ...[
      "a]",
      "a}",
      "a,b",
      "a, b",
      "it's",
      'a"b',
      "\ufeffa",
      "\u0085",
      "\u2028",
      "\u00a0",
      "constructor",
      "a\\",
    ],
  ];
  const texts: Readonly<Record<string, string>> = {
    "a block": "a:\n  k: v\n",
    "braces on a line": "a: { k: v }\n",
    "empty braces": "a: {}\n",
    "an empty value": "a:\nb: 1\n",
  };

  test.each(Object.keys(texts))("keep their value as keys and as values in %s", (name) => {
    for (const value of hostile) {
      const text = texts[name] ?? "";
      const before = documentData(text);
      const inner = { ...(before as { readonly a: Readonly<Record<string, Json>> | null }).a };
      const after = { ...(before as object), a: { ...inner, [value]: { [value]: value } } };
      const edited = patchYaml(text, documentPatch(before, after));
      expect([value, specOf(edited)]).toEqual([value, after]);
    }
  });

  test.each(["k: v", 'k: "v"', "k: 'v'", "k: |\n    v", "k: >-\n    v"])(
    "keep their value in place of %s",
    (member) => {
      for (const value of hostile) {
        const edited = patchYaml(`a:\n  ${member}\nb: 1\n`, [{ op: "replace", path: "/a/k", value }]);
        expect([value, specOf(edited)]).toEqual([value, { a: { k: value }, b: 1 }]);
      }
    },
  );
});

describe("a random patch", () => {
  test.each(Array.from({ length: 300 }, (_, seed) => seed))(
    "gives the data that the patch says (seed %i)",
    (seed) => {
      const next = random(seed + 1);
      const before = { root: value(next, 3), more: value(next, 2), tail: 1 };
      const after = { root: value(next, 3), more: value(next, 2), tail: next() > 0.5 ? 1 : 2 };
      const text = `${yamlOf(before, next).trim()}\n`;
      expect(parse(text)).toEqual(before);
      const patch = documentPatch(documentData(text), after);
      expect(jsonPatch.applyPatch(structuredClone(before), patch as never).newDocument).toEqual(after);
      const result = patchYaml(text, patch);
      expect(parse(result), `${text}\n---\n${result}`).toEqual(after);
    },
  );
});
