// Git on the checkout of a pipeline, its environment, and its origin: only what it needs, and no token except those with which it fetches from
// the server of the checkout.

import { spawnSync } from "node:child_process";
import type { Env, Platform } from "./settings.ts";

const SYSTEM = [
  ...["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP"],
  ...["USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "COMSPEC", "PATHEXT"],
];
const NETWORK = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"];
const OWN =
  /^(?:XDG_CONFIG_HOME|SSH_AUTH_SOCK|GIT_SSH|GIT_SSH_COMMAND|GIT_ASKPASS|GIT_SSL_CAINFO|GIT_TERMINAL_PROMPT|GIT_TRACE2_\w+|GIT_DIR|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CI_JOB_TOKEN|WORKSPACE_CI_GIT_(?:USER|PASSWORD))$/;

export function gitEnvironment(env: Env): NodeJS.ProcessEnv {
  const isPassed = (name: string): boolean => {
    const upper = name.toUpperCase();
    return SYSTEM.includes(upper) || NETWORK.includes(upper) || OWN.test(name);
  };
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPassed(name)));
}

/** Answers with the variables below: everyone on the runner sees the arguments of a process, and they name the variables only. */
const ANSWER =
  '!answer() { test "$1" != get || printf "username=%s\\npassword=%s\\n" "$WORKSPACE_CI_GIT_USER" "$WORKSPACE_CI_GIT_PASSWORD"; }; answer';

interface Origin {
  readonly url: string;
  readonly options: readonly string[];
  readonly variables: Env;
}

/** A runner of GitLab writes the job's token into the URL of origin, and git passes a URL to a process as an argument. */
export function originOf(remoteUrl: string): Origin {
  const text = remoteUrl.trim();
  const url = /^https?:/.test(text) ? new URL(text) : undefined;
  if (url === undefined || (url.username === "" && url.password === ""))
    return { url: "origin", options: [], variables: {} };
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = "";
  url.password = "";
  return {
    url: url.href,
    options: ["-c", "credential.helper=", "-c", `credential.${url.origin}.helper=${ANSWER}`],
    variables: { WORKSPACE_CI_GIT_USER: user, WORKSPACE_CI_GIT_PASSWORD: password },
  };
}

export interface Checkout {
  readonly cwd: string;
  readonly env: Env;
}

/** The token of the platform is in the environment of git only, because every user of the runner sees the arguments of a process. */
export function withToken({ cwd, env }: Checkout, platform: Platform, url: string, token: string): Checkout {
  const basic = (user: string): string => `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`;
  const credential =
    platform === "azure" ? `Bearer ${token}` : basic(platform === "github" ? "x-access-token" : "oauth2");
  const count = Number(env.GIT_CONFIG_COUNT ?? 0);
  const key = `http.${url}.extraHeader`;
  const header = {
    GIT_CONFIG_COUNT: String(count + 2),
    // The checkout may keep a header of the platform, and a server refuses two. An empty one removes it.
    ...{ [`GIT_CONFIG_KEY_${count}`]: key, [`GIT_CONFIG_VALUE_${count}`]: "" },
    [`GIT_CONFIG_KEY_${count + 1}`]: key,
    [`GIT_CONFIG_VALUE_${count + 1}`]: `Authorization: ${credential}`,
    GIT_TERMINAL_PROMPT: "0",
  };
  return { cwd, env: { ...env, ...header } };
}

/** What git prints, without white space around it. No hook of the checkout runs. Throws if git fails. */
export function runGit({ cwd, env }: Checkout, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", ["-c", "core.hooksPath=/dev/null", ...args], {
    cwd,
    env: gitEnvironment(env),
    encoding: "utf8",
  });
  if (status === 0) return stdout.trim();
  const command = args.find((word) => !/^-|=/.test(word));
  throw new Error(`git ${command} failed: ${(stderr || stdout || "").trim()}`);
}
