// The environment of git: only what it needs, and no token except those with which it fetches from the server of the checkout.

import type { Env } from "./settings.ts";

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
