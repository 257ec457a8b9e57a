// One scripted repository with two branches: what the plan of a pull request and two runs for drift write, as a page of the documentation.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { BIN } from "../cli/program.ts";
import { type Event, runJob } from "./runners/github-runner.ts";
import {
  listOf,
  mappingOf,
  ROOT,
  Site,
  STATE_KEY,
  type Variables,
  WORKSPACE_TOKEN,
} from "./runners/pipeline.ts";

const PULL = 5;
const SOURCE = join(ROOT, "examples/analytics");
const RULES = `
rules:
  - name: everyone-gains-nothing
    assert: '!access.gained.exists(a, a.principal == "users")'
    message: everyone in users gains a right; grant it to a smaller group
    severity: security
    enforcement: warn
`;

/** The files of the team of 12, with a rule. */
const FIRST: Variables = Object.fromEntries(
  readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = relative(SOURCE, path);
      const text = readFileSync(path, "utf8");
      return [name, name === "workspace.yaml" ? `${text.replace(/^#.*\n/gm, "")}${RULES}` : text];
    }),
);

function edited(files: Variables, path: string, ...edits: readonly (readonly [string, string])[]): Variables {
  const text = edits.reduce((before, [search, substitute]) => {
    if (!before.includes(search)) throw new Error(`${path} has no ${search}`);
    return before.replaceAll(search, substitute);
  }, files[path] ?? "");
  return { ...files, [path]: text };
}

const MERGED = edited(FIRST, "workspace.yaml", [
  "  margaret@example.com: {}\n",
  "  margaret@example.com: {}\n  alan@example.com: {}\n",
]);

/** Another runtime for all, more idle machines, a secret scope for everyone, and a cluster with another key. */
const CHANGED = [
  [
    "workspace.yaml",
    ["6.4.x-scala2.11", "7.3.x-scala2.12"],
    ["idle: 1, capacity: 20 }\n      analysts", "idle: 3, capacity: 40 }\n      analysts"],
    ["workers: 4 }", "workers: 12 }"],
  ],
  [
    "teams/science.yaml",
    ["      science: READ\n", "      science: READ\n      users: READ\n"],
    ["  training:\n", "  gpu-training:\n"],
    ["clusters.training.", "clusters.gpu-training."],
  ],
].reduce<Variables>(
  (files, [path, ...edits]) => edited(files, String(path), ...(edits as [string, string][])),
  MERGED,
);

/** Sources of the secrets of the spec; none is real. */
const VALUES = Object.fromEntries(
  ["WAREHOUSE_PASSWORD", "INGEST_TOKEN", "REPORTS_PASSWORD", "TRACKING_TOKEN"].map((name) => [
    name,
    "not-a-real-secret",
  ]),
);

export interface Example {
  /** The page, with the picture as a link. */
  readonly page: string;
  /** The comment of the pull request as the code host has it. */
  readonly comment: string;
}

export async function example(): Promise<Example> {
  const site = await Site.open();
  try {
    return await new Scene(site).play();
  } finally {
    await site.close();
  }
}

const HEAD = `# One pull request, every report

\`npm run show\` wrote this page and its picture from a real run: a repository with [examples/analytics](../../examples/analytics/workspace.yaml) (a team of 12 people in
60 resources, with prices) and one rule, the built-in emulator, the workflows of \`ci/github\`, and a stand-in for the API of GitHub. Before the pull
request, a new user was merged but not applied, and another person lowered the capacity of a pool in the workspace. The branch sets a newer runtime for all, keeps more machines
idle, lets a cluster grow, lets everyone read a secret scope, and gives a cluster another key.
`;

const COMMENT = `## The comment

The workflow \`workspace-plan.yml\` keeps this comment up to date; \`comment.md\` has the same text.

![The comment: cost, who gains a right, the destroyed cluster, a broken rule, the moved entry to paste, and equal changes as one](../images/pull-request.png)
`;

class Scene {
  readonly #site: Site;
  #folder = "";

  constructor(site: Site) {
    this.#site = site;
    site.variables = { SOURCE_DATE_EPOCH: "1767225600", ...VALUES };
    site.script("bin/workspace", `exec "${BIN}" "$@"`);
  }

  async play(): Promise<Example> {
    const site = this.#site;
    const first = site.commit(FIRST, "refs/heads/main");
    this.#folder = site.checkout("main");
    await this.#run("workspace apply --auto-approve");
    await this.#changeCapacity(8);
    site.commit(MERGED, "refs/heads/main");
    const head = site.pull(PULL, CHANGED);
    const branches = ["main:refs/heads/main", `${head}:refs/heads/newer-runtime`];
    site.git(this.#folder, "fetch", "--quiet", "origin", ...branches);
    site.git(this.#folder, "switch", "--quiet", "newer-runtime");
    const branch = await this.#shown("The branch", "git diff main newer-runtime", "diff");
    const reports = await this.#reports();
    const comment = await this.#comment(head);
    const [plan = "", ...others] = reports;
    const parts = [HEAD, branch, plan, COMMENT, ...others, await this.#issue(first)];
    return { page: this.#stable(parts.join("\n")), comment: this.#stable(comment) };
  }

  /** The plan, and every report that it wrote. */
  async #reports(): Promise<readonly string[]> {
    const plan = [
      "workspace plan --base-ref main --out reviewed.plan -o text -o markdown=comment.md -o html=plan.html \\",
      "  -o github=annotations.txt -o sarif=plan.sarif -o junit=plan.xml \\",
      "  -o gitlab=terraform.json -o codequality=quality.json --metrics plan.prom",
    ].join("\n");
    const first = (file: string, path: string): string =>
      `node -p 'JSON.stringify(JSON.parse(fs.readFileSync("${file}"))${path}, null, 2)'`;
    return [
      await this.#shown("One plan, all reports", plan),
      await this.#shown("Annotations", "cat annotations.txt"),
      await this.#shown("SARIF: the first result", first("plan.sarif", ".runs[0].results[0]"), "json"),
      await this.#shown("JUnit", "cat plan.xml", "xml"),
      await this.#shown("GitLab: the counts", "cat terraform.json", "json"),
      await this.#shown("GitLab: the first finding", first("quality.json", "[0]"), "json"),
      await this.#shown("Metrics", 'grep -E "^workspace_(differences|requests)" plan.prom'),
    ];
  }

  /** The comment that the workflow for pull requests writes. */
  async #comment(sha: string): Promise<string> {
    const payload = { pull_request: { number: PULL, head: { sha }, base: { ref: "main" } } };
    await this.#job("workspace-plan", "plan", { ref: `refs/pull/${PULL}/merge`, payload, number: 7 });
    return this.#site.host.comments[0]?.body ?? "";
  }

  /** The issue that the workflow for drift opens and closes. */
  async #issue(sha: string): Promise<string> {
    const event = { ref: "refs/heads/main", payload: {}, sha };
    const opened = await this.#job("workspace-drift", "drift", { ...event, number: 1 });
    const [issue] = this.#site.host.issues;
    const { title = "", body = "" } = issue ?? {};
    await this.#changeCapacity(10);
    const closed = await this.#job("workspace-drift", "drift", { ...event, number: 2 });
    const step =
      "WORKSPACE_CI_COMMAND=drift WORKSPACE_CI_SINCE=last WORKSPACE_CI_ISSUE=true node ci/lib/main.ts";
    return [
      `## Drift opens an issue\n\nThe step of \`workspace-drift.yml\` runs this once a day:\n\n${block(step, "bash")}`,
      block(opened),
      `The issue "${title}":\n\n${block(body, "markdown", "````")}`,
      `## The issue is closed\n\nThe capacity is restored, and the next run finds no drift:\n\n${block(step, "bash")}`,
      block(closed),
      `The issue is ${issue?.open === false ? "closed" : "open"}. Its last note: "${issue?.notes.at(-1) ?? ""}"\n`,
    ].join("\n");
  }

  /** Someone changes the capacity of a pool outside of the program. */
  async #changeCapacity(max_capacity: number): Promise<void> {
    const { instance_pools: pools } = await this.#site.call("instance-pools/list", undefined);
    const pool = listOf(pools)
      .map(mappingOf)
      .find((one) => one.instance_pool_name === "analysts-dev");
    const { instance_pool_id, instance_pool_name, node_type_id, ...more } = pool ?? {};
    const { min_idle_instances, idle_instance_autotermination_minutes } = more;
    const kept = { instance_pool_id, instance_pool_name, node_type_id, min_idle_instances };
    await this.#site.call("instance-pools/edit", {
      ...kept,
      idle_instance_autotermination_minutes,
      max_capacity,
    });
  }

  async #job(workflow: string, job: string, event: Event): Promise<string> {
    const { WORKSPACE_HOST = "", WORKSPACE_STATE = "" } = this.#site.secrets();
    const secrets = {
      WORKSPACE_PLAN_TOKEN: WORKSPACE_TOKEN,
      WORKSPACE_DRIFT_TOKEN: WORKSPACE_TOKEN,
      WORKSPACE_STATE_KEY: STATE_KEY,
    };
    const vars = { WORKSPACE_HOST, WORKSPACE_STATE };
    const done = await runJob(this.#site, { workflow, job, event, vars, secrets });
    if (done.code !== 0) throw new Error(`${workflow}: exit ${done.code}\n${done.output}`);
    return done.output.replace(/^workspace is installed already\.\n/, "");
  }

  async #shown(title: string, command: string, language = "text"): Promise<string> {
    return `## ${title}\n\n${block(command, "bash")}\n${block(await this.#run(command), language)}`;
  }

  async #run(command: string): Promise<string> {
    const done = await this.#site.bash(command, this.#folder, this.#site.secrets());
    if (done.code !== 0) throw new Error(`${command}: exit ${done.code}\n${done.output}`);
    return done.output;
  }

  /** Replaces values that differ from run to run, such as the port and the IDs of the workspace. */
  #stable(text: string): string {
    return text
      .replaceAll(this.#site.workspace.url, "https://workspace.example.com")
      .replaceAll(/\b\d{4}-\d{6}(-brick\d+-pool)-[0-9a-f]+\b/g, "0101-000000$1-c7579a62")
      .replaceAll(/\b\d{4}-\d{6}-([a-z]+\d+)\b(?!-pool)/g, "0101-000000-$1")
      .replaceAll(/("(?:workspace\/v1|fingerprint)": ")[0-9a-f]+/g, "$1…");
  }
}

const block = (text: string, language = "text", fence = "```"): string =>
  `${fence}${language}\n${text.trimEnd()}\n${fence}\n`;
