// References to nothing in values that no resource uses.

import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

const POOL = "pools: { p: { node_type_id: n } }\n";

describe("a reference in a local that nothing uses", () => {
  const found = async (local: string, more = "") => {
    const { told, diagnostics } = await load(`locals: { l: ${local} }\n${POOL}${more}`);
    return diagnostics.map(({ severity, usedAt }, at) => [severity, told[at], ...(usedAt ?? [])].join(" "));
  };

  it.each([
    ['"${poolz.p.id}"', 'SPEC_REFERENCE 1:14 ${poolz.p.id} refers to the kind "poolz", which does not exist'],
    [
      '[x, { k: "${pools.p.nope}" }]',
      'SPEC_REFERENCE 1:23 ${pools.p.nope} refers to the attribute "nope", which pools do not have',
    ],
    ['"a ${pools.p}"', "SPEC_REFERENCE 1:14 ${pools.p} is neither a variable nor a reference"],
  ])("is an error where it is written: %s", async (local, message) => {
    expect(await found(local)).toEqual([`error ${message}`]);
  });

  it("is a warning when another target may declare the resource", async () => {
    expect(await found('"${pools.lost.instance_pool_id}"')).toEqual([
      "warning SPEC_REFERENCE 1:14 ${pools.lost.instance_pool_id} refers to pools.lost, which is not in the spec",
    ]);
  });

  it("is accepted when it refers to a resource, or when the value has none", async () => {
    expect(await found('["${pools.p.instance_pool_id}", 3, x, null]')).toEqual([]);
  });

  it("is reported once, by the resource that uses the local", async () => {
    const user = 'clusters: { c: { spark_conf: { k: "${local.l}" } } }\n';
    expect(await found('"${pools.lost.instance_pool_id}"', user)).toHaveLength(1);
    expect((await found('"${pools.lost.instance_pool_id}"', user))[0]).toMatch(/^error /);
  });

  it("of a module is reported once, by the resource that uses its output", async () => {
    const { told, diagnostics } = await load({
      "workspace.yaml": `modules: { m: { source: m } }\nclusters: { c: { spark_conf: { k: "\${modules.m.out}" } } }\n`,
      "m/workspace.yaml": `outputs: { out: "\${pools.gone.instance_pool_id}" }\n${POOL}`,
    });
    expect(told).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      { severity: "error", address: "clusters.c", at: { file: "m/workspace.yaml" } },
    ]);
  });
});
