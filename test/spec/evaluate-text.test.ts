// Expressions that a person types: values, places inside the text, and what is not shown.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openExpressions } from "../../src/spec/evaluate-text.ts";
import { type Files, folderWith } from "./folder.ts";
import { registry } from "./kinds.ts";

async function scopeOf(files: Files, target?: string) {
  const folder = folderWith(files);
  const { scope, diagnostics } = await openExpressions({
    file: join(folder, "workspace.yaml"),
    cwd: folder,
    env: { WORKSPACE_VAR_env: "Env" },
    registry,
    ...(target === undefined ? {} : { target }),
  });
  if (scope === undefined) throw new Error(JSON.stringify(diagnostics));
  return scope;
}

const SPEC = `
variables: { env: { default: Dev } }
locals: { prefix: "\${var.env.lowerAscii()}-x", map: { a: [1, 2.5, null] }, literal: "$\${x}" }
targets: { dev: { default: true }, prod: {} }
`;

describe("openExpressions", () => {
  it.each([
    ["local.prefix", "env-x"],
    [" local.map.a[1] ", 2.5],
    ["${local.prefix}/${target.name}", "env-x/prod"],
    ["${local.map}", { a: [1, 2.5, null] }],
    ["local.literal", "${x}"],
    ['local.map.?b.orValue("none")', "none"],
    ["plain ${var.env}", "plain Env"],
    ["${pools.a.instance_pool_id}", "${pools.a.instance_pool_id}"],
  ])("evaluates %j", async (text, value) => {
    const scope = await scopeOf({ "workspace.yaml": SPEC }, "prod");
    expect(scope.evaluate(text)).toEqual({ value, diagnostics: [] });
  });

  it.each([
    ["local.prefx.lowerAscii()", 1, 'unknown local "prefx"'],
    ["'-' + lower('a')", 7, 'unknown function "lower"'],
    ["a ${var.env} ${local.map.x}", 16, 'local.map has no "x"'],
    ["local.map.a + nope", 15, 'unknown value "nope"'],
    ["size(", 6, "the expression is incomplete"],
    ["size(local.prefix) x", 20, "unexpected character"],
    ["local.list[0", 13, "the expression is incomplete"],
  ])("locates the problem of %j inside the expression", async (text, column, message) => {
    const scope = await scopeOf({ "workspace.yaml": SPEC });
    const { value, diagnostics } = scope.evaluate(text);
    expect(value).toBeUndefined();
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({
      message: expect.stringContaining(message),
      at: { file: "expression", line: 1, column },
    });
    expect(scope.evaluate(text).diagnostics).toHaveLength(1);
  });

  it("knows the names that an expression can begin with", async () => {
    const { names } = await scopeOf({ "workspace.yaml": SPEC });
    expect(names).toEqual(expect.arrayContaining(["var.env", "local.map", "target.name", "size("]));
    expect(names).toEqual([...names].sort());
  });

  it("is bounded: deep, long, and multiplying expressions are errors", async () => {
    const scope = await scopeOf({ "workspace.yaml": `locals: { a: "${"x".repeat(1_000)}" }\n` });
    const many = `local.a.replace("x", local.a)`;
    for (const text of [
      `${"size(".repeat(140)}"a"${")".repeat(140)}`,
      `"${"a".repeat(5_000)}"`,
      `${many}.replace("x", ${many})`,
    ])
      expect(scope.evaluate(text).diagnostics).not.toEqual([]);
  });
});
