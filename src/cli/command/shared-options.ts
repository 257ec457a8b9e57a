// The options that several commands share (design 7).

import { CLOUDS, DIALECTS } from "../../config/dialect.ts";
import { DRIFT_FORMATS, OUTCOME_FORMATS, PLAN_FORMATS, VALIDATION_FORMATS } from "../../report/formats.ts";
import {
  choiceOption,
  durationOption,
  flagOption,
  integerOption,
  type OptionSpec,
  oneFormat,
  optionalChoiceOption,
  outputsOption,
  textOption,
  textsOption,
} from "./option.ts";

/** Which spec is read, and how its variables are filled. */
export const SPEC_OPTIONS = {
  file: textOption("-f, --file <path>", "the spec (default: workspace.yaml)"),
  target: textOption("-t, --target <name>", "the target of the spec to use"),
  var: textsOption("--var <name=value>", "set a variable; can be repeated"),
  varFile: textsOption("--var-file <path>", "set variables from a YAML or JSON file; can be repeated"),
} as const;

/** What the workspace speaks, which decides what a spec may contain. */
export const DIALECT_OPTIONS = {
  dialect: optionalChoiceOption(
    "--dialect <name>",
    "dialect of the workspace (default: by its host name)",
    DIALECTS,
  ),
  cloud: optionalChoiceOption(
    "--cloud <name>",
    "cloud of the databricks dialect (default: by its host name)",
    CLOUDS,
  ),
} as const;

/** Which workspace is meant, and how it is spoken to. */
export const HOST_OPTIONS = {
  host: textOption("--host <url>", "the workspace, or `embedded` for one inside this program"),
  profile: textOption("--profile <name>", "the profile of ~/.workspacecfg to use"),
  caFile: textOption("--ca-file <path>", "trust the authorities in this PEM file too"),
  ...DIALECT_OPTIONS,
  parallelism: integerOption("--parallelism <number>", "requests under way at once (default: 10)", 1, 256),
} as const;

/** Where the state lies. */
export const STATE_OPTIONS = {
  state: textOption(
    "--state <place>",
    "the state: a folder, postgres://…, or workspace:/folder (default: .workspace/<target> beside the spec)",
  ),
  lockTimeout: durationOption(
    "--lock-timeout <time>",
    "how long to wait for another run's lock (default: 0s)",
  ),
} as const;

/** Of commands that write digests of secrets into the state. */
export const UNENCRYPTED_OPTION = {
  allowUnencryptedState: flagOption(
    "--allow-unencrypted-state",
    "keep digests of secrets in the workspace without WORKSPACE_STATE_KEY",
  ),
} as const;

/** Which existing objects a plan may take over, or create another one beside. */
export const EXISTING_OPTIONS = {
  adopt: flagOption("--adopt", "take over what exists under the names of the spec"),
  allowDuplicates: flagOption(
    "--allow-duplicates",
    "without a state, create clusters and jobs whose names unmanaged ones have",
  ),
} as const;

export const ONLY_OPTION = {
  only: textsOption(
    "--only <address-glob>",
    "only these addresses and what they need (to destroy: what needs them); can be repeated",
  ),
} as const;

/** Of a plan in a pull request. */
export const BASE_OPTIONS = {
  base: textOption("--base <folder>", "compare with this copy of the current folder before the change"),
  baseRef: textOption("--base-ref <ref>", "compare with the spec at a Git reference, such as origin/main"),
  exitcodeFor: choiceOption("--exitcode-for <changes>", "which changes decide the exit code", [
    "all",
    "change",
  ]),
} as const;

const namesOf = <F extends string>(formats: Readonly<Record<F, unknown>>) => Object.keys(formats) as F[];

export const PLAN_OUTPUT = { output: outputsOption(namesOf(PLAN_FORMATS)) } as const;

export const DRIFT_OUTPUT = { output: outputsOption(namesOf(DRIFT_FORMATS)) } as const;

/** Of what is done. */
export const OUTCOME_OUTPUT = { output: outputsOption(namesOf(OUTCOME_FORMATS)) } as const;

export const VALIDATION_OUTPUT = { output: outputsOption(namesOf(VALIDATION_FORMATS)) } as const;

/** For commands that have no other forms. */
export const FORM_OPTION = {
  output: oneFormat(choiceOption("-o, --output <form>", "the form of the output", ["text", "json"])),
} as const;

export const ASK_OPTIONS = {
  autoApprove: flagOption("--auto-approve", "do not ask before changing anything"),
  noInput: flagOption("--no-input", "never ask; without --auto-approve nothing is changed"),
} as const;

/** Options of a pipeline, which every command with a spec or a host accepts. `--only` and `--output` change the answer, so they are refused where they have no effect. */
export const PIPELINE_OPTIONS: readonly OptionSpec<unknown>[] = [
  ...Object.values(SPEC_OPTIONS),
  ...Object.values(HOST_OPTIONS),
  ...Object.values(STATE_OPTIONS),
  ...Object.values(ASK_OPTIONS),
];

/** Options that can be given before the command. */
export const ROOT_OPTIONS: readonly OptionSpec<unknown>[] = [
  ...PIPELINE_OPTIONS,
  ONLY_OPTION.only,
  PLAN_OUTPUT.output,
  ...Object.values(EXISTING_OPTIONS),
  ...Object.values(UNENCRYPTED_OPTION),
];
