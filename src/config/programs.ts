// Programs that a run starts: this one, and helpers such as git and the Azure CLI: where they are found, and the few variables that helpers get.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { membersWhere } from "../core/json.ts";
import type { ProcessContext, ProcessEnvironment } from "./environment.ts";
import { isInFolder, resolvedPath } from "./files.ts";

/** Where programs, the home folder, and temporary files are, as each system names them. */
const SYSTEM = [
  ...["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP"],
  ...["USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "COMSPEC", "PATHEXT"],
];
const NETWORK = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** Git may fetch the missing files of a partial clone. */
const OF_GIT =
  /^(?:XDG_CONFIG_HOME|SSH_AUTH_SOCK|GIT_SSH|GIT_SSH_COMMAND|GIT_CEILING_DIRECTORIES|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+))$/;
const OF_AZ = /^(?:AZURE_CONFIG_DIR|REQUESTS_CA_BUNDLE)$/;

const OWN = { git: OF_GIT, az: OF_AZ } as const;

/**
 * The variables of the run that a program needs. None has a token or a secret, names another repository, or makes the
 * program load other code.
 */
export function programEnvironment(env: ProcessEnvironment, program: keyof typeof OWN): ProcessEnvironment {
  const isPassed = (name: string): boolean => {
    const upper = name.toUpperCase();
    return SYSTEM.includes(upper) || NETWORK.includes(upper) || OWN[program].test(name);
  };
  return membersWhere(env, isPassed);
}

const ENDINGS = process.platform === "win32" ? [".exe", ".cmd"] : [""];

/** Searches the folders of PATH outside of the checkouts around `folders`: a pull request may have put a program into its own. */
export function findProgram(
  { env, home }: ProcessContext,
  name: string,
  folders: readonly string[],
): string | undefined {
  const excluded = folders.flatMap((folder) => {
    const resolved = resolvedPath(folder);
    // A home folder may be a checkout of its owner, so it is not one of them.
    const checkouts = checkoutsAround(resolved).filter((root) => !isInFolder(root, resolvedPath(home)));
    return [resolved, ...checkouts];
  });
  return (env.PATH ?? "")
    .split(delimiter)
    .filter(
      (folder) => isAbsolute(folder) && !excluded.some((text) => isInFolder(text, resolvedPath(folder))),
    )
    .flatMap((folder) => ENDINGS.map((ending) => join(folder, `${name}${ending}`)))
    .find(isProgram);
}

const GIT_MS = 5_000;

/** The output of git, if git is on the PATH outside of the checkouts around `folders`. Undefined if it is missing, fails, or takes longer than 5 s. */
export async function gitOutput(
  context: ProcessContext,
  args: readonly string[],
  folders: readonly string[],
): Promise<string | undefined> {
  const git = findProgram(context, "git", folders);
  if (git === undefined) return undefined;
  const { execFile } = await import("node:child_process");
  const safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  const env = { ...programEnvironment(context.env, "git"), GIT_OPTIONAL_LOCKS: "0" };
  return new Promise((resolve) => {
    execFile(git, [...safe, ...args], { env, timeout: GIT_MS }, (failed, output) =>
      resolve(failed === null ? output.trim() || undefined : undefined),
    );
  });
}

/** The checkouts that contain a folder, the nearest first. */
export function checkoutsAround(folder: string): readonly string[] {
  const above = dirname(folder);
  const rest = above === folder ? [] : checkoutsAround(above);
  return existsSync(join(folder, ".git")) ? [folder, ...rest] : rest;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** In a clone, its launcher, which keeps compiled code; in a package and in a bundle, the file that this process was started with. */
export function mainModule(): string {
  const own = import.meta.url;
  return own.endsWith(".ts")
    ? fileURLToPath(new URL("../../bin/workspace.js", own))
    : (process.argv[1] ?? "");
}
