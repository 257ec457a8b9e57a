// Fields that a pool decides for its members: `validate` and `plan` warn that the spec's own values have no effect.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const spec = (node: string): string => `pools:
  shared: { node_type_id: Standard_DS3_v2 }
clusters:
  member:
    spark_version: 6.4.x-scala2.11
    instance_pool_id: \${pools.shared.instance_pool_id}
    node_type_id: ${node}
    driver_node_type_id: ${node}
    enable_elastic_disk: true
    num_workers: 1
jobs:
  nightly:
    new_cluster:
      spark_version: 6.4.x-scala2.11
      instance_pool_id: \${pools.shared.instance_pool_id}
      node_type_id: ${node}
      driver_node_type_id: ${node}
      num_workers: 1
    spark_jar_task: { main_class_name: a.B }
`;

let folder: string;
beforeEach(() => {
  folder = folderWith(spec("Standard_DS3_v2"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const context = contextWith({}, folder);
  const code = await runProgram(context, [...words]);
  return { code, out: context.out(), err: context.err() };
}

/** The first warning has its place below it, the others before them. */
const places = (text: string): readonly string[] =>
  [
    ...text.matchAll(/warning SPEC_COMBINATION: (\S+: \S+) has no effect.*\n.*?(workspace\.yaml:\d+:\d+)/g),
    ...[...text.matchAll(/also at \S*(workspace\.yaml:\d+:\d+): (\S+: \S+) has no effect/g)].map(
      ([line, at, what]) => [line, what, at],
    ),
  ].map(([, what, at]) => `${what} ${at}`);

const EVERY_FIELD = [
  "clusters.member: node_type_id workspace.yaml:7:19",
  "clusters.member: driver_node_type_id workspace.yaml:8:26",
  "clusters.member: enable_elastic_disk workspace.yaml:9:26",
  "jobs.nightly: new_cluster.node_type_id workspace.yaml:16:21",
  "jobs.nightly: new_cluster.driver_node_type_id workspace.yaml:17:28",
];

test("validate warns about every field that a pool decides, for clusters and for new_cluster", async () => {
  const { code, err } = await run("validate");
  expect(code).toBe(0);
  expect(places(err)).toEqual(EVERY_FIELD);
  expect(err).toContain("hint: remove node_type_id, or set it on the pool");
});

test("validate reports the same warnings as JSON", async () => {
  const { code, out } = await run("validate", "-o", "json");
  const report = JSON.parse(out) as { valid: boolean; diagnostics: { code: string; severity: string }[] };
  expect([code, report.valid]).toEqual([0, true]);
  expect(report.diagnostics.map((one) => `${one.severity} ${one.code}`)).toEqual(
    EVERY_FIELD.map(() => "warning SPEC_COMBINATION"),
  );
});

test("plan warns when only the ignored field changed, and plans no change", async () => {
  expect((await run("apply", "--host", "embedded", "--auto-approve")).code).toBe(0);
  writeFileSync(join(folder, "workspace.yaml"), spec("Standard_DS4_v2"));
  const { code, out, err } = await run("plan", "--host", "embedded");
  expect(code).toBe(0);
  expect(out).toContain("No changes");
  expect(places(err)).toEqual(EVERY_FIELD);
});

test("plan keeps the warnings as JSON", async () => {
  const { out } = await run("plan", "--host", "embedded", "-o", "json");
  const report = JSON.parse(out) as { diagnostics: { code: string }[] };
  expect(report.diagnostics.filter(({ code }) => code === "SPEC_COMBINATION")).toHaveLength(5);
});

test("a cluster without a pool gets no such warning", async () => {
  writeFileSync(
    join(folder, "workspace.yaml"),
    "clusters: { own: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 } }\n",
  );
  expect((await run("validate")).err).toBe("");
});
