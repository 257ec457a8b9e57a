// Kinds that the policy makes authoritative: objects that the spec does not declare are deleted by one apply.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Failure } from "../../src/core/diagnostic.ts";
import { doing, results, Site } from "../engine/site.ts";

const CONTENT = Buffer.from("print('theirs')\n").toString("base64");

async function freshSite(): Promise<Site> {
  const site = await Site.start();
  onTestFinished(() => site.close());
  writeFileSync(join(site.folder, "a.py"), "print('a')\n");
  return site;
}

test.each<readonly [string, string, string, object]>([
  ["files", "files: { /init/ours: { source: a.py } }", "fs/put", { path: "/init/theirs", contents: CONTENT }],
  [
    "notebooks",
    "notebooks: { /Shared/ours: { source: a.py } }",
    "workspace/import",
    { path: "/Shared/theirs", language: "PYTHON", content: CONTENT },
  ],
  [
    "clusters",
    "clusters: { ours: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 } }",
    "clusters/create",
    {
      cluster_name: "theirs",
      spark_version: "6.4.x-scala2.11",
      node_type_id: "Standard_DS3_v2",
      num_workers: 1,
    },
  ],
  ["directories", "directories: { /Shared/ours: {} }", "workspace/mkdirs", { path: "/Shared/theirs" }],
])("an apply deletes undeclared %s", async (kind, declared, operation, body) => {
  const site = await freshSite();
  const spec = await site.spec(`policy: { max_deletes: 100%, authoritative: [${kind}] }\n${declared}\n`);
  await site.drive(site.process().apply(spec));
  const made = await site.world.post(operation, body);
  expect(made.status).toBe(200);
  if (kind === "clusters") await site.world.post("clusters/pin", { cluster_id: made.body.cluster_id });
  await site.clock.advance(60_000);
  const { outcome } = await site.drive(site.process().apply(spec));
  expect(results(outcome)).toEqual([expect.stringMatching(`^applied delete ${kind}\\..*theirs$`)]);
  await site.clock.advance(60_000);
  expect(doing(await site.drive(site.process().plan(spec)))).toEqual([]);
});

test("an undeclared directory with objects that the plan does not delete blocks the plan", async () => {
  const site = await freshSite();
  const spec = await site.spec(
    "policy: { max_deletes: 100%, authoritative: [directories] }\ndirectories: { /Shared/ours: {} }\n",
  );
  await site.drive(site.process().apply(spec));
  await site.world.post("workspace/mkdirs", { path: "/Shared/theirs" });
  await site.world.post("workspace/import", {
    path: "/Shared/theirs/n",
    language: "PYTHON",
    content: CONTENT,
  });
  const refusal = await site.drive(
    site
      .process()
      .apply(spec)
      .catch((failure: unknown) => failure),
  );
  expect((refusal as Failure).diagnostics.map(({ code }) => code)).toEqual(["GUARD_DATA_LOSS"]);
});

test("an authoritative kind whose names are paths leaves folders alone in which the spec and the state know nothing", async () => {
  const site = await freshSite();
  const policy = "policy: { max_deletes: 100%, authoritative: [files, notebooks] }\n";
  await site.world.post("fs/put", { path: "/init/theirs", contents: CONTENT });
  await site.world.post("fs/put", { path: "/data/theirs", contents: CONTENT });
  const planned = async (rest: string) =>
    doing(await site.drive(site.process().plan(await site.spec(`${policy}${rest}`))));
  expect(await planned("users: {}\n")).toEqual([]);
  expect(await planned("files: { /init/ours: { source: a.py } }\n")).toEqual([
    "create files./init/ours",
    "delete files./init/theirs",
  ]);
});
