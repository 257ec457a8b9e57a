// One scripted repository with two branches: what the plan of a pull request and two runs for drift write, as a page of the documentation.

import { join } from "node:path";
import { type Event, runJob } from "./runners/github-runner.ts";
import { ROOT, Site, STATE_KEY, WORKSPACE_TOKEN } from "./runners/pipeline.ts";

const PULL = 5;
const SPEC = `policy: { on_immutable_change: replace }
pools:
  shared: { node_type_id: Standard_DS3_v2, max_capacity: 20 }
clusters:
  adhoc:
    spark_version: 6.4.x-scala2.11
    instance_pool_id: \${pools.shared.instance_pool_id}
    autoscale: { min_workers: 1, max_workers: 4 }
notebooks:
  /Shared/report: { source: report.py }
groups:
  data-eng: {}
  interns: {}
`;
const MERGED = SPEC.replace("  data-eng: {}\n", "  data-eng: {}\n  analysts: {}\n");
const CHANGED = MERGED.replace("DS3_v2", "DS4_v2")
  .replace("max_workers: 4", "max_workers: 8")
  .replace("  interns: {}\n", "");
const REPORT = 'orders = spark.read.table("orders")\norders.groupBy("day").count().show()\n';

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

\`npm run show\` wrote this page and its picture from a real run: a repository with two branches, the built-in emulator, the workflows of
\`ci/github\`, and a stand-in for the API of GitHub. Before it, the group \`analysts\` was merged but not applied, and the
capacity of the pool was lowered in the workspace.
`;

const COMMENT = `## The comment

The workflow \`workspace-plan.yml\` keeps this comment up to date; \`comment.md\` has the same text.

![The comment: the counts, two destroyed resources in full, and the rest collapsed](../images/pull-request.png)
`;

class Scene {
  readonly #site: Site;
  #folder = "";

  constructor(site: Site) {
    this.#site = site;
    site.variables = { SOURCE_DATE_EPOCH: "1767225600" };
    site.script("bin/workspace", `exec "${process.execPath}" "${join(ROOT, "bin/workspace.js")}" "$@"`);
  }

  async play(): Promise<Example> {
    const site = this.#site;
    const first = site.commit({ "workspace.yaml": SPEC, "report.py": REPORT }, "refs/heads/main");
    this.#folder = site.checkout("main");
    await this.#run("workspace apply --auto-approve");
    await site.changePool(8);
    site.commit({ "workspace.yaml": MERGED }, "refs/heads/main");
    const files = { "workspace.yaml": CHANGED, "report.py": REPORT.replace('"day"', '"day", "country"') };
    const head = site.pull(PULL, files);
    const branches = ["main:refs/heads/main", `${head}:refs/heads/larger-pool`];
    site.git(this.#folder, "fetch", "--quiet", "origin", ...branches);
    site.git(this.#folder, "switch", "--quiet", "larger-pool");
    const branch = await this.#shown("The branch", "git diff main larger-pool", "diff");
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
    await this.#site.changePool(20);
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
      .replaceAll(/("(?:workspace\/v1|fingerprint)": ")[0-9a-f]+/g, "$1…");
  }
}

const block = (text: string, language = "text", fence = "```"): string =>
  `${fence}${language}\n${text.trimEnd()}\n${fence}\n`;
