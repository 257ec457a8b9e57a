import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { listOf, type Mapping, mappingOf, ROOT, readYaml } from "./runners/pipeline.ts";

const WORKFLOWS = globSync("ci/github/workflows/*.yml", { cwd: ROOT }).sort();

/** A tool that `.ci/run` installs; undefined where it is missing. */
function tool(name: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? "").split(":"),
    join(homedir(), ".cache/workspace-ci/venv/bin"),
    join(homedir(), ".cache/workspace-ci/bin"),
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

const SCHEMAS = tool("check-jsonschema");
const ACTIONLINT = tool("actionlint");

describe("the pipeline files follow the schema of their publisher", () => {
  const nonUnicode = ["--regex-variant", "nonunicode"];
  test.skipIf(SCHEMAS === undefined).each([
    ["github-workflows", "ci/github/workflows/*.yml", []],
    ["github-actions", "ci/github/action.yml", []],
    ["gitlab-ci", "ci/gitlab/*.yml", ["--data-transform", "gitlab-ci", ...nonUnicode]],
    ["azure-pipelines", "ci/azure-pipelines/*.yml", ["--data-transform", "azure-pipelines", ...nonUnicode]],
  ] as const)("vendor.%s", { timeout: 120_000 }, (schema, files, options) => {
    const found = globSync(files, { cwd: ROOT });
    expect(found.length).toBeGreaterThan(0);
    const args = ["--builtin-schema", `vendor.${schema}`, ...options, ...found];
    const { status, stdout, stderr } = spawnSync(SCHEMAS ?? "", args, { cwd: ROOT, encoding: "utf8" });
    expect({ status, output: (stdout + stderr).slice(0, 3000) }).toEqual({
      status: 0,
      output: "ok -- validation done\n",
    });
  });

  test.skipIf(ACTIONLINT === undefined)("actionlint has no finding", { timeout: 120_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "actionlint-"));
    try {
      mkdirSync(join(folder, ".github"));
      cpSync(join(ROOT, "ci/github/workflows"), join(folder, ".github/workflows"), { recursive: true });
      spawnSync("git", ["init", "--quiet", folder]);
      const { status, stdout, stderr } = spawnSync(ACTIONLINT ?? "", ["-no-color"], {
        cwd: folder,
        encoding: "utf8",
      });
      expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: "" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("the workflows of GitHub", () => {
  const jobs = WORKFLOWS.flatMap((path) =>
    Object.entries(mappingOf(readYaml(path).jobs)).map(([name, job]) => ({
      path,
      name,
      job: mappingOf(job),
    })),
  );
  const steps = (job: Mapping) => listOf(job.steps).map(mappingOf);

  test("pin every action to a commit", () => {
    const actions = readFileSync(join(ROOT, "ci/github/action.yml"), "utf8");
    const used = [...WORKFLOWS.map((path) => readFileSync(join(ROOT, path), "utf8")), actions].flatMap(
      (text) => [...text.matchAll(/uses: (\S+)(.*)$/gm)].map(([, uses, comment]) => `${uses}${comment}`),
    );
    expect(used.length).toBeGreaterThan(10);
    const published = used.filter((uses) => uses !== "OWNER/workspace/ci/github@COMMIT");
    expect(
      published.filter(
        (uses) =>
          !/^(?:actions\/[\w-]+|github\/codeql-action\/upload-sarif)@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(
            uses,
          ),
      ),
    ).toEqual([]);
  });

  test("replace the saved plan when all jobs run again, because an artifact of the first attempt stays", () => {
    const uploads = jobs
      .flatMap(({ job }) => steps(job))
      .filter(({ uses }) => String(uses).startsWith("actions/upload-artifact@"));
    expect(uploads.map((step) => mappingOf(step.with))).toEqual([
      expect.objectContaining({ name: "workspace-plan", overwrite: true }),
    ]);
  });

  test("have no permission but those of their jobs", () => {
    expect(WORKFLOWS.map((path) => readYaml(path).permissions)).toEqual(WORKFLOWS.map(() => ({})));
    const granted = jobs.map(({ path, name, job }) => [
      path.replace(/.*workspace-|\.yml/g, ""),
      name,
      job.permissions,
    ]);
    const read = { contents: "read" };
    expect(granted).toEqual([
      ["accept", "accept", { contents: "write", "pull-requests": "write" }],
      ["apply", "plan", read],
      ["apply", "apply", read],
      ["drift", "drift", { ...read, issues: "write" }],
      ["fork", "plan", { ...read, "pull-requests": "write" }],
      ["plan", "plan", { ...read, "pull-requests": "write" }],
      ["plan", "check", read],
    ]);
  });

  test("give no secret to a job that checks out the commit of a fork", () => {
    for (const path of WORKFLOWS)
      expect(readFileSync(join(ROOT, path), "utf8")).not.toMatch(/pull_request_target/);
    const check = jobs.find(({ name }) => name === "check");
    expect(JSON.stringify(check)).not.toMatch(/secrets\.|vars\.|"environment"/);
    const own =
      "github.event.pull_request.head.repo.full_name == github.repository && github.actor != 'dependabot[bot]'";
    const plan = jobs.find(({ path, name }) => path.endsWith("plan.yml") && name === "plan");
    expect(plan?.job.if).toBe(own);
    expect(check?.job.if).toBe(
      own
        .replace("==", "!=")
        .replace("&&", "||")
        .replace(/!= 'dep/, "== 'dep"),
    );
    // The job that follows a fork's run has secrets, so it checks out the default branch only.
    const fork = jobs.find(({ path }) => path.endsWith("fork.yml"));
    const [checkout, action] = fork === undefined ? [] : steps(fork.job);
    expect(checkout?.with).toBeUndefined();
    expect(mappingOf(action?.with).untrusted).toBe(true);
    expect(fork?.job.environment).toBe("workspace-fork");
  });

  test("upload findings on request only, and never those of a fork", () => {
    const action = readYaml("ci/github/action.yml");
    expect(mappingOf(mappingOf(action.inputs).sarif).default).toBe("false");
    const upload = listOf(mappingOf(action.runs).steps)
      .map(mappingOf)
      .find(({ uses }) => String(uses).includes("upload-sarif"));
    expect(String(upload?.if).split(/ && (?![^(]*\))/)).toEqual([
      "!cancelled()",
      "inputs.sarif == 'true'",
      "inputs.untrusted != 'true'",
      "steps.run.outputs.sarif != ''",
      "(github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository)",
    ]);
  });

  test("apply with one token in one environment, and plan with another", () => {
    const tokens = jobs.map(({ path, name, job }) => {
      const action = steps(job).find(({ uses }) => String(uses).startsWith("OWNER/"));
      return [
        `${path.replace(/.*\/|\.yml/g, "")}/${name}`,
        mappingOf(action?.env).WORKSPACE_TOKEN,
        job.environment,
      ];
    });
    expect(tokens).toEqual([
      [
        "workspace-accept/accept",
        "${{ secrets.WORKSPACE_DRIFT_TOKEN || secrets.WORKSPACE_PLAN_TOKEN }}",
        "workspace-drift",
      ],
      ["workspace-apply/plan", "${{ secrets.WORKSPACE_PLAN_TOKEN }}", undefined],
      ["workspace-apply/apply", "${{ secrets.WORKSPACE_APPLY_TOKEN }}", "workspace-apply"],
      [
        "workspace-drift/drift",
        "${{ secrets.WORKSPACE_DRIFT_TOKEN || secrets.WORKSPACE_PLAN_TOKEN }}",
        "workspace-drift",
      ],
      ["workspace-fork/plan", "${{ secrets.WORKSPACE_FORK_TOKEN }}", "workspace-fork"],
      ["workspace-plan/plan", "${{ secrets.WORKSPACE_PLAN_TOKEN }}", undefined],
      ["workspace-plan/check", undefined, undefined],
    ]);
  });
});

test("a rotated secret is deployed on GitHub without a push, from the default branch only", () => {
  const { on, jobs } = readYaml("ci/github/workflows/workspace-apply.yml");
  expect(Object.keys(mappingOf(on))).toEqual(["push", "workflow_dispatch"]);
  expect(mappingOf(mappingOf(jobs).plan).if).toBe("github.ref == 'refs/heads/main'");
});

describe("the installer of pipeline files", () => {
  const commit = spawnSync("git", ["-C", ROOT, "rev-parse", "HEAD"], { encoding: "utf8" }).stdout.trim();
  const install = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(ROOT, "ci/install.js"), ...args], { encoding: "utf8" });

  test.each([
    ["github", "acme/workspace", 5],
    ["gitlab", "https://git.acme.example/tools/workspace.git", 2],
    ["azure", "tools/workspace", 1],
  ])("pins %s to this clone, and overwrites no file", (platform, source, count) => {
    const folder = mkdtempSync(join(tmpdir(), "install-"));
    try {
      expect(install(platform, source, folder).status).toBe(0);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
        one.isFile(),
      );
      expect(files).toHaveLength(count);
      const text = files.map((one) => readFileSync(join(one.parentPath, one.name), "utf8")).join("\n");
      expect(text).not.toMatch(/OWNER|COMMIT$|@COMMIT|VERSION$/m);
      expect(text).toContain(source);
      expect(text).toContain(platform === "azure" ? "refs/tags/v0.1.0" : commit);
      const again = install(platform, source, folder);
      expect(again.status).toBe(1);
      expect(again.stderr).toContain(
        platform === "github" ? "already exist: remove them" : "already exists: remove it",
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("writes the names of a project and repository with spaces for Azure", () => {
    const folder = mkdtempSync(join(tmpdir(), "install-"));
    try {
      const source = "Data & Analytics (EU)/workspace tool";
      expect(install("azure", source, folder)).toMatchObject({ status: 0, stderr: "" });
      const written = parse(readFileSync(join(folder, "azure-pipelines.yml"), "utf8"));
      expect(written.resources.repositories).toMatchObject([{ repository: "workspace", name: source }]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("leaves the .gitlab-ci.yml of a project unchanged, and says which lines it needs unless it has them", () => {
    const folder = mkdtempSync(join(tmpdir(), "install-"));
    const main = join(folder, ".gitlab-ci.yml");
    const run = (text: string) => {
      rmSync(join(folder, ".gitlab"), { recursive: true, force: true });
      writeFileSync(main, text);
      const { status, stdout } = install("gitlab", "https://git.example/tools/workspace.git", folder);
      expect(status).toBe(0);
      expect(readFileSync(main, "utf8")).toBe(text);
      expect(readFileSync(join(folder, ".gitlab/workspace.gitlab-ci.yml"), "utf8")).toContain(commit);
      return stdout.split("\n");
    };
    try {
      const shown = run("build: { script: make }\n");
      expect(shown.slice(0, 2)).toEqual([
        "Wrote .gitlab/workspace.gitlab-ci.yml.",
        ".gitlab-ci.yml exists, and is not changed. Add these lines to it:",
      ]);
      const added = parse(shown.slice(2, -2).join("\n"));
      expect(added).toEqual({ include: [{ local: ".gitlab/workspace.gitlab-ci.yml" }] });
      expect(shown.at(-2)).toBe(
        "If it has stages, add build, test, and deploy. If it has workflow, let it run for merge requests, the default branch, and schedules.",
      );
      const included = "include: [{ local: .gitlab/workspace.gitlab-ci.yml }]\n";
      expect(run(included)).toEqual(["Wrote .gitlab/workspace.gitlab-ci.yml.", ""]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("rejects a source that is not of the platform, and a folder that does not exist", () => {
    expect(install("github", "https://x.example/a b", "/nowhere").stderr).toContain("is not OWNER/NAME");
    // Every job would pass the password of the URL to git as an argument.
    expect(install("gitlab", "https://user:secret@git.example/a.git", "/nowhere").stderr).toContain(
      "is not an https URL without a user",
    );
    for (const source of ["a", "a/b/c", " a/b", "a/b ", "a/b: c", "a/b #c", "a/$(b)", "- a/b", "a/b\nc"])
      expect(install("azure", source, "/nowhere").stderr).toContain("is not PROJECT/REPOSITORY");
    expect(install("azure", "a/b", "/nowhere").stderr).toBe('error: FOLDER "/nowhere" does not exist\n');
    expect(install("gitea", "a/b", "/nowhere").stderr).toContain("usage:");
  });
});

describe("the installation in a job", () => {
  test("says on an older Node which Node it needs", () => {
    const versions = "{ ...process.versions, node: '20.20.2' }";
    const faked = `Object.defineProperty(process, "versions", { value: ${versions} })`;
    const { status, stdout, stderr } = spawnSync("bash", [join(ROOT, "ci/lib/install.sh")], {
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(faked)}`,
      },
      encoding: "utf8",
    });
    const told = "error: Node 20.20.2 is too old: the pipeline needs Node 24 or newer\n";
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: "", stderr: told });
  });
});
