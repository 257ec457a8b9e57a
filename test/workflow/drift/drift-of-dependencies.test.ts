// Drift of what `--only` takes along, through the real program on the embedded workspace.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const spec = (workers: number, capacity = 10) => `pools:
  shared: { node_type_id: Standard_DS3_v2, max_capacity: ${capacity} }
  other: { node_type_id: Standard_DS3_v2, max_capacity: 10 }
clusters:
  c: { spark_version: 6.4.x-scala2.11, instance_pool_id: "\${pools.shared.instance_pool_id}", num_workers: ${workers} }
`;

/** The capacity of both pools was changed outside; that of `pools.shared` is acknowledged. */
async function drifted() {
  const folder = folderWith(spec(2));
  const run = async (line: string) => {
    const context = contextWith({ WORKSPACE_HOST: "embedded" }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  expect((await run("apply --auto-approve")).code).toBe(0);
  for (const name of ["shared", "other"]) {
    const { id } = JSON.parse((await run(`state show pools.${name}`)).out);
    const pool = `instance_pool_id=${id} instance_pool_name=${name} node_type_id=Standard_DS3_v2`;
    expect((await run(`api instance-pools/edit ${pool} max_capacity=3`)).code).toBe(0);
  }
  expect((await run("drift acknowledge pools.shared --until 5d --reason load-test")).code).toBe(0);
  const write = (workers: number, capacity?: number) =>
    writeFileSync(join(folder, "workspace.yaml"), spec(workers, capacity));
  return { run, write };
}

test("a plan with --only says whose acknowledged drift it reverts, also of a dependency", async () => {
  const { run, write } = await drifted();
  write(3);
  const { all } = await run("plan --only clusters.c");
  expect(all).toContain("~ update   pools.shared");
  expect(all).toContain("This plan reverts acknowledged drift of 1 resource");
});

test("drift with --only has the drift of dependencies and remembers it, and no other", async () => {
  const { run } = await drifted();
  const first = await run("drift --since last --only clusters.c");
  expect([first.code, first.out]).toEqual([0, expect.stringContaining("pools.shared")]);
  expect(first.out).not.toContain("pools.other");
  expect((await run("drift acknowledge --remove pools.shared")).code).toBe(0);
  const codes = [];
  for (let at = 0; at < 2; at += 1) codes.push((await run("drift --since last --only clusters.c")).code);
  expect(codes).toEqual([2, 0]);
});

test("drift with --only has the drift of a dependency also where the spec has the live value", async () => {
  const { run, write } = await drifted();
  expect((await run("drift acknowledge --remove pools.shared")).code).toBe(0);
  write(2, 3);
  const { code, out } = await run("drift --only clusters.c");
  expect([code, out]).toEqual([0, expect.stringMatching(/pools\.shared[\s\S]*already in the spec/)]);
  expect(out).not.toContain("pools.other");
});
