// Workspace files in the Databricks dialect: in one tree with notebooks, named by clusters, and limited in size.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ADMIN_TOKEN } from "../emulator/harness.ts";
import { doing, results, Site } from "../engine/site.ts";

let site: Site;
beforeEach(async () => {
  site = await Site.start("azure");
  onTestFinished(() => site.close());
  file("a.py", "# Databricks notebook source\nprint(1)\n");
});

const file = (name: string, content: string): void => writeFileSync(join(site.folder, name), content);
const POLICY = "policy: { max_deletes: 100% }\n";
const apply = async (yaml: string) => {
  const { outcome } = await site.drive(site.process().apply(await site.spec(POLICY + yaml)));
  expect(outcome.diagnostics).toEqual([]);
  return results(outcome);
};
const plan = async (yaml: string) => site.drive(site.process().plan(await site.spec(POLICY + yaml)));
const typeAt = async (path: string) =>
  (await site.world.get("workspace/get-status", { path })).body.object_type;

describe("workspace files", () => {
  test("are files whatever their content, and make the folders around them", async () => {
    await apply("workspace_files: { /Shared/new/a.py: { source: a.py } }\n");
    expect(await typeAt("/Shared/new/a.py")).toBe("FILE");
    const { body } = await site.world.get("workspace/export", { path: "/Shared/new/a.py", format: "AUTO" });
    expect(Buffer.from(body.content, "base64").toString()).toBe("# Databricks notebook source\nprint(1)\n");
  });

  test("keep their access list when their content changes, and show it line by line", async () => {
    const yaml =
      "groups: { data: {} }\nworkspace_files: { /Shared/a.py: { source: a.py, access: { data: CAN_READ } } }\n";
    await apply(yaml);
    file("a.py", "print(2)\n");
    expect(await apply(yaml)).toEqual(["applied update workspace_files./Shared/a.py"]);
    expect(doing(await plan(yaml))).toEqual([]);
  });

  test("replace a notebook at their path in one apply, and an unmanaged notebook there is an error", async () => {
    await apply("notebooks: { /Shared/a: { source: a.py } }\n");
    expect(await apply("workspace_files: { /Shared/a: { source: a.py } }\n")).toEqual([
      "applied delete notebooks./Shared/a",
      "applied create workspace_files./Shared/a",
    ]);
    expect(await typeAt("/Shared/a")).toBe("FILE");
    const content = Buffer.from("1").toString("base64");
    await site.world.post("workspace/import", {
      path: "/Shared/b",
      language: "PYTHON",
      format: "SOURCE",
      content,
    });
    const { diagnostics } = await plan("workspace_files: { /Shared/b: { source: a.py } }\n");
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      [
        "PLAN_UNMANAGEABLE",
        "workspace_files./Shared/b cannot manage /Shared/b: it is a notebook, not a workspace file",
      ],
    ]);
  });

  test("come from a folder with their extensions", async () => {
    await apply("workspace_files: { /Shared/lib: { source_dir: ., include: ['*.py'] } }\n");
    expect(await typeAt("/Shared/lib/a.py")).toBe("FILE");
  });

  test("have one address, without /Workspace, and no other resource at their path", async () => {
    const refusal = (yaml: string) => expect(site.spec(yaml)).rejects;
    await refusal("workspace_files: { /Workspace/Shared/a: { source: a.py } }\n").toThrow(
      /is the same path as/,
    );
    await refusal(
      "workspace_files: { /Shared/a: { source: a.py } }\nnotebooks: { /Shared/a: { source: a.py } }\n",
    ).toThrow(/has the same path as/);
  });

  test("that became notebooks outside are missing, and neither overwritten nor deleted", async () => {
    const yaml = "workspace_files: { /Shared/a: { source: a.py } }\n";
    await apply(yaml);
    await site.world.post("workspace/delete", { path: "/Shared/a" });
    const content = Buffer.from("1").toString("base64");
    const notebook = { path: "/Shared/a", language: "PYTHON", format: "SOURCE", content };
    await site.world.post("workspace/import", notebook);
    expect((await plan(yaml)).diagnostics.map(({ code }) => code)).toEqual(["PLAN_UNMANAGEABLE"]);
    expect(await apply("users: {}\n")).toEqual(["applied forget workspace_files./Shared/a"]);
    expect(await typeAt("/Shared/a")).toBe("NOTEBOOK");
  });

  test("above the limit of an export are overwritten", async () => {
    const yaml = "workspace_files: { /Shared/a.py: { source: a.py } }\n";
    await apply(yaml);
    const large = "x".repeat(10 * 1024 * 1024 + 1);
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const path = "/api/2.0/workspace-files/import-file/Shared%2Fa.py?overwrite=true";
    const sent = await site.world.request({ method: "POST", path, headers, body: large });
    expect(sent.status).toBe(200);
    expect(await apply(yaml)).toEqual(["applied update workspace_files./Shared/a.py"]);
    expect(doing(await plan(yaml))).toEqual([]);
  });

  test("exist before the clusters whose libraries and scripts they are", async () => {
    const cluster = "spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 1";
    const spec =
      await site.spec(`workspace_files: { /Shared/a.whl: { source: a.py }, /Shared/i.sh: { source: a.py } }
clusters:
  etl:
    ${cluster.replaceAll(", ", "\n    ")}
    libraries: [{ whl: /Workspace/Shared/a.whl }]
    init_scripts: [{ workspace: { destination: /Shared/i.sh } }]
`);
    expect(spec.resources.get("clusters.etl" as never)?.dependsOn).toEqual([
      "workspace_files./Shared/a.whl",
      "workspace_files./Shared/i.sh",
    ]);
  });

  test("have at most 10 MB", async () => {
    file("big.bin", "x".repeat(10 * 1024 * 1024 + 1));
    await expect(site.spec("workspace_files: { /Shared/big.bin: { source: big.bin } }\n")).rejects.toThrow(
      /big.bin/,
    );
  });

  test("that the plan does not delete keep the directory around them", async () => {
    await apply(
      "directories: { /Shared/lib: {} }\nworkspace_files: { /Shared/lib/a.py: { source: a.py } }\n",
    );
    await site.world.post("workspace/import", { path: "/Shared/lib/b.py", format: "RAW", content: "MQ==" });
    expect((await plan("users: {}\n")).guards.map(({ diagnostic }) => diagnostic.message)).toEqual([
      "the directory /Shared/lib contains objects that this plan does not delete: b.py",
    ]);
  });
});
