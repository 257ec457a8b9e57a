// Writes docs/reference from the program itself: a page for each command and kind, and the codes, exit codes, and variables (npm run reference).

import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { COMMANDS } from "../src/cli/commands.ts";
import { runProgram } from "../src/cli/program.ts";
import { ATTRIBUTES } from "../src/config/sign-in/sources.ts";
import { collectedOutput, Signals } from "../src/config/streams.ts";
import { CODES, type Code } from "../src/core/codes.ts";
import { registry } from "../src/providers/index.ts";
import { FIXES } from "./code-fixes.ts";

const ROOT = join(import.meta.dirname, "..");
const CODE_NAMES = Object.keys(CODES) as Code[];
/** Holds generated pages only. */
export const REFERENCE = join(ROOT, "docs/reference");

/** Environment variables of users, by name. A test compares the names with those that the program reads. */
export const VARIABLES: Readonly<Record<string, string>> = {
  WORKSPACE_ACTOR: "name of the person in the history of the state, instead of what the CI service sets",
  WORKSPACE_AUTH_TYPE: "sign-in to use, such as `oauth-m2m` or `azure-cli`",
  WORKSPACE_CA_FILE: "PEM file of a private certificate authority (`--ca-file`)",
  WORKSPACE_CLIENT_ID: "client ID of a service principal",
  WORKSPACE_CLIENT_SECRET: "OAuth secret of the service principal",
  WORKSPACE_CLOUD: "cloud of the databricks dialect: azure, aws, or gcp (`--cloud`)",
  WORKSPACE_COMMIT: "commit of the spec in reports and in the history, instead of what the CI service sets",
  WORKSPACE_CONFIG_FILE: "path of the profile file (default: `~/.workspacecfg`)",
  WORKSPACE_DEBUG: "print the stack of an internal error",
  WORKSPACE_DIALECT: "API dialect of the workspace: contract or databricks (`--dialect`)",
  WORKSPACE_FILE: "the spec (`--file`)",
  WORKSPACE_FLEET_DATABASE: "PostgreSQL URL of the results, the leases, and the queue of a fleet",
  WORKSPACE_FLEET_HOSTS: "hosts that a fleet file may name, such as `*.example.com`",
  WORKSPACE_HOST: "workspace URL, or `embedded` (`--host`)",
  WORKSPACE_LEASE: "lease of the state lock, such as `60s`",
  WORKSPACE_LOCK_TIMEOUT: "how long to wait for the state lock (`--lock-timeout`)",
  WORKSPACE_NO_INPUT: "never prompt (`--no-input`)",
  WORKSPACE_PARALLELISM: "number of concurrent requests (`--parallelism`)",
  WORKSPACE_PRICES: "file of prices, as with `--prices`",
  WORKSPACE_PROFILE: "profile to use (`--profile`)",
  WORKSPACE_READ_TIMEOUT: "time limit of all reads for a plan (`--read-timeout`)",
  WORKSPACE_RUN_URL: "page of the CI run, instead of what the CI service sets",
  WORKSPACE_RULES: "folder of rules, in addition to `--rules`",
  WORKSPACE_SECRET_: "prefix of variables that a fleet file may set for secrets of a spec",
  WORKSPACE_STATE: "location of the state (`--state`)",
  WORKSPACE_STATE_KEY: "key that encrypts the state and saved plans",
  WORKSPACE_STATE_KEY_OLD: "previous key, for `state rekey`",
  WORKSPACE_TARGET: "target of the spec (`--target`)",
  WORKSPACE_TOKEN: "access token of the workspace",
  WORKSPACE_USER: "user name of the caller, if the service does not report it",
  WORKSPACE_VAR_: "prefix: `WORKSPACE_VAR_env` is the value of `${var.env}`, unless it is empty",
  WORKSPACE_WEBHOOK_SECRET: "key that signs webhook messages",
};

/** Names that the sources read, apart from those that only the build, the launcher, or the protocol of the emulator uses. */
export function variablesInSources(): readonly string[] {
  const inner = new Set(["WORKSPACE_AUDIENCE", "WORKSPACE_AUTH", "WORKSPACE_BUILD", "WORKSPACE_LAUNCHER_FD"]);
  // The emulator reads no variable; its sources contain error codes of the service that begin alike.
  const paths = globSync(join(ROOT, "src/**/*.ts"), { exclude: (path) => path.includes("emulator/") });
  const texts = paths.map((path) => readFileSync(path, "utf8"));
  const names = texts.flatMap((text) => [...text.matchAll(/\bWORKSPACE_[A-Z_]+/g)].map(([name]) => name));
  return [...new Set(names)].filter((name) => !inner.has(name)).sort();
}

/** The variables of the vendor's tools that the program uses, and those that it reads to refuse their sign-in. */
function vendorVariables(): Readonly<Record<"used" | "refused", string>> {
  const attributes = Object.values<{ readonly vendor?: string; readonly kind?: string }>(ATTRIBUTES);
  const isRefused = ({ kind }: { readonly kind?: string }) => kind === "basic" || kind === "google";
  const { true: refused = [], false: used = [] } = Object.groupBy(
    attributes,
    (attribute) => `${isRefused(attribute)}`,
  );
  const others = ["DATABRICKS_CONFIG_FILE", "DATABRICKS_CONFIG_PROFILE", "DATABRICKS_OIDC_TOKEN"];
  const list = (names: readonly string[]) =>
    names
      .toSorted()
      .map((name) => `\`${name}\``)
      .join(", ");
  return {
    used: list([...used.flatMap(({ vendor }) => vendor ?? []), ...others]),
    refused: list(refused.flatMap(({ vendor }) => vendor ?? [])),
  };
}

/** The pages as the program describes itself now, by their paths in the folder. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const commands: string[] = [];
  for (const { name, summary, load } of COMMANDS) {
    const command = await load();
    const parts = [`# ${name}\n\n${sentence(summary)}\n\n${fenced(await outputOfHelp([name]))}`];
    for (const nested of "commands" in command ? command.commands : (command.below ?? []))
      parts.push(
        `## ${name} ${nested.name}\n\n${sentence(nested.summary)}\n\n${fenced(await outputOfHelp([name, nested.name]))}`,
      );
    pages.set(`commands/${name}.md`, parts.join("\n"));
    commands.push(`| [${name}](commands/${name}.md) | ${summary} |\n`);
  }
  const kinds: string[] = [];
  for (const { kind, dialect, cloud = "azure" } of registry.kinds) {
    pages.set(`kinds/${kind}.md`, await kindPage(kind, dialect, cloud));
    kinds.push(`| [${kind}](kinds/${kind}.md) | ${dialect === undefined ? "all" : dialect} |\n`);
  }
  pages.set("codes.md", codesPage());
  pages.set("variables.md", variablesPage());
  pages.set("README.md", indexPage(commands, kinds));
  return pages;
}

function indexPage(commands: readonly string[], kinds: readonly string[]): string {
  return `# Reference

\`npm run reference\` writes this folder from the program. [Diagnostic codes](codes.md) and [environment variables](variables.md) have pages of their own.

## Commands

| command | purpose |
|---|---|
${commands.join("")}
## Kinds

A spec has the fields of the dialect that its host speaks: \`databricks\` for hosts of Databricks, else \`contract\`, also for the
built-in emulator. To choose another one, pass \`--dialect\`. Each page shows the fields of both, for \`databricks\` those of one cloud.

| kind | dialects |
|---|---|
${kinds.join("")}
## Exit codes

| code | meaning |
|---|---|
| 0 | success, no changes, or no drift |
| 1 | an error, an apply with failures, or a failed test of a spec |
| 2 | changes (\`plan --detailed-exitcode\`), drift (\`drift\`), or a file that is not formatted (\`fmt --check\`); \`export\`, \`convert\`, and \`drift accept --keep-going\`: something was left out; \`fleet\`: a workspace has changes or drift |
| 3 | a guard or a rule blocks the plan |
| 4 | the plan is stale: the spec, the state, a live object, or a sensitive value changed since, or an apply of it began before |
| 5 | another run holds the state lock |
| 130, 143 | stopped by a signal; the state is saved |
`;
}

/** A kind in each of its dialects; once if both have the same fields. */
async function kindPage(kind: string, dialect: string | undefined, cloud: string): Promise<string> {
  const words = ["explain", kind];
  const databricks = [...words, "--dialect", "databricks", "--cloud", cloud];
  const fields = fenced(await output(databricks));
  const inContract = dialect === undefined ? fenced(await output(words)) : undefined;
  if (inContract === fields)
    return `# ${kind}\n\nAll dialects (\`workspace ${words.join(" ")}\`):\n\n${fields}`;
  const page = `# ${kind}\n\nThe dialect \`databricks\` (\`workspace ${databricks.join(" ")}\`):\n\n${fields}`;
  if (inContract === undefined) return page;
  return `${page}\nThe dialect \`contract\`, which is the default if the host is not a host of Databricks (\`workspace ${words.join(" ")}\`):\n\n${inContract}`;
}

function variablesPage(): string {
  const { used, refused } = vendorVariables();
  return `# Environment variables

A flag takes precedence over its variable, a variable over the profile, and the profile over the default.

| variable | meaning |
|---|---|
${rows(Object.entries(VARIABLES))}
The variables of the vendor's tools apply after \`WORKSPACE_*\` and \`~/.workspacecfg\`: ${used}. [Sign in](../databricks.md#sign-in) explains those of each method.
\`DATABRICKS_CONFIG_FILE\` is the path of the vendor's profiles (default: \`~/.databrickscfg\`), and \`ARM_ENVIRONMENT\` the cloud of Azure, such as \`usgovernment\`.

These belong to sign-ins that are [not supported](../databricks.md#verification), and are read only to say so: ${refused}.

\`HTTPS_PROXY\`, \`HTTP_PROXY\`, \`NO_PROXY\`, \`NO_COLOR\`, \`FORCE_COLOR\`, \`CI\`, and the \`PG*\` variables of PostgreSQL have their usual meaning.
`;
}

function codesPage(): string {
  return `# Diagnostic codes

The hint of a diagnostic is more specific than this table.

| code | meaning | fix |
|---|---|---|
${codeRows()}`;
}

const sentence = (summary: string): string => `${summary[0]?.toUpperCase()}${summary.slice(1)}.`;
const fenced = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
const rows = (entries: readonly (readonly [string, string])[]): string =>
  entries.map(([name, text]) => `| \`${name}\` | ${text.replaceAll("|", "\\|")} |\n`).join("");
const codeRows = (): string =>
  CODE_NAMES.map((code) => `| \`${code}\` | ${CODES[code]} | ${FIXES[code]} |\n`).join("");
const outputOfHelp = (words: readonly string[]): Promise<string> => output([...words, "--help"]);

async function output(words: readonly string[]): Promise<string> {
  const sink = collectedOutput(process.stdout);
  const signals = new Signals(() => undefined);
  const stdin = new PassThrough();
  const context = { env: {}, cwd: ROOT, home: ROOT, stdin, stdout: sink, stderr: sink, signals };
  const code = await runProgram(context, words);
  if (code !== 0) throw new Error(`workspace ${words.join(" ")}: exit ${code}\n${sink.text()}`);
  return sink.text();
}

if (import.meta.main) {
  const pages = await referencePages();
  rmSync(REFERENCE, { recursive: true, force: true });
  for (const [path, text] of pages) {
    mkdirSync(dirname(join(REFERENCE, path)), { recursive: true });
    writeFileSync(join(REFERENCE, path), text);
  }
}
