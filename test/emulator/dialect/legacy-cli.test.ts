import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import type { Body } from "../harness.ts";
import { LegacyCli, pythonWithCli } from "./legacy-cli.ts";

const python = pythonWithCli();
const TOKEN = "cli-token";

describe.skipIf(python === undefined)(
  `the legacy databricks-cli${python === undefined ? " (skipped: no Python with databricks-cli; set WORKSPACE_TEST_PYTHON)" : ""}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "legacy-cli-"));
    let server: RunningServer;
    let cli: LegacyCli;

    beforeAll(async () => {
      server = await startEmulator({
        port: 0,
        dataDir: ":memory:",
        token: TOKEN,
        dialect: "databricks",
        cloud: "azure",
      });
      cli = new LegacyCli(python ?? "", server.url, TOKEN, folder);
    });
    afterAll(async () => {
      cli.close();
      await server.close();
      rmSync(folder, { recursive: true });
    });

    const json = async (...args: readonly string[]): Promise<Body> => JSON.parse(await cli.run(...args));
    const write = (name: string, content: string): string => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    };
    const wait = async (ms: number): Promise<void> => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const body = JSON.stringify({ advance_ms: ms });
      await fetch(`${server.url}/__emulator/clock`, { method: "POST", headers, body });
    };
    const CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };

    test("fs: copies, lists, prints, moves and removes files", async () => {
      const content = "x".repeat(2_500_000);
      await cli.run("fs", "mkdirs", "dbfs:/data/in");
      await cli.run("fs", "cp", write("big.txt", content), "dbfs:/data/in/big.txt");
      await cli.run("fs", "cp", "--overwrite", write("small.txt", "hello"), "dbfs:/data/small.txt");
      expect(await cli.run("fs", "ls", "-l", "dbfs:/data")).toMatch(/file +5 +small\.txt/);
      expect((await cli.run("fs", "cat", "dbfs:/data/small.txt")).trim()).toBe("hello");
      await cli.run("fs", "mv", "dbfs:/data/small.txt", "dbfs:/data/in/moved.txt");
      await cli.run("fs", "cp", "dbfs:/data/in/big.txt", join(folder, "back.txt"));
      expect(readFileSync(join(folder, "back.txt"), "utf8")).toBe(content);
      await cli.run("fs", "rm", "-r", "dbfs:/data");
      expect((await cli.run("fs", "ls", "dbfs:/")).trim()).toBe("FileStore");
    });

    test("workspace: imports, lists, exports and removes notebooks and folders", async () => {
      await cli.run("workspace", "mkdirs", "/Shared/etl");
      const source = "# Databricks notebook source\nprint(1)\n";
      await cli.run("workspace", "import", "-l", "PYTHON", "-o", write("nb.py", source), "/Shared/etl/nb");
      expect(await cli.run("workspace", "ls", "-l", "/Shared/etl")).toMatch(/NOTEBOOK +\/?\S*nb +PYTHON/);
      await cli.run("workspace", "export", "-f", "SOURCE", "/Shared/etl/nb", join(folder, "out.py"));
      expect(readFileSync(join(folder, "out.py"), "utf8")).toBe(source);
      mkdirSync(join(folder, "tree"));
      await cli.run("workspace", "export_dir", "/Shared/etl", join(folder, "tree"));
      expect(readFileSync(join(folder, "tree", "nb.py"), "utf8")).toBe(source);
      await cli.run("workspace", "import_dir", join(folder, "tree"), "/Shared/copy");
      await cli.run("workspace", "rm", "-r", "/Shared/etl");
      expect((await cli.run("workspace", "ls", "/Shared")).trim()).toBe("copy");
    });

    test("secrets: scopes, secrets and access lists", async () => {
      await cli.run("secrets", "create-scope", "--scope", "etl");
      await cli.run("secrets", "put", "--scope", "etl", "--key", "db", "--string-value", "s3cret");
      expect(await cli.run("secrets", "list-scopes")).toMatch(/etl +DATABRICKS/);
      expect(await cli.run("secrets", "list", "--scope", "etl")).toMatch(/^db +\d{13}$/m);
      await cli.run("secrets", "put-acl", "--scope", "etl", "--principal", "users", "--permission", "READ");
      expect(await cli.run("secrets", "list-acls", "--scope", "etl")).toMatch(/users +READ/);
      expect(await cli.run("secrets", "get-acl", "--scope", "etl", "--principal", "users")).toMatch(
        /users +READ/,
      );
      await cli.run("secrets", "delete-acl", "--scope", "etl", "--principal", "users");
      await cli.run("secrets", "delete", "--scope", "etl", "--key", "db");
      await cli.run("secrets", "delete-scope", "--scope", "etl");
      expect(await cli.run("secrets", "list-scopes")).not.toContain("etl");
    });

    test("groups: create, members, delete", async () => {
      await cli.run("groups", "create", "--group-name", "eng");
      await cli.run("groups", "add-member", "--parent-name", "eng", "--user-name", "admin@example.com");
      expect(await json("groups", "list-members", "--group-name", "eng")).toEqual({
        members: [{ user_name: "admin@example.com" }],
      });
      expect(await json("groups", "list-parents", "--user-name", "admin@example.com")).toMatchObject({
        group_names: expect.arrayContaining(["eng"]),
      });
      await cli.run("groups", "remove-member", "--parent-name", "eng", "--user-name", "admin@example.com");
      await cli.run("groups", "delete", "--group-name", "eng");
      expect((await json("groups", "list")).group_names).not.toContain("eng");
    });

    test("tokens: create, list, revoke", async () => {
      const { token_info } = await json("tokens", "create", "--lifetime-seconds", "600", "--comment", "ci");
      expect((await json("tokens", "list")).token_infos).toEqual([token_info]);
      await cli.run("tokens", "revoke", "--token-id", token_info.token_id);
      expect(await json("tokens", "list")).toEqual({});
    });

    test("instance-pools: create, edit with tags, list, delete", async () => {
      const pool = { instance_pool_name: "p", node_type_id: "Standard_DS3_v2", custom_tags: { a: "1" } };
      const { instance_pool_id: id } = await json("instance-pools", "create", "--json", JSON.stringify(pool));
      const edit = { ...pool, instance_pool_id: id, custom_tags: { b: "2" } };
      await cli.run("instance-pools", "edit", "--json", JSON.stringify(edit));
      expect(await json("instance-pools", "get", "--instance-pool-id", id)).toMatchObject({
        custom_tags: { b: "2" },
      });
      expect(await cli.run("instance-pools", "list")).toContain(id);
      await cli.run("instance-pools", "delete", "--instance-pool-id", id);
      const gone = await cli.ended("instance-pools", "get", "--instance-pool-id", id);
      expect([gone.code, gone.output]).toEqual([1, expect.stringContaining("RESOURCE_DOES_NOT_EXIST")]);
    });

    test("clusters and libraries: create, resize, events, install, delete", async () => {
      const { cluster_id: id } = await json(
        "clusters",
        "create",
        "--json",
        JSON.stringify({ ...CLUSTER, cluster_name: "c" }),
      );
      await wait(10_000);
      expect(await cli.run("clusters", "list")).toMatch(new RegExp(`${id} +c +RUNNING`));
      await cli.run("clusters", "resize", "--cluster-id", id, "--num-workers", "2");
      await wait(10_000);
      expect(await json("clusters", "get", "--cluster-id", id)).toMatchObject({
        num_workers: 2,
        state: "RUNNING",
      });
      expect(
        (await json("clusters", "events", "--cluster-id", id, "--output", "JSON")).events.length,
      ).toBeGreaterThan(3);
      await cli.run("libraries", "install", "--cluster-id", id, "--pypi-package", "simplejson");
      expect((await json("libraries", "cluster-status", "--cluster-id", id)).library_statuses).toMatchObject([
        { status: "INSTALLED" },
      ]);
      expect((await json("libraries", "all-cluster-statuses")).statuses).toHaveLength(1);
      await cli.run("libraries", "uninstall", "--cluster-id", id, "--pypi-package", "simplejson");
      expect((await json("clusters", "list-node-types")).node_types.length).toBeGreaterThan(0);
      expect((await json("clusters", "spark-versions")).versions.length).toBeGreaterThan(0);
      await cli.run("clusters", "permanent-delete", "--cluster-id", id);
      await wait(10_000);
      expect(await cli.run("clusters", "list")).not.toContain(id);
    });

    test.each(["2.0", "2.1"])(
      "jobs and runs of version %s: create, run, list, reset, delete",
      async (version) => {
        const jobs = (...args: readonly string[]) => cli.run("jobs", ...args, `--version=${version}`);
        const task = { notebook_task: { notebook_path: "/Shared/nb" }, new_cluster: CLUSTER };
        const settings =
          version === "2.0" ? { name: "j", ...task } : { name: "j", tasks: [{ task_key: "t", ...task }] };
        const { job_id: id } = JSON.parse(await jobs("create", "--json", JSON.stringify(settings)));
        expect(await jobs("list")).toMatch(new RegExp(`${id} +j`));
        expect(JSON.parse(await jobs("get", "--job-id", String(id))).settings).toMatchObject(settings);
        const { run_id } = JSON.parse(await jobs("run-now", "--job-id", String(id)));
        await wait(60_000);
        const runs = (...args: readonly string[]) => cli.run("runs", ...args, `--version=${version}`);
        expect(JSON.parse(await runs("get", "--run-id", String(run_id))).state).toMatchObject({
          result_state: "SUCCESS",
        });
        expect(await runs("list", "--job-id", String(id))).toContain(String(run_id));
        expect(JSON.parse(await runs("get-output", "--run-id", String(run_id))).metadata.run_id).toBe(run_id);
        const submitted = JSON.parse(
          await runs("submit", "--json", JSON.stringify({ ...settings, run_name: "once" })),
        );
        await runs("cancel", "--run-id", String(submitted.run_id));
        await jobs("reset", "--job-id", String(id), "--json", JSON.stringify({ ...settings, name: "k" }));
        expect(JSON.parse(await jobs("get", "--job-id", String(id))).settings.name).toBe("k");
        await jobs("delete", "--job-id", String(id));
        const gone = await cli.ended("jobs", "get", "--job-id", String(id), `--version=${version}`);
        expect(gone.output).toContain(`Job ${id} does not exist.`);
      },
    );
  },
  180_000,
);
