// Gives the base of a pull request the name that people know, for the report: platforms check out a merge without branches.

import { spawnSync } from "node:child_process";
import { gitEnvironment } from "./git.ts";
import type { Settings } from "./settings.ts";

/** The first parent of a merge that the platform made is the tip of the target branch. */
const MERGED_INTO = "HEAD^1";

/** `settings` with a name such as `origin/main` as their base; unchanged if that name exists. */
export function withNamedBase(settings: Settings): Settings {
  const { base, targetBranch } = settings;
  if (base !== MERGED_INTO || targetBranch === undefined) return settings;
  const name = `origin/${targetBranch}`;
  // An empty old value: the ref is created, and an existing one stays.
  const { status } = spawnSync("git", ["update-ref", `refs/remotes/${name}`, MERGED_INTO, ""], {
    env: gitEnvironment(process.env),
    stdio: "ignore",
  });
  return status === 0 ? { ...settings, base: name } : settings;
}
