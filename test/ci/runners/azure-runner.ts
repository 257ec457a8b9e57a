// Runs a job of the Azure file: the steps of its template in bash, with the expressions that the files use.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { TOKEN } from "../code-host/code-host.ts";
import {
  listOf,
  type Mapping,
  mappingOf,
  ROOT,
  readYaml,
  type Site,
  type StepResult,
  type Variables,
} from "./pipeline.ts";

export interface AzureJob {
  readonly stage: string;
  readonly ref: string;
  readonly build: number;
  readonly variables: Variables;
  readonly pullRequest?: string;
  readonly acceptDrift?: string;
}

const FILE = "ci/azure-pipelines/azure-pipelines.yml";

/** All stages, also those below a condition. */
export function stagesOf(): readonly Mapping[] {
  return listOf(readYaml(FILE).stages).flatMap((stage) => {
    const entries = Object.entries(mappingOf(stage));
    const [key = "", value] = entries[0] ?? [];
    return key.startsWith("${{ if ") ? listOf(value).map(mappingOf) : [mappingOf(stage)];
  });
}

/** The steps of the only job of a stage. */
export function stepsOf(stage: string): readonly Mapping[] {
  const [job] = listOf(stagesOf().find((one) => one.stage === stage)?.jobs).map(mappingOf);
  const deploy = mappingOf(mappingOf(mappingOf(job?.strategy).runOnce).deploy);
  return listOf(job?.steps ?? deploy.steps).map(mappingOf);
}

export interface AzureResult extends StepResult {
  /** The files of the published reports. */
  readonly published: readonly string[];
}

export async function runAzureJob(site: Site, job: AzureJob): Promise<AzureResult> {
  const build = join(site.folder, `build-${job.stage}-${job.build}`);
  for (const folder of ["s", "temp"]) mkdirSync(join(build, folder), { recursive: true });
  const machine: Variables = {
    "Agent.BuildDirectory": build,
    "Agent.TempDirectory": join(build, "temp"),
    "System.StageName": job.stage,
    "System.JobAttempt": "1",
    "Pipeline.Workspace": join(site.folder, "artifacts"),
    "System.AccessToken": TOKEN,
    ...job.variables,
  };
  let result: AzureResult = { code: 0, output: "", published: [] };
  for (const step of stepsOf(job.stage)) {
    if (step.checkout === "self")
      renameSync(site.checkout(job.ref, Number(step.fetchDepth)), join(build, "s/self"));
    else if (step.checkout === "workspace") symlinkSync(ROOT, join(build, "s/workspace"));
    else if (step.publish !== undefined) {
      const changed = result.output.includes("##vso[task.setvariable variable=changes;isOutput=true]true");
      const file = expanded(String(step.publish), {}, machine);
      if (changed) cpSync(file, join(site.folder, "artifacts", String(step.artifact), "workspace.plan"));
    } else if (step.template !== undefined)
      result = await runTemplate(site, { ...job, machine, given: mappingOf(step.parameters), folder: build });
    else if (
      step.download === undefined ||
      !existsSync(join(site.folder, "artifacts", String(step.artifact)))
    )
      throw new Error(`the test has no ${JSON.stringify(step)}`);
    if (result.code !== 0) return result;
  }
  return result;
}

interface Template extends AzureJob {
  readonly machine: Variables;
  readonly given: Mapping;
  readonly folder: string;
}

async function runTemplate(
  site: Site,
  { given, machine, folder: build, ...job }: Template,
): Promise<AzureResult> {
  const template = readYaml("ci/azure-pipelines/steps.yml");
  const declared = listOf(template.parameters).map(mappingOf);
  const unknown = Object.keys(given).filter((name) => !declared.some((one) => one.name === name));
  if (unknown.length > 0) throw new Error(`the template has no parameter ${unknown.join(", ")}`);
  const defaults = Object.fromEntries(declared.map(({ name, default: value }) => [String(name), value]));
  const all: Mapping = { ...defaults, ...given };
  const parameters = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [
      name,
      String(value)
        .replace("${{ parameters.pullRequest }}", job.pullRequest ?? "")
        .replace("${{ parameters.acceptDrift }}", job.acceptDrift ?? ""),
    ]),
  );
  let output = "";
  let code = 0;
  let published: readonly string[] = [];
  for (const step of listOf(template.steps).map(mappingOf)) {
    if (code !== 0 && step.condition !== "succeededOrFailed()") continue;
    if (step.task === "PublishTestResults@2") {
      const file = expanded(String(mappingOf(step.inputs).testResultsFiles), {}, machine);
      if (existsSync(file) && !readFileSync(file, "utf8").includes("<testsuites"))
        throw new Error(`${file} has no test results`);
    } else if (step.publish !== undefined)
      published = readdirSync(expanded(String(step.publish), {}, machine));
    if (typeof step.bash !== "string") continue;
    const env = expandedEnvironment(mappingOf(step.env), { parameters, all, machine });
    const cwd =
      step.workingDirectory === undefined ? build : expanded(String(step.workingDirectory), {}, machine);
    const done = await site.bash(step.bash, cwd, {
      TF_BUILD: "True",
      AGENT_BUILDDIRECTORY: build,
      AGENT_TEMPDIRECTORY: join(build, "temp"),
      SYSTEM_COLLECTIONURI: `${site.host.url}/org/`,
      SYSTEM_TEAMPROJECT: "etl",
      BUILD_REPOSITORY_ID: "repo-1",
      BUILD_BUILDID: String(job.build),
      BUILD_SOURCEBRANCH: "refs/heads/main",
      BUILD_SOURCEVERSION: "c0ffee".repeat(6),
      ...(job.variables as Record<string, string>),
      ...env,
    });
    output += done.output;
    code = done.code;
  }
  return { code, output, published };
}

interface Scope {
  readonly parameters: Variables;
  readonly all: Mapping;
  readonly machine: Variables;
}

function expandedEnvironment(env: Mapping, { parameters, all, machine }: Scope): Variables {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const condition =
      /^\$\{\{ if or\(parameters\.(\w+), parameters\.(\w+), eq\(parameters\.command, '(\w+)'\)\) \}\}$/.exec(
        name,
      );
    let pairs: Mapping = { [name]: value };
    if (condition !== null)
      pairs = condition.slice(1).some((one) => parameters[one] === "true" || parameters.command === one)
        ? mappingOf(value)
        : {};
    else if (name === "${{ each pair in parameters.environment }}") pairs = mappingOf(all.environment);
    for (const [key, text] of Object.entries(pairs)) found[key] = expanded(String(text), parameters, machine);
  }
  return found;
}

/** A macro of a variable that is not set is not replaced, as on the platform. */
function expanded(text: string, parameters: Variables, machine: Variables): string {
  return text
    .replaceAll(/\$\{\{ (?:lower\()?parameters\.(\w+)\)? \}\}/g, (_, name: string) => parameters[name] ?? "")
    .replaceAll(/\$\(([^()]+)\)/g, (found, name: string) => machine[name] ?? found);
}
