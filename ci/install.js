// Writes the pipeline files of a platform into a repository, pinned to the commit of this clone. Plain JavaScript: runs on any Node from 20.
// Usage: node ci/install.js github|gitlab|azure SOURCE FOLDER

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "..");
const GITLAB_JOBS = ".gitlab/workspace.gitlab-ci.yml";
const USAGE = "usage: node ci/install.js github|gitlab|azure SOURCE FOLDER";

function filesOf(platform) {
  if (platform === "github")
    return readdirSync(join(HERE, "github/workflows"))
      .sort()
      .map((name) => ({ from: `github/workflows/${name}`, to: `.github/workflows/${name}` }));
  if (platform === "gitlab")
    return [
      { from: "gitlab/workspace.gitlab-ci.yml", to: GITLAB_JOBS },
      // It only includes the jobs, so a project keeps the one that it has.
      { from: "gitlab/gitlab-ci.yml", to: ".gitlab-ci.yml", ifMissing: true },
    ];
  if (platform === "azure")
    return [{ from: "azure-pipelines/azure-pipelines.yml", to: "azure-pipelines.yml" }];
  return undefined;
}

/** SOURCE is owner/name (GitHub), project/name (Azure Repos), or a git URL (GitLab). */
function pinned(text, source, commit, version) {
  return text
    .replaceAll(/https:\/\/git\.example\.com\/OWNER\/workspace\.git|OWNER\/workspace/g, () => source)
    .replaceAll(/\bCOMMIT$|@COMMIT\b/gm, (found) => found.replace("COMMIT", commit))
    .replaceAll("refs/tags/VERSION", `refs/tags/v${version}`);
}

const AZURE_NAME = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N} _.()&'!@~-]*[\p{L}\p{M}\p{N}_.()&'!@~-])?`;

/** What SOURCE is, in words and as a pattern. */
const SOURCES = {
  github: ["OWNER/NAME", /^[\w.-]+\/[\w.-]+$/],
  gitlab: ["an https URL without a user", /^https:\/\/[\w./:-]+$/],
  // Names of Azure can have spaces.
  azure: ["PROJECT/REPOSITORY", new RegExp(`^${AZURE_NAME}/${AZURE_NAME}$`, "u")],
};

/** What to add to the .gitlab-ci.yml of a project. */
function includeLines(text) {
  if (text.includes(GITLAB_JOBS)) return "";
  return `.gitlab-ci.yml exists, and is not changed. Add these lines to it:
include:
  - local: ${GITLAB_JOBS}
If it has stages, add build, test, and deploy. If it has workflow, let it run for merge requests, the default branch, and schedules.
`;
}

function commitOf() {
  const { PATH, HOME, SYSTEMROOT } = process.env;
  const { stdout, status } = spawnSync("git", ["-C", ROOT, "rev-parse", "HEAD"], {
    encoding: "utf8",
    env: { PATH, HOME, SYSTEMROOT },
  });
  if (status !== 0) fail(`${ROOT} is not a Git clone, so it has no commit to pin`);
  return stdout.trim();
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}

const [platform = "", source = "", folder = ""] = process.argv.slice(2);
const files = filesOf(platform);
if (files === undefined || source === "" || folder === "") fail(USAGE);
const [words, pattern] = SOURCES[platform];
if (!pattern.test(source)) fail(`SOURCE ${JSON.stringify(source)} is not ${words}`);
const commit = commitOf();
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
if (!existsSync(folder)) fail(`FOLDER ${JSON.stringify(folder)} does not exist`);
const exists = ({ to }) => existsSync(join(folder, to));
const taken = files.filter((file) => exists(file) && !file.ifMissing).map(({ to }) => to);
if (taken.length > 0)
  fail(
    `${taken.join(", ")} already ${taken.length === 1 ? "exists: remove it" : "exist: remove them"} first`,
  );
for (const file of files) {
  const { from, to } = file;
  const path = join(folder, to);
  if (exists(file)) {
    process.stdout.write(includeLines(readFileSync(path, "utf8")));
    continue;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, pinned(readFileSync(join(HERE, from), "utf8"), source, commit, version));
  process.stdout.write(`Wrote ${to}.\n`);
}
