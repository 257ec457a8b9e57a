// The comparison with Terraform, as far as it can be tested without the vendor's provider: its configuration, and its errors.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { resourcesOf, SMALL, TINY } from "../../bench/sizes.ts";
import { measureTerraform, NotInstalled } from "../../bench/terraform.ts";
import { inDatabricks, terraformConfig } from "../../bench/terraform-config.ts";
import { worldOf } from "../../bench/world.ts";

const folder = mkdtempSync(join(tmpdir(), "bench-terraform-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that stands in for terraform. */
function fake(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const VERSION =
  'if [ "$1" = version ]; then echo "Terraform v1.11.4"; echo "+ provider registry.example/databricks/databricks v1.2.3"; exit 0; fi';

describe("the configuration", () => {
  const world = inDatabricks(worldOf(SMALL));
  const config = JSON.parse(JSON.stringify(terraformConfig(world))) as ReturnType<typeof terraformConfig>;

  test("declares each resource of the workspace once, with each membership", () => {
    const counts = Object.entries(config.resource).map(([type, all]) => [type, Object.keys(all).length]);
    expect(Object.fromEntries(counts)).toEqual({
      databricks_user: 200,
      databricks_group: 20,
      databricks_group_member: 400,
      databricks_secret_scope: 16,
      databricks_secret: 160,
      databricks_secret_acl: 48,
      databricks_instance_pool: 4,
      databricks_cluster: 20,
      databricks_job: 372,
    });
    const all = counts.reduce((sum, [, count]) => sum + Number(count), 0);
    expect(all).toBe(resourcesOf(SMALL) + SMALL.memberships);
  });

  test("has identifiers as names, and templates that refer to declared resources only", () => {
    const types = config.resource as Record<string, Record<string, unknown>>;
    for (const name of Object.values(types).flatMap((all) => Object.keys(all)))
      expect(name).toMatch(/^[A-Za-z_][\w-]*$/);
    const templates = JSON.stringify(config).match(/[$%]\{[^}]*\}/g) ?? [];
    expect(templates.length).toBeGreaterThan(1_000);
    for (const template of new Set(templates)) {
      if (template === "${var.secret}") continue;
      const [, type = "", name = ""] =
        /^\$\{(\w+)\.([\w-]+)\.(?:id|name|display_name)\}$/.exec(template) ?? [];
      expect(types[type]?.[name], template).toBeDefined();
    }
  });

  test("has one task in each job, on a declared cluster or on a new one", () => {
    for (const job of Object.values(config.resource.databricks_job ?? {})) {
      const [task, ...more] = job.task as Record<string, unknown>[];
      expect(more).toEqual([]);
      expect([task?.existing_cluster_id, task?.new_cluster].filter((one) => one !== undefined).length).toBe(
        1,
      );
      expect(JSON.stringify(task)).not.toContain('"fs:/');
    }
  });
});

describe("the comparison", () => {
  test("says how to get Terraform where it is missing", async () => {
    const missing = measureTerraform(TINY, join(folder, "missing"));
    await expect(missing).rejects.toThrow(NotInstalled);
    await expect(missing).rejects.toThrow(/install it .*or leave out --with-terraform/);
  });

  test("says what is wrong where the provider cannot be installed", async () => {
    const program = fake(
      "no-provider",
      `${VERSION}\necho "Initializing"; echo "Error: no such host" >&2; exit 1`,
    );
    const failed = measureTerraform(TINY, program);
    await expect(failed).rejects.toThrow(NotInstalled);
    await expect(failed).rejects.toThrow(
      /databricks\/databricks could not be installed.*\nError: no such host$/,
    );
  });

  test("runs both programs against the emulator in the dialect of Databricks", async () => {
    const check = '[ -f main.tf.json ] && [ "$DATABRICKS_AUTH_TYPE" = pat ] || exit 9';
    const call =
      'curl --silent --output /dev/null "$DATABRICKS_HOST/api/2.0/clusters/list" --header "Authorization: Bearer $DATABRICKS_TOKEN"';
    const program = fake("empty", `${VERSION}\nif [ "$1" = init ]; then exit 0; fi\n${check}\n${call}`);
    const { version, provider, ours, theirs } = await measureTerraform(TINY, program);
    expect([version, provider]).toEqual(["1.11.4", "1.2.3"]);
    expect([theirs.apply.reads, theirs.plan.reads]).toEqual([1, 1]);
    expect(ours.apply.writes).toBeGreaterThanOrEqual(resourcesOf(TINY));
    expect(ours.plan).toMatchObject({ writes: 0 });
  }, 120_000);
});
