// The dialect of the workspace that this program serves: options, variables, and the description of the API.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { type DialectOptions, dialectOf, spokenDialect } from "../../src/config/dialect.ts";
import type { Profile } from "../../src/config/profile.ts";
import { settingsOf } from "../../src/config/settings.ts";
import { connect } from "../../src/workflow/session/connect.ts";
import { contextWith } from "../cli/context.ts";

const run = async (argv: readonly string[], env: Record<string, string> = {}) => {
  const context = contextWith(env);
  const code = await runProgram(context, argv);
  return { code, out: context.out(), err: context.err() };
};

describe("dialect of the emulator", () => {
  test("comes from the options, then from the variables, and is the contract's otherwise", () => {
    const context = contextWith({ WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: "gcp" });
    expect(dialectOf(context, { cloud: "aws" })).toEqual({ dialect: "databricks", cloud: "aws" });
    expect(dialectOf(context)).toEqual({ dialect: "databricks", cloud: "gcp" });
    expect(dialectOf(contextWith({ WORKSPACE_DIALECT: "" }))).toEqual({});
  });

  test("is refused if a variable names another, before anything starts", async () => {
    const { code, out, err } = await run(["emulator"], { WORKSPACE_DIALECT: "spark" });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toBe(
      'error CLI_USAGE: WORKSPACE_DIALECT is "spark"; use one of contract, databricks\n  hint: set WORKSPACE_DIALECT to one of these values, or unset it\n',
    );
  });

  test("of the embedded workspace follows the variable", async () => {
    const context = contextWith({ WORKSPACE_DIALECT: "databricks" });
    const settings = settingsOf(context, { host: "embedded", profile: undefined, parallelism: undefined });
    const connection = await connect({ settings, embeddedFolder: context.cwd });
    try {
      await connection.writer.write("instance-pools/create", {
        instance_pool_name: "p",
        node_type_id: "Standard_DS3_v2",
        custom_tags: { a: "b" },
      });
      const { instance_pools } = await connection.reader.read("instance-pools/list", {});
      expect(instance_pools).toMatchObject([
        { custom_tags: { a: "b" }, default_tags: { Vendor: "Databricks" } },
      ]);
    } finally {
      await connection.close();
    }
  });
});

describe("dialect of a workspace", () => {
  const choose = (
    env: Readonly<Record<string, string>>,
    options: DialectOptions = {},
    host = "https://adb-1.2.azuredatabricks.net",
    profile: Profile = {},
  ) => spokenDialect(contextWith(env), options, host, profile);

  test.each([
    ["https://adb-1.2.azuredatabricks.net", { dialect: "databricks", cloud: "azure" }],
    ["dbc-1.cloud.databricks.com", { dialect: "databricks", cloud: "aws" }],
    ["https://1.2.gcp.databricks.com/", { dialect: "databricks", cloud: "gcp" }],
    ["https://workspace.example.com", { dialect: "contract", cloud: "azure" }],
    ["https://adb-1.2.azuredatabricks.net.", { dialect: "databricks", cloud: "azure" }],
    ["https://azuredatabricks.net.example.com", { dialect: "contract", cloud: "azure" }],
    ["embedded", { dialect: "contract", cloud: "azure" }],
  ])("%s", (host, expected) => {
    expect(choose({}, {}, host)).toEqual(expected);
  });

  test("an option outweighs a variable, that the profile, and that the name of the host", () => {
    const profile = { dialect: "contract", cloud: "gcp" };
    expect(choose({}, {}, undefined, profile)).toEqual({ dialect: "contract", cloud: "gcp" });
    expect(choose({ WORKSPACE_DIALECT: "databricks" }, {}, undefined, profile)).toEqual({
      dialect: "databricks",
      cloud: "gcp",
    });
    expect(choose({ WORKSPACE_DIALECT: "databricks" }, { dialect: "contract", cloud: "aws" })).toEqual({
      dialect: "contract",
      cloud: "aws",
    });
  });

  test("of a profile is refused where it is none", () => {
    expect(() => choose({}, {}, undefined, { dialect: "spark" })).toThrow(
      /dialect in the profile is "spark"/,
    );
  });
});

test("a URI of the contract is refused with an example of the dialect's", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "spec-")), "workspace.yaml");
  writeFileSync(
    file,
    `jobs:
  a:
    new_cluster: { spark_version: x, node_type_id: y, num_workers: 1 }
    spark_python_task: { python_file: "fs:/x.py" }
    libraries: [{ jar: "fs:/a.jar" }]
`,
  );
  const { err } = await run(["validate", "--file", file, "--dialect", "databricks"]);
  expect(err).toContain('python_file must look like dbfs:/folder/file, but "fs:/x.py" does not');
  expect(err).toContain('libraries[0].jar must look like dbfs:/folder/file, but "fs:/a.jar" does not');
});

test.each([
  ["azure", "cannot have the key"],
  ["aws", undefined],
  ["gcp", undefined],
])("keys of tags have the rule of Azure there only: %s", async (cloud, problem) => {
  const file = join(mkdtempSync(join(tmpdir(), "spec-")), "workspace.yaml");
  writeFileSync(
    file,
    `pools: { p: { node_type_id: y, custom_tags: { cost/center: x } } }
clusters:
  c: { spark_version: x, node_type_id: y, num_workers: 1, custom_tags: { microsoft-team: x } }
`,
  );
  const argv = ["validate", "--file", file, "--dialect", "databricks", "--cloud", cloud];
  const { code, err } = await run(argv);
  expect(code).toBe(problem === undefined ? 0 : 1);
  if (problem === undefined) return;
  expect(err).toContain(`pools.p: custom_tags ${problem} "cost/center"`);
  expect(err).toContain(`clusters.c: custom_tags ${problem} "microsoft-team"`);
  expect(err).toContain("hint: A key cannot contain any of <>%*&+?\\/ or begin with azure");
});

test("tags of a job have any keys, because the service checks them", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "spec-")), "workspace.yaml");
  writeFileSync(
    file,
    `jobs:
  j:
    new_cluster: { spark_version: x, node_type_id: y, num_workers: 1 }
    notebook_task: { notebook_path: /x }
    tags: { cost/center: x, microsoft-team: "" }
`,
  );
  expect((await run(["validate", "--file", file, "--dialect", "databricks"])).code).toBe(0);
});

describe("schema --api", () => {
  test("describes the contract, or the dialect that is named", async () => {
    const contract = await run(["schema", "--api"]);
    expect(contract.out).toContain("/api/2.0/fs/put:");
    const dialect = await run(["schema", "--api", "--dialect", "databricks"]);
    expect(dialect.out).toContain("/api/2.0/dbfs/put:");
    expect(dialect.out).not.toContain("/api/2.0/fs/put:");
  });
});

describe("what a spec may contain", () => {
  test("has the fields, words and URIs of the dialect and its cloud", async () => {
    const { out } = await run(["schema", "--dialect", "databricks", "--cloud", "aws"]);
    expect(out).toContain("ebs_volume_type");
    expect(out).toContain("AZURE_KEYVAULT");
    expect(out).not.toMatch(/azure_disk_volume_type|cloud_disk_volume_type|CLOUD_KEYVAULT|such as fs:.{2}/);
    expect((await run(["schema"])).out).not.toMatch(/ebs_volume_type|AZURE_KEYVAULT|dbfs|policy_id/);
  });

  test("follows the dialect in explanations", async () => {
    const env = { WORKSPACE_HOST: "https://adb-1.2.azuredatabricks.net" };
    expect((await run(["explain", "pools.disk_spec.disk_type"], env)).out).toContain(
      "azure_disk_volume_type",
    );
    expect((await run(["explain", "clusters.cluster_log_conf"])).out).not.toContain("dbfs");
    const { out } = await run(["explain", "jobs.libraries.jar"], env);
    expect(out).toContain("Looks like dbfs:/folder/file.");
    expect(out).not.toContain("^(");
  });

  test("does not need a profile file that can be read", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "profile-")), "cfg");
    writeFileSync(file, "neither a section nor a value\n");
    const { code, out } = await run(["explain", "pools"], { WORKSPACE_CONFIG_FILE: file });
    expect([code, out.includes("node_type_id")]).toEqual([0, true]);
  });
});
