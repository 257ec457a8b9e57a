// A field that only another dialect or cloud has is unknown here, and the error names the options that permit it.

import { describe, expect, test } from "vitest";
import { registry } from "../../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../../src/resource/dialect-view.ts";
import type { FieldTable } from "../../../src/resource/field-schema.ts";
import { load } from "../../spec/folder.ts";

type Field = readonly [path: string, options: string];

/** Each field of the Databricks dialect outside other such fields, with the options that a spec with it needs. */
const fieldsOf = (fields: FieldTable, path: string): readonly Field[] =>
  Object.entries(fields).flatMap(([name, { dialect, cloud, properties }]): readonly Field[] => {
    const at = `${path}.${name}`;
    if (dialect === "databricks")
      return [[at, cloud === undefined ? "--dialect databricks" : `--dialect databricks --cloud ${cloud}`]];
    return dialect === undefined && cloud === undefined && properties !== undefined
      ? fieldsOf(properties, at)
      : [];
  });

const FIELDS = registry.kinds
  .filter(({ dialect, nested }) => dialect === undefined && nested === undefined)
  .flatMap(({ kind, fields }) => fieldsOf(fields, kind));

/** `pools.a.b` as a spec whose pool x has the field b in a. */
const specWith = (path: string): string => {
  const [kind = "", ...keys] = path.split(".");
  const inner = keys.reduceRight<unknown>((value, key) => ({ [key]: value }), 1);
  return JSON.stringify({ [kind]: { "/x": inner } });
};

describe("a field of the Databricks dialect", () => {
  test("exists in several kinds, on its own and inside others", () => {
    const paths = FIELDS.map(([path]) => path);
    expect(paths).toContain("jobs.tasks");
    expect(paths).toContain("pools.access");
    expect(paths.some((path) => path.split(".").length > 2)).toBe(true);
  });

  test.each(FIELDS)("%s is unknown in the contract dialect, and the hint says %s", async (path, options) => {
    const { diagnostics } = await load(specWith(path), { registry: registryIn(registry, CONTRACT_FIELDS) });
    const found = diagnostics.filter(({ code }) => code === "SPEC_UNKNOWN_FIELD");
    expect(found.map(({ hint }) => hint)).toEqual([expect.stringContaining(`pass ${options}`)]);
  });

  test("that the dialect has on another cloud is unknown, and the hint names the cloud", async () => {
    const view = registryIn(registry, { dialect: "databricks", cloud: "azure" });
    const { diagnostics } = await load("pools: { p: { node_type_id: n, aws_attributes: {} } }\n", {
      registry: view,
    });
    expect(diagnostics).toMatchObject([
      { code: "SPEC_UNKNOWN_FIELD", hint: expect.stringContaining("--cloud aws") },
    ]);
  });

  test("has the hint in a target that is not selected, too", async () => {
    const { diagnostics } = await load(
      "targets: { dev: {}, prod: { pools: { p: { access: {} } } } }\npools: { p: { node_type_id: n } }\n",
      { registry: registryIn(registry, CONTRACT_FIELDS), target: "dev", allTargets: true },
    );
    expect(diagnostics).toMatchObject([
      { code: "SPEC_UNKNOWN_FIELD", hint: expect.stringContaining("--dialect databricks") },
    ]);
  });
});
