// Rotated secrets in the pipelines of every platform: the plan step has no value, the apply step has.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampleFrom } from "../sample-size.ts";
import { runAzureJob } from "./runners/azure-runner.ts";
import { runJob } from "./runners/github-runner.ts";
import { apiToken, type GitLabResult, runGitLabJob, type Source, sourceOf } from "./runners/gitlab-runner.ts";
import { listOf, mappingOf, Site, type StepResult, specOf, WORKSPACE_TOKEN } from "./runners/pipeline.ts";

/** One platform: its job that saves a plan, and the one that applies it where the pipeline runs it. */
interface Pipeline {
  plan(run: number): Promise<StepResult & { readonly changes: boolean }>;
  apply(run: number): Promise<StepResult>;
}

const spec = (capacity: number): string =>
  `${specOf(capacity)}scopes: { platform: { secrets: { db-password: { env: DB_PASSWORD }, api-key: { env: API_KEY } } } }\n`;

function github(site: Site): Pipeline {
  const { WORKSPACE_HOST = "", WORKSPACE_STATE = "", WORKSPACE_STATE_KEY = "" } = site.secrets();
  const vars = { WORKSPACE_HOST, WORKSPACE_STATE };
  const tokens = { WORKSPACE_PLAN_TOKEN: WORKSPACE_TOKEN, WORKSPACE_APPLY_TOKEN: WORKSPACE_TOKEN };
  const secrets = { ...tokens, WORKSPACE_STATE_KEY };
  const run = (job: string, number: number) =>
    runJob(site, {
      workflow: "workspace-apply",
      job,
      event: { ref: "refs/heads/main", payload: {}, number },
      vars,
      secrets,
    });
  return {
    plan: async (number) => {
      const done = await run("plan", number);
      return { ...done, changes: done.outputs.changes === "true" };
    },
    apply: (number) => run("apply", number),
  };
}

function gitlab(site: Site, source: Source): Pipeline {
  let saved: GitLabResult | undefined;
  const secrets = { ...site.secrets(), ...apiToken };
  const run = (job: string, pipeline: number, from?: GitLabResult) =>
    runGitLabJob(site, source, { job, ref: "main", pipeline, variables: {}, secrets }, from);
  return {
    plan: async (number) => {
      saved = await run("workspace-save-plan", number);
      const outputs = join(saved.cwd, "workspace-reports/workspace.env");
      const changes = existsSync(outputs) && readFileSync(outputs, "utf8").includes("WORKSPACE_CHANGES=true");
      return { ...saved, changes };
    },
    apply: (number) => run("workspace-apply", number, saved),
  };
}

function azure(site: Site): Pipeline {
  const run = (stage: string, build: number) =>
    runAzureJob(site, { stage, ref: "main", build, variables: site.secrets() });
  return {
    plan: async (number) => {
      const done = await run("save", number);
      return { ...done, changes: done.output.includes("variable=changes;isOutput=true]true") };
    },
    apply: (number) => run("apply", number),
  };
}

describe.each(sampleFrom(["GitHub", "GitLab", "Azure Pipelines"] as const))(
  "a secret in the pipeline of %s",
  (name) => {
    const sourceFolder = mkdtempSync(join(tmpdir(), "ci-source-"));
    let site: Site;
    let pipeline: Pipeline;

    /** Plans without a value, applies with `values` if the pipeline gets there, and returns both with the keys that were written. */
    async function push(run: number, capacity: number, values: Readonly<Record<string, string>>) {
      site.commit({ "workspace.yaml": spec(capacity) }, "refs/heads/main");
      const planned = await pipeline.plan(run);
      expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
      const before = await writtenAt();
      site.variables = values;
      const applied = planned.changes ? await pipeline.apply(run) : undefined;
      site.variables = {};
      const after = await writtenAt();
      const written = Object.keys(after).filter((key) => after[key] !== before[key]);
      return { planned, applied, written };
    }

    async function writtenAt(): Promise<Readonly<Record<string, unknown>>> {
      const { secrets } = await site.call("secrets/list?scope=platform", undefined);
      return Object.fromEntries(
        listOf(secrets).map((secret) => {
          const { key, last_updated_timestamp } = mappingOf(secret);
          return [key, last_updated_timestamp];
        }),
      );
    }

    beforeAll(async () => {
      site = await Site.open();
      const pipelines = { GitHub: github, "Azure Pipelines": azure } as const;
      pipeline = name === "GitLab" ? gitlab(site, sourceOf(sourceFolder)) : pipelines[name](site);
    }, 60_000);
    afterAll(async () => {
      await site.close();
      rmSync(sourceFolder, { recursive: true, force: true, maxRetries: 5 });
    });

    const values = { DB_PASSWORD: "first-password", API_KEY: "first-key" };
    const rotated = { ...values, DB_PASSWORD: "second-password" };
    const again = { ...rotated, API_KEY: "second-key" };

    test("that is new or rotated is deployed, and one without a value fails before the first write", {
      timeout: 240_000,
    }, async () => {
      const created = await push(1, 10, values);
      expect({ code: created.applied?.code, output: created.applied?.output }).toMatchObject({ code: 0 });
      expect(created.written).toEqual(["api-key", "db-password"]);

      const rotation = await push(2, 10, rotated);
      expect(rotation.planned.output).toContain("2 secrets are written if they differ.");
      expect({ code: rotation.applied?.code, output: rotation.applied?.output }).toMatchObject({ code: 0 });
      expect(rotation.applied?.output).toContain("1 updated, 0 replaced, 0 deleted; 1 secret unchanged.");
      expect(rotation.written).toEqual(["db-password"]);

      const none = await push(3, 10, rotated);
      expect(none.planned.changes).toBe(true);
      expect(none.applied?.code).toBe(0);
      expect(none.applied?.output).toContain("0 updated, 0 replaced, 0 deleted; 2 secrets unchanged.");
      expect(none.written).toEqual([]);

      const both = await push(4, 20, again);
      expect({ code: both.applied?.code, output: both.applied?.output }).toMatchObject({ code: 0 });
      expect(both.written).toEqual(["api-key"]);
      expect((await site.pool()).max_capacity).toBe(20);

      const { API_KEY: _, ...lacking } = { ...again, DB_PASSWORD: "third-password" };
      const missing = await push(5, 30, lacking);
      expect(missing.applied?.code).toBe(1);
      expect(missing.applied?.output).toContain(
        "SPEC_SECRET_SOURCE: secrets.platform/api-key: the environment variable API_KEY is not set",
      );
      expect(missing.written).toEqual([]);
      expect((await site.pool()).max_capacity).toBe(20);
    });
  },
);
