// The real JSON of every command fits its schema: member by member, and as the output of a later version fits it, too.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { deadJobJson, fleetWorkspaceJson, resultJson } from "../../../src/fleet/report/fleet-json.ts";
import { resultOf, workspaceNamed } from "../../fleet/queue/workspaces.ts";
import { closedValidator, openValidator } from "../../output-schemas.ts";
import { startPostgres } from "../../state/backends/postgres/server.ts";
import { contextWith } from "../context.ts";
import { jsonCommands } from "./json-commands.ts";

const TOKEN = "json-token";
const SPEC = `variables: { size: { default: 10 } }
pools: { shared: { node_type_id: Standard_DS3_v2, max_capacity: "\${var.size}" } }
clusters:
  adhoc: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.shared.instance_pool_id}" }
notebooks: { /Shared/nightly: { source: nightly.py } }
jobs:
  nightly:
    new_cluster: { spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: Standard_DS3_v2 }
    notebook_task: { notebook_path: "\${notebooks./Shared/nightly.path}" }
`;
const TEST = `tests:
  passes: { steps: [{ apply: }, { drift: }] }
  fails: { steps: [{ plan: , expect: { summary: { create: 99 } } }] }
`;
const TERRAFORM = { version: 4, terraform_version: "1.5.7", serial: 1, lineage: "l", resources: [] };

let server: RunningServer;
const database = startPostgres();
let folder: string;

beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  folder = mkdtempSync(join(tmpdir(), "json-"));
  const files = {
    "workspace.yaml": SPEC,
    "nightly.py": "print(1)\n",
    "a.test.yaml": TEST,
    "terraform.tfstate": JSON.stringify(TERRAFORM),
    "fleet/workspace.yaml": "groups: { eng: {} }\n",
    "fleet/fleet.yaml": `workspaces:\n  ads: { spec: ., host: "${server.url}", environment: { WORKSPACE_TOKEN: TOKEN }, labels: { env: prod }, schedule: "0 6 * * *" }\n`,
  };
  mkdirSync(join(folder, "fleet"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
});
afterAll(async () => {
  await server.close();
  database?.stop();
});

async function documentsOf(words: readonly string[]): Promise<readonly unknown[]> {
  const isFleet = words[0] === "fleet";
  const url =
    database &&
    `postgres://postgres@localhost/postgres?host=${encodeURIComponent(database.folder)}&schema=json`;
  const env = {
    TOKEN,
    ...(isFleet ? {} : { WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN }),
    ...(isFleet && url !== undefined ? { WORKSPACE_FLEET_DATABASE: url } : {}),
  };
  const context = contextWith(env, isFleet ? join(folder, "fleet") : folder);
  const ended = runProgram(context, words);
  // A worker runs until a signal ends it.
  if (words[1] === "worker") {
    while (!context.out().includes("\n")) await new Promise((resolve) => setTimeout(resolve, 100));
    context.signals.receive("SIGTERM");
  }
  await ended;
  const text = context.out();
  if (text === "") throw new Error(context.err());
  return text.startsWith("{\n")
    ? [JSON.parse(text)]
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
}

/** In this order: each finds what the ones before it left. The name of a command is the beginning of its line. */
const LINES: readonly string[] = [
  "validate",
  "test",
  "plan",
  "plan --out saved",
  "show saved",
  "apply --auto-approve --only pools.*",
  "apply --auto-approve",
  "api instance-pools/edit instance_pool_name=shared max_capacity=11",
  "drift",
  "drift acknowledge pools.shared.max_capacity --until 2999-12-31 --reason load",
  "drift acknowledge --list",
  "drift",
  "drift acknowledge pools.shared.max_capacity --remove",
  "drift accept pools.shared --dry-run",
  "plan --var size=12",
  "explain pools.shared --plan --var size=12",
  "access admin@example.com",
  "access workspace --of plan",
  "access workspace --of spec",
  "history",
  "history last --diff",
  "history --hide kind=pools",
  "plan --hide kind=pools",
  "drift --hide kind=pools",
  "graph",
  "render",
  "console var.size",
  "whoami",
  "version",
  "state list",
  "state show pools.shared",
  "state restore",
  "state rm notebooks./Shared/nightly",
  "import notebooks./Shared/nightly /Shared/nightly",
  "convert terraform.tfstate",
  "run jobs.nightly",
  "run jobs.nightly --wait",
  "runs list",
  "runs get --job jobs.nightly",
  "runs output --job jobs.nightly",
  "runs export --job jobs.nightly",
  "clusters start clusters.adhoc --wait",
  "clusters restart clusters.adhoc --auto-approve --wait",
  "clusters resize clusters.adhoc --workers 2",
  "clusters terminate clusters.adhoc --auto-approve",
  "clusters events clusters.adhoc",
  "destroy --auto-approve",
  "fleet list",
  "fleet validate",
  "fleet plan",
  "fleet apply --auto-approve",
  "fleet drift",
  "fleet logs ads",
  "fleet status",
  "fleet report",
];

const OF_THE_QUEUE: readonly string[] = [
  "fleet schedule",
  "fleet pause --for 1h --reason release",
  "fleet enqueue plan",
  "fleet enqueue drift",
  "fleet status",
  "fleet cancel --all",
  "fleet resume",
  "fleet enqueue drift",
  "fleet worker",
  "fleet dead-letters",
  "fleet dead-letters --retry",
  "fleet dead-letters --remove",
];

/** `fleet run` prints a result only if a schedule is due: the results of `fleet drift`. */
const WITHOUT_LINE = ["fleet run"];

const commands = await jsonCommands();

const commandOf = (line: string) =>
  commands
    .filter(({ name }) => `${line} `.startsWith(`${name} `))
    .sort((a, b) => b.name.length - a.name.length)[0];

const MAPS = ["labels", "variables", "environment", "origins"];

/** As a later version may print it: each object has one more member, and the words of the program are others. */
function later(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => later(item));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  // Counts by name, and values by name.
  if (MAPS.includes(key) || members.every(([, member]) => typeof member === "number")) return value;
  const changed = members.map(([name, member]): [string, unknown] => {
    if (name === "format_version") return [name, "1.99"];
    return [name, WORDS.includes(name) && typeof member === "string" ? "later" : later(member, name)];
  });
  return { ...Object.fromEntries(changed), added_later: { by: "a later version" } };
}

const WORDS = ["action", "status", "state", "cause", "what", "outcome"];

function expectFits(schema: string, document: unknown): void {
  const closed = closedValidator(schema);
  closed(document);
  expect({ schema, errors: closed.errors }).toEqual({ schema, errors: null });
}

function expectOpen(schema: string, document: unknown): void {
  const open = openValidator(schema);
  open(later(document));
  expect({ schema, errors: open.errors }).toEqual({ schema, errors: null });
}

const runLine = async (line: string): Promise<void> => {
  const words = line.split(" ");
  const isPrinted = commandOf(line) !== undefined && line !== "state rm notebooks./Shared/nightly";
  const more = isPrinted && line !== "plan --out saved" ? ["-o", "json"] : [];
  if (!isPrinted || line === "plan --out saved") {
    await runProgram(
      contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN }, folder),
      await filled(words),
    );
    return;
  }
  const schema = commandOf(line)?.schema ?? "";
  const documents = await documentsOf([...words, ...more]);
  for (const document of documents) {
    expect(document).toHaveProperty("format_version", "1.0");
    expectFits(schema, document);
    expectOpen(schema, document);
  }
};

/** The ID of the pool, and the fields that an edit needs. */
async function filled(words: readonly string[]): Promise<readonly string[]> {
  if (words[0] !== "api") return words;
  const [state] = (await documentsOf(["state", "list", "-o", "json"])) as [
    { resources: { address: string; id: string }[] },
  ];
  const id = state.resources.find(({ address }) => address === "pools.shared")?.id;
  return [...words, `instance_pool_id=${id}`, "node_type_id=Standard_DS3_v2"];
}

describe("JSON outputs", () => {
  test("every command with JSON has a line here", () => {
    const named = new Set([...LINES, ...OF_THE_QUEUE].map((line) => commandOf(line)?.name));
    const missing = commands.filter(({ name }) => !named.has(name)).map(({ name }) => name);
    expect(missing).toEqual(WITHOUT_LINE);
  });

  test("fit their schemas, and so does the output of a later version", { timeout: 120_000 }, async () => {
    for (const line of LINES) await runLine(line);
    expect.hasAssertions();
  });

  test.skipIf(database === undefined)("of a queue fit their schemas", { timeout: 120_000 }, async () => {
    for (const line of OF_THE_QUEUE) await runLine(line);
    expect.hasAssertions();
  });

  test("of a fleet have every member that their schemas name", () => {
    const window = { cron: "0 6 * * *", timezone: "UTC", jitterMs: 1_500, durationMs: 60_000 };
    const workspace = workspaceNamed("ads", { schedule: window, maintenance: [window], memoryMb: 64 });
    const listed = { format_version: "1.0", workspaces: [fleetWorkspaceJson(workspace)] };
    expectFits("fleet-list", JSON.parse(JSON.stringify(listed)));
    expect(listed.workspaces[0]).toMatchObject({ timeout_s: 10, schedule: { jitter_s: 1.5 } });

    const requests = { sent: 2, retried: 1, lastStatus: 200, host: "https://ads" };
    const diagnostics = [{ severity: "error", code: "APPLY_FAILED", message: "m" } as const];
    const more = { exitCode: 1, lockWaitMs: 250, memoryBytes: 1, attempt: 2, wrote: true, triedAgain: true };
    const result = resultOf("ads", "failed", { ...more, requests, diagnostics, log: "l", worker: "w" });
    expectFits("fleet-result", JSON.parse(JSON.stringify({ format_version: "1.0", ...resultJson(result) })));
    expect(resultJson(result)).toMatchObject({
      duration_s: 0.005,
      lock_wait_s: 0.25,
      requests: { last_http_status: 200 },
    });

    const failure = { status: "failed", worker: "w", diagnostics, message: "lost heartbeat" } as const;
    const dead = { workspace: "ads", command: "drift", id: "1", failedAt: 0, attempts: 3, failure } as const;
    expectFits(
      "fleet-dead-letters",
      JSON.parse(JSON.stringify({ format_version: "1.0", jobs: [deadJobJson(dead)] })),
    );
    expect(deadJobJson(dead)).toMatchObject({ failed_at: "1970-01-01T00:00:00.000Z", job: "1" });
  });
});
