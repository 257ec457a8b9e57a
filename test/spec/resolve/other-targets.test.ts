// The targets that are not selected: what their own fields show.

import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

describe("a validation of all targets", () => {
  const other = (sections: string, selected = "dev") =>
    load(
      `targets:\n  dev:\n  prod: ${sections}\nvariables: { n: { type: number } }
pools: { shared: { node_type_id: n, max_capacity: 50 } }\nusers: { ada: {} }\n`,
      { target: selected, allTargets: true },
    );

  it.each([
    ['{ pools: { shared: { max_capacity: "many" } } }', "SPEC_TYPE 3:44 pools.shared: max_capacity must be"],
    [
      "{ pools: { shared: { max_capcity: 3 } } }",
      'SPEC_UNKNOWN_FIELD 3:30 pools.shared has no field "max_cap',
    ],
    ["{ pools: [shared] }", "SPEC_TYPE 3:18 pools must be a map of names, not a list"],
    ["{ pools: { extra: 3 } }", "SPEC_TYPE 3:27 pools.extra must be a map of fields, not the number 3"],
    ["{ pool: {} }", 'SPEC_UNKNOWN_KIND 3:11 "pool" is not a valid kind'],
    ["{ protcted: true }", 'SPEC_UNKNOWN_KIND 3:11 "protcted" is not a valid kind'],
    ["{ policy: { max_delets: 1 } }", 'SPEC_UNKNOWN_FIELD 3:21 policy has no field "max_delets"'],
    ["{ variables: { m: 1 } }", 'SPEC_VARIABLE 3:24 the spec has no variable "m"'],
    [
      "{ variables: { n: many } }",
      'SPEC_VARIABLE 3:27 the variable n must be a number, not the string "many"',
    ],
    ["{ users: { eve: null } }", "SPEC_TARGET 3:20 the target removes users.eve, which is not in the spec"],
    [
      "{ locals: { a: '${size(local.b}' } }",
      "SPEC_EXPRESSION 3:39 ${size(local.b}: the expression is incomplete",
    ],
    [
      "{ modules: { m: { source: m, with: { x: '${input.}' } } } }",
      "SPEC_EXPRESSION 3:58 ${input.}: the expression",
    ],
    ["{ users: { 'a-${local.': {} } }", "SPEC_REFERENCE 3:20 a ${ is never closed"],
    [
      "{ pools: { p: { node_type_id: '${pools.${var.}.id}' } } }",
      "SPEC_EXPRESSION 3:39 ${var.}: the expression",
    ],
    ["{ host: '${var.n}' }", "SPEC_TARGET 3:17 the target prod: host must be a plain string"],
  ])("finds the error in a target that is not selected: %s", async (sections, message) => {
    expect((await other(sections)).told).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    "{ pools: { shared: { max_capacity: null, custom_tags: { a: b } } }, users: { ada: null } }",
    "{ pools: { shared: { max_capacity: '${var.n}', node_type_id: 'a-${target.name}' } } }",
    "{ pools: '${local.pools}', policy: { max_deletes: '${var.n}' }, x-note: 3 }",
    "{ rules: [{ name: r, for: change, condition: '${', message: m }] }",
    "{ variables: { n: 3 }, locals: { a: [] }, description: x, state: states/prod, users: null }",
  ])("accepts parts of resources, expressions, and variables without a value: %s", async (sections) => {
    expect((await other(sections)).told).toEqual([]);
  });

  it.each([
    ["{ include: [x] }", "the target prod cannot contain include"],
    ["{ targets: {} }", "the target prod cannot contain targets"],
    ["[a]", "the target prod must be a map of sections, not a list"],
  ])("reports once what no target can be: %s", async (sections, message) => {
    expect((await other(sections)).told).toEqual([expect.stringContaining(message)]);
  });

  it("accepts an empty target, and a spec without targets", async () => {
    expect((await other("")).told).toEqual([]);
    expect((await load("users: { ada: {} }\n", { allTargets: true })).told).toEqual([]);
    expect((await load("targets: [a]\nusers: { ada: {} }\n", { allTargets: true })).told).toEqual([
      "SPEC_TYPE 1:10 targets must be a map of names, not a list",
    ]);
  });

  it("checks the items of a list, except expressions", async () => {
    const versions = (...items: string[]) =>
      other(`{ pools: { shared: { preloaded_spark_versions: [${items.join(", ")}] } } }`);
    expect((await versions("x", "'${var.n}'", "null")).told).toEqual([]);
    const { told, diagnostics } = await versions("x", "3");
    expect(told).toEqual([
      "SPEC_TYPE 3:60 pools.shared: preloaded_spark_versions[1] must be a string, not 3",
    ]);
    expect(diagnostics[0]?.hint).toBe("write it in quotes");
    expect((await versions("'${var.n}'", "null", "3")).told).toEqual([
      "SPEC_TYPE 3:75 pools.shared: preloaded_spark_versions[2] must be a string, not 3",
    ]);
  });

  it("does not check secrets, which may be written in many ways", async () => {
    expect((await other("{ scopes: { s: { secrets: { k: { value: 3 }, l: v } } } }")).told).toEqual([]);
  });

  it("reports an error of the selected target once", async () => {
    expect((await other("{ pools: { shared: { max_capcity: 3 } } }", "prod")).told).toHaveLength(1);
  });

  it("is not made for a plan", async () => {
    const { told } = await load("targets: { dev: , prod: { pool: {} } }\nusers: { ada: {} }\n", {
      target: "dev",
    });
    expect(told).toEqual([]);
  });
});
