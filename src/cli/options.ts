// The options that several commands share (DESIGN 7).

import { choice, flag, text, texts, time, whole } from "./option.ts";

/** Which spec is read, and how its variables are filled. */
export const SPEC_OPTIONS = {
  file: text("-f, --file <path>", "the spec (default: workspace.yaml)"),
  target: text("-t, --target <name>", "the target of the spec to use"),
  var: texts("--var <name=value>", "set a variable; can be repeated"),
  varFile: texts("--var-file <path>", "set variables from a YAML or JSON file; can be repeated"),
} as const;

/** Which workspace is meant, and how it is spoken to. */
export const HOST_OPTIONS = {
  host: text("--host <url>", "the workspace, or `embedded` for one inside this program"),
  profile: text("--profile <name>", "the profile of ~/.workspacecfg to use"),
  parallelism: whole("--parallelism <number>", "requests under way at once (default: 10)", 1, 256),
} as const;

/** Where the state lies. */
export const STATE_OPTIONS = {
  state: text(
    "--state <place>",
    "the state: a folder, postgres://…, or workspace:/folder (default: .workspace/<target> beside the spec)",
  ),
  lockTimeout: time("--lock-timeout <time>", "how long to wait for another run's lock (default: 0s)"),
} as const;

export const ONLY_OPTION = {
  only: texts(
    "--only <address-glob>",
    "only these addresses and what they need (to destroy: what needs them); can be repeated",
  ),
} as const;

/** Of what is looked at: a plan, drift. */
export const REPORT_OPTION = {
  output: choice("-o, --output <form>", "the form of the output", [
    "text",
    "json",
    "markdown",
    "html",
    "junit",
  ]),
} as const;

/** Of what is done, or checked. */
export const OUTPUT_OPTION = {
  output: choice("-o, --output <form>", "the form of the output", ["text", "json", "markdown", "junit"]),
} as const;

/** For commands that have no other forms. */
export const FORM_OPTION = {
  output: choice("-o, --output <form>", "the form of the output", ["text", "json"]),
} as const;

export const ASK_OPTIONS = {
  autoApprove: flag("--auto-approve", "do not ask before changing anything"),
  noInput: flag("--no-input", "never ask; without --auto-approve nothing is changed"),
} as const;
