// Runs a job of a GitHub workflow: its own steps in bash, and the published actions by what they do to files.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TOKEN } from "../code-host/code-host.ts";
import { listOf, type Mapping, mappingOf, ROOT, readYaml, type Site, type Variables } from "./pipeline.ts";

export interface Event {
  readonly ref: string;
  readonly payload: Mapping;
  readonly number: number;
  readonly attempt?: number;
  readonly sha?: string;
  /** Of a run that a person started. */
  readonly inputs?: Variables;
}

export interface JobResult {
  readonly code: number;
  readonly output: string;
  readonly summary: string;
  /** Outputs of the step with the id `plan`, or of the last action. */
  readonly outputs: Variables;
}

export interface Job {
  readonly workflow: string;
  readonly job: string;
  readonly event: Event;
  readonly vars: Variables;
  readonly secrets: Variables;
}

/** Replaces the expressions that the files use, and refuses any other. */
export function expanded(text: unknown, context: Readonly<Record<string, Variables>>): string {
  return String(text).replaceAll(/\$\{\{ *([^}]+?) *\}\}/g, (found, expression: string) => {
    const values = expression.split(" || ").map((path) => {
      const [room = "", ...rest] = path.split(".");
      const own = context[room];
      if (own === undefined) throw new Error(`the test cannot expand ${found}`);
      return own[rest.join(".")] ?? "";
    });
    return values.find((value) => value !== "") ?? "";
  });
}

const expandedAll = (mapping: unknown, context: Readonly<Record<string, Variables>>): Variables =>
  Object.fromEntries(
    Object.entries(mappingOf(mapping)).map(([name, value]) => [name, expanded(value, context)]),
  );

export async function runJob(site: Site, { workflow, job, event, vars, secrets }: Job): Promise<JobResult> {
  const file = readYaml(`ci/github/workflows/${workflow}.yml`);
  const steps = listOf(mappingOf(mappingOf(file.jobs)[job]).steps).map(mappingOf);
  let cwd = site.folder;
  let result: JobResult = { code: 0, output: "", summary: "", outputs: {} };
  for (const step of steps) {
    const uses = String(step.uses ?? "");
    const options = mappingOf(step.with);
    const artifact = join(site.folder, `artifact-${options.name}`);
    if (uses.startsWith("actions/checkout@"))
      cwd = site.checkout(event.ref, Number(options["fetch-depth"] ?? 1));
    else if (uses.startsWith("actions/upload-artifact@")) {
      if (step.if !== "steps.plan.outputs.changes == 'true'") throw new Error("unknown condition");
      if (result.outputs.changes === "true")
        cpSync(join(cwd, String(options.path)), join(artifact, String(options.path)), { recursive: true });
    } else if (uses.startsWith("actions/download-artifact@")) cpSync(artifact, cwd, { recursive: true });
    else if (uses === "OWNER/workspace/ci/github@COMMIT") {
      const context = { vars, secrets, inputs: event.inputs ?? {} };
      const inputs = expandedAll(options, context);
      result = await runAction(site, { cwd, inputs, env: expandedAll(step.env, context), event });
      if (result.code !== 0) return result;
    } else throw new Error(`the test has no ${uses}`);
  }
  return result;
}

interface Action {
  readonly cwd: string;
  readonly inputs: Variables;
  readonly env: Variables;
  readonly event: Event;
}

async function runAction(site: Site, { cwd, inputs, env, event }: Action): Promise<JobResult> {
  const action = readYaml("ci/github/action.yml");
  const defaults = Object.fromEntries(
    Object.entries(mappingOf(action.inputs)).map(([name, input]) => [name, mappingOf(input).default]),
  );
  const github = { token: TOKEN };
  const unknown = Object.keys(inputs).filter((name) => !(name in defaults));
  if (unknown.length > 0) throw new Error(`the action has no input ${unknown.join(", ")}`);
  const given = { ...expandedAll(defaults, { github }), ...inputs };
  const temp = join(site.folder, "temp");
  mkdirSync(temp, { recursive: true });
  const files = {
    output: join(temp, "output"),
    summary: join(temp, "summary"),
    event: join(temp, "event.json"),
  };
  writeFileSync(files.output, "");
  writeFileSync(files.summary, "");
  writeFileSync(files.event, JSON.stringify(event.payload));
  let output = "";
  let code = 0;
  for (const step of listOf(mappingOf(action.runs).steps).map(mappingOf)) {
    if (typeof step.run !== "string") continue;
    const done = await site.bash(step.run, cwd, {
      GITHUB_ACTIONS: "true",
      GITHUB_ACTION_PATH: join(ROOT, "ci/github"),
      GITHUB_API_URL: site.host.url,
      GITHUB_GRAPHQL_URL: `${site.host.url}/graphql`,
      GITHUB_SERVER_URL: "https://github.example",
      GITHUB_REPOSITORY: "me/infra",
      GITHUB_REF: event.ref,
      GITHUB_REF_NAME: event.ref.replace(/^refs\/heads\//, ""),
      GITHUB_ACTOR: "ada",
      GITHUB_RUN_ID: String(70 + event.number),
      GITHUB_RUN_NUMBER: "1",
      GITHUB_RUN_ATTEMPT: String(event.attempt ?? 1),
      GITHUB_SHA: event.sha ?? "0".repeat(40),
      GITHUB_EVENT_PATH: files.event,
      GITHUB_OUTPUT: files.output,
      GITHUB_STEP_SUMMARY: files.summary,
      RUNNER_TEMP: temp,
      ...env,
      ...expandedAll(step.env, { inputs: given, github }),
    });
    output += done.output;
    code = done.code;
    if (code !== 0) break;
  }
  const lines = readFileSync(files.output, "utf8")
    .split("\n")
    .filter((line) => line.includes("="));
  return {
    code,
    output,
    summary: readFileSync(files.summary, "utf8"),
    outputs: Object.fromEntries(lines.map((line) => line.split("=", 2) as [string, string])),
  };
}
