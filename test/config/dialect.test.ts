// The dialect of the workspace that this program serves: options, variables, and the description of the API.

import { describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { dialectOf } from "../../src/config/dialect.ts";
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
      'error CLI_USAGE: WORKSPACE_DIALECT is "spark"; allowed are contract, databricks\n  hint: set WORKSPACE_DIALECT to one of these values, or unset it\n',
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

describe("schema --api", () => {
  test("describes the contract, or the dialect that is named", async () => {
    const contract = await run(["schema", "--api"]);
    expect(contract.out).toContain("/api/2.0/fs/put:");
    const dialect = await run(["schema", "--api", "--dialect", "databricks"]);
    expect(dialect.out).toContain("/api/2.0/dbfs/put:");
    expect(dialect.out).not.toContain("/api/2.0/fs/put:");
  });

  test("is needed for a dialect", async () => {
    expect(await run(["schema", "--dialect", "databricks"])).toEqual({
      code: 1,
      out: "",
      err: "error CLI_USAGE: --dialect databricks needs --api\n  hint: add --api, or remove --dialect\n",
    });
  });
});
