// The same workspace with Terraform and the vendor's provider, against the emulator in the dialect of Databricks.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figure } from "./measure.ts";
import { inFolder, mustRun } from "./process.ts";
import type { Sizes } from "./sizes.ts";
import { SECRET_VARIABLE, writeSpec } from "./spec.ts";
import { inDatabricks, terraformConfig } from "./terraform-config.ts";
import { CLI, startWorkspace, TOKEN, type Workspace } from "./workspace.ts";
import { worldOf } from "./world.ts";

/** Terraform or its provider is missing on this machine; the message says how to get it. */
export class NotInstalled extends Error {}

export interface TerraformFigures {
  /** The versions of Terraform and of the vendor's provider. */
  readonly version: string;
  readonly provider: string;
  readonly ours: { readonly apply: Timed; readonly plan: Timed };
  readonly theirs: { readonly apply: Timed; readonly plan: Timed };
}

export type Timed = Pick<Figure, "ms" | "reads" | "writes">;

const SECRET = "a secret of the benchmark";

/** Throws NotInstalled without Terraform, or without its provider. */
export function measureTerraform(
  sizes: Sizes,
  terraform = "terraform",
  program = CLI,
): Promise<TerraformFigures> {
  const world = inDatabricks(worldOf(sizes));
  return inFolder(async (folder) => {
    writeFileSync(join(folder, "main.tf.json"), JSON.stringify(terraformConfig(world), undefined, 1));
    const version = await versionOf(terraform, folder, PROGRAM);
    await init(terraform, folder);
    const provider = await versionOf(terraform, folder, PROVIDER);
    const theirs = await onWorkspace((workspace) => measureTheirs(workspace, terraform, folder));
    writeSpec(folder, world);
    const ours = await onWorkspace((workspace) => measureOurs(workspace, program, folder));
    return { version, provider, ours, theirs };
  });
}

async function onWorkspace<T>(act: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = await startWorkspace("databricks");
  try {
    return await act(workspace);
  } finally {
    await workspace.stop();
  }
}

async function measureTheirs(workspace: Workspace, terraform: string, folder: string) {
  const env = {
    DATABRICKS_HOST: workspace.url,
    DATABRICKS_TOKEN: TOKEN,
    DATABRICKS_AUTH_TYPE: "pat",
    TF_VAR_secret: SECRET,
    TF_IN_AUTOMATION: "1",
  };
  const run = async (...words: string[]): Promise<Timed> => {
    await workspace.requests();
    const { code, ms, text } = await called(terraform, [...words, "-input=false", "-no-color"], folder, env);
    if (code !== 0) throw new Error(`terraform ${words[0]} ended with ${code}\n${text.slice(-2_000)}`);
    return { ms, ...(await workspace.requests()) };
  };
  const apply = await run("apply", "-auto-approve");
  return { apply, plan: await run("plan", "-detailed-exitcode") };
}

async function measureOurs(workspace: Workspace, program: string, folder: string) {
  const env = {
    WORKSPACE_TOKEN: TOKEN,
    WORKSPACE_DIALECT: "databricks",
    [SECRET_VARIABLE]: SECRET,
    CI: "1",
  };
  const run = async (command: string, ...words: string[]): Promise<Timed> => {
    await workspace.requests();
    const file = join(folder, "workspace.yaml");
    const args = [program, command, "--file", file, "--host", workspace.url, ...words];
    const { ms } = await mustRun(args, env);
    return { ms, ...(await workspace.requests()) };
  };
  const apply = await run("apply", "--auto-approve");
  return { apply, plan: await run("plan", "--detailed-exitcode") };
}

const PROGRAM = /Terraform v(\S+)/;
/** Known after `init`. */
const PROVIDER = /databricks\/databricks v(\S+)/;

async function versionOf(terraform: string, folder: string, of: RegExp): Promise<string> {
  const { code, text } = await called(terraform, ["version"], folder).catch(() => ({ code: -1, text: "" }));
  const version = of.exec(text)?.[1];
  if (code === 0 && version !== undefined) return version;
  throw new NotInstalled(
    "terraform cannot be run: install it (https://developer.hashicorp.com/terraform/install), or leave out --with-terraform",
  );
}

async function init(terraform: string, folder: string): Promise<void> {
  const { code, text } = await called(terraform, ["init", "-input=false", "-no-color"], folder);
  if (code === 0) return;
  const reason = text.slice(Math.max(0, text.indexOf("Error:"))).trim();
  throw new NotInstalled(
    `the provider databricks/databricks could not be installed: check the network, or the mirror in the configuration of terraform\n${reason.slice(0, 1_000)}`,
  );
}

function called(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly ms: number; readonly text: string }> {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        text += chunk;
      });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, ms: performance.now() - begin, text }));
  });
}
