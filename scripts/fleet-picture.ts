// A fleet of 300 emulated workspaces, run by the program, for its picture in the docs: drift, changes, blocked plans, failures of three causes.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startFarm } from "../bench/fleet/farm.ts";
import { copyState, TOKEN } from "../bench/fleet/template.ts";

const CLI = join(import.meta.dirname, "../bin/workspace.js");
const TEAMS = "ads billing churn crm data-science fraud growth logistics maps search".split(" ");
const STAGES = ["prod", "test", "dev"];
const REGIONS = ["eu-1", "eu-2", "us-1", "us-2", "us-3", "ap-1", "ap-2", "ap-3", "sa-1", "af-1"];

const SPEC = `variables:
  capacity: { type: integer, default: 20 }
users:
  ada@example.com: {}
  bob@example.com: {}
groups:
  analysts: { members: { users: [ada@example.com, bob@example.com] } }
  engineers: { members: { users: [ada@example.com] } }
pools:
  shared: { node_type_id: Standard_DS3_v2, max_capacity: "\${var.capacity}" }
clusters:
  adhoc:
    spark_version: 6.4.x-scala2.11
    instance_pool_id: \${pools.shared.instance_pool_id}
    num_workers: 2
`;

interface Fault {
  /** Members of the entry in the fleet file that cause it. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly isIn: (at: number) => boolean;
}

/** The numbers have no common divisor with 300 workspaces in 10 × 3 × 10, so every team has some. */
const FAULTS: readonly Fault[] = [
  { entry: { environment: { WORKSPACE_TOKEN: "UNSET_TOKEN" } }, isIn: (at) => at % 97 === 11 },
  { entry: { host: "http://127.0.0.1:1" }, isIn: (at) => at % 149 === 70 },
  { entry: { spec: "broken" }, isIn: (at) => at % 151 === 33 },
  { entry: { spec: "smaller" }, isIn: (at) => at % 101 === 45 },
  { entry: { variables: { capacity: "40" } }, isIn: (at) => at % 31 === 7 },
];
const isDrifted = (at: number): boolean => at % 23 === 5;
const isLate = (at: number): boolean => at % 113 === 60;

/** Writes the report of the fleet into the folder, as a page, and returns its path. */
export async function fleetOf300(folder: string): Promise<string> {
  const files = {
    "spec/workspace.yaml": SPEC,
    "smaller/workspace.yaml": "policy: { max_deletes: 2 }\ngroups: { analysts: {} }\n",
    "broken/workspace.yaml": SPEC.replace("num_workers", "num_worker"),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const names = TEAMS.flatMap((team) =>
    STAGES.flatMap((stage) =>
      REGIONS.map((region) => ({ team, stage, region, name: `${team}-${stage}-${region}` })),
    ),
  );
  const run = (...words: readonly string[]) => workspace(folder, words);
  const farm = await startFarm({
    count: names.length,
    fill: (host) =>
      run("apply", "--auto-approve", "-f", "spec/workspace.yaml", "--state", "template", "--host", host),
  });
  const workspaces: Record<string, unknown> = {};
  for (const [at, { team, stage, region, name }] of names.entries()) {
    const host = farm.urls[at] ?? "";
    const labels = { env: stage, team, region, ...(isLate(at) ? { new: "yes" } : {}) };
    const faults = FAULTS.filter(({ isIn }) => isIn(at)).map(({ entry }) => entry);
    const entry: { readonly host: string } = Object.assign({ host, labels }, ...faults);
    await copyState(join(folder, "template"), join(folder, ".workspace/fleet", name), entry.host);
    workspaces[name] = entry;
  }
  const defaults = { spec: "spec", environment: { WORKSPACE_TOKEN: "FLEET_TOKEN" } };
  writeFileSync(join(folder, "fleet.yaml"), JSON.stringify({ defaults, workspaces }));
  await run("fleet", "drift", "-l", "!new");
  for (const [at, host] of farm.urls.entries()) if (isDrifted(at)) await addMember(host);
  for (let round = 0; round < 3; round++) await run("fleet", "drift", "-l", "!new");
  await run("fleet", "plan", "-l", "!new");
  const page = join(folder, "fleet.html");
  await run("fleet", "report", "-o", `html=${page}`);
  await farm.close();
  return page;
}

/** A change by hand. */
async function addMember(host: string): Promise<void> {
  const { ok, status } = await fetch(`${host}/api/2.0/groups/add-member`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ parent_name: "engineers", user_name: "bob@example.com" }),
  });
  if (!ok) throw new Error(`groups/add-member answered ${status}`);
}

/** The emulators run in this process, so the command must not block it. Any exit code is an answer here. */
function workspace(folder: string, words: readonly string[]): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: folder, FLEET_TOKEN: TOKEN };
  const child = spawn(process.execPath, [CLI, ...words], {
    cwd: folder,
    env: { ...env, WORKSPACE_TOKEN: TOKEN },
    stdio: "ignore",
  });
  return new Promise((resolve) => child.once("close", () => resolve()));
}
