// The options that several commands share (design 7).

import { CLOUDS, DIALECTS } from "../../config/dialect.ts";
import {
  ACCESS_FORMATS,
  DRIFT_FORMATS,
  EXPLANATION_FORMATS,
  HISTORY_FORMATS,
  OUTCOME_FORMATS,
  PLAN_FORMATS,
  VALIDATION_FORMATS,
} from "../../report/formats.ts";
import { ACTION_WORDS } from "../../report/view/choice.ts";
import {
  choiceOption,
  durationOption,
  filtersOption,
  flagOption,
  integerOption,
  type OptionSpec,
  type Options,
  oneFormat,
  optionalChoiceOption,
  outputsOption,
  textOption,
  textsOption,
} from "./option.ts";

export function inGroup<O extends Options>(group: string, options: O): O {
  const entries = Object.entries(options).map(([name, option]) => [name, { ...option, group }]);
  return Object.fromEntries(entries) as O;
}

export const SPEC_OPTIONS = inGroup("Spec", {
  file: textOption("-f, --file <path>", "spec file (default: workspace.yaml)"),
  target: textOption("-t, --target <name>", "target of the spec"),
  var: textsOption("--var <name=value>", "set a variable; repeatable"),
  varFile: textsOption("--var-file <path>", "set variables from a YAML or JSON file; repeatable"),
});

export const RULES_OPTION = inGroup("Spec", {
  rules: textsOption("--rules <folder>", "check plans against the rules in this folder; repeatable"),
});

const PRICES_OPTION = inGroup("Spec", {
  prices: textOption("--prices <file>", "show what the changes cost (default: prices.yaml next to the spec)"),
  cost: flagOption("--cost", "show cores and memory of the changes, from the node types of the workspace"),
});

/** The API dialect, which decides what a spec may contain. */
export const DIALECT_OPTIONS = inGroup("Workspace", {
  dialect: optionalChoiceOption(
    "--dialect <name>",
    "dialect of the workspace (default: inferred from the host)",
    DIALECTS,
  ),
  cloud: optionalChoiceOption(
    "--cloud <name>",
    "cloud of the databricks dialect (default: inferred from the host)",
    CLOUDS,
  ),
});

export const HOST_OPTIONS = inGroup("Workspace", {
  host: textOption("--host <url>", "workspace URL, or `embedded` for the built-in emulator"),
  profile: textOption("--profile <name>", "profile in ~/.workspacecfg"),
  caFile: textOption("--ca-file <path>", "trust the certificate authorities in this PEM file"),
  ...DIALECT_OPTIONS,
  parallelism: integerOption("--parallelism <number>", "number of concurrent requests (default: 10)", 1, 256),
});

/** Of commands that read the workspace to plan. */
export const READ_TIMEOUT_OPTION = inGroup("Workspace", {
  readTimeout: durationOption(
    "--read-timeout <time>",
    "limit the time of all reads for a plan (default: 10m; 2m with --untrusted)",
  ),
});

export const PLANNING_OPTIONS = {
  ...SPEC_OPTIONS,
  ...RULES_OPTION,
  ...PRICES_OPTION,
  ...HOST_OPTIONS,
  ...READ_TIMEOUT_OPTION,
} as const;

export const STATE_OPTIONS = inGroup("State", {
  state: textOption(
    "--state <location>",
    "folder, postgres://…, or workspace:/folder of the state (default: .workspace/<target> next to the spec)",
  ),
  lockTimeout: durationOption("--lock-timeout <time>", "wait this long for the state lock (default: 0s)"),
});

/** Of commands that read the spec, the state, and the workspace. */
export const LIVE_OPTIONS = {
  ...SPEC_OPTIONS,
  ...HOST_OPTIONS,
  ...READ_TIMEOUT_OPTION,
  state: STATE_OPTIONS.state,
} as const;

export const RECORDED_OPTIONS = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  ...HOST_OPTIONS,
} as const;

/** Only a state in the workspace itself needs a host. */
export const STATE_LOCATION_OPTIONS = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  host: HOST_OPTIONS.host,
  profile: HOST_OPTIONS.profile,
  caFile: HOST_OPTIONS.caFile,
};

export const STATE_WRITE_OPTIONS = { ...STATE_LOCATION_OPTIONS, lockTimeout: STATE_OPTIONS.lockTimeout };

/** Of commands that write digests of secrets into the state. */
export const UNENCRYPTED_OPTION = inGroup("State", {
  allowUnencryptedState: flagOption(
    "--allow-unencrypted-state",
    "store digests of secrets in the workspace without WORKSPACE_STATE_KEY",
  ),
});

export const EXISTING_OPTIONS = {
  adopt: flagOption("--adopt", "adopt existing objects whose names match the spec"),
  allowDuplicates: flagOption(
    "--allow-duplicates",
    "without a state, create clusters and jobs even if their names exist",
  ),
} as const;

export const UNTRUSTED_OPTIONS = {
  untrusted: flagOption(
    "--untrusted",
    "plan an untrusted spec: use no environment variables or secrets, show no unmanaged values",
  ),
  maxReads: integerOption(
    "--max-reads <number>",
    "maximum number of reads for an untrusted spec (default: 500, and 5 for each recorded resource)",
    1,
    1_000_000,
  ),
} as const;

export const ONLY_OPTION = {
  only: textsOption("--only <address-glob>", "limit to these addresses and their dependencies; repeatable"),
  exclude: textsOption(
    "--exclude <address-glob>",
    "leave out these addresses and what depends on them; repeatable",
  ),
} as const;

export const BASE_OPTIONS = {
  base: textOption("--base <folder>", "compare with the spec in this copy of the current folder"),
  baseRef: textOption("--base-ref <ref>", "compare with the spec at a Git reference, such as origin/main"),
  exitcodeFor: choiceOption(
    "--exitcode-for <changes>",
    "with --base or --base-ref, the changes that decide the exit code (default: all)",
    ["all", "change"],
  ),
} as const;

const outputIn = <F extends string>(formats: Readonly<Record<F, unknown>>) =>
  inGroup("Output", { output: outputsOption(Object.keys(formats) as F[]) });

export const PLAN_OUTPUT = outputIn(PLAN_FORMATS);
export const DRIFT_OUTPUT = outputIn(DRIFT_FORMATS);
export const OUTCOME_OUTPUT = outputIn(OUTCOME_FORMATS);
export const VALIDATION_OUTPUT = outputIn(VALIDATION_FORMATS);
export const ACCESS_OUTPUT = outputIn(ACCESS_FORMATS);
export const EXPLANATION_OUTPUT = outputIn(EXPLANATION_FORMATS);
export const HISTORY_OUTPUT = outputIn(HISTORY_FORMATS);

export const EXPAND_OPTION = inGroup("Output", {
  expand: flagOption("--expand", "show equal changes one by one"),
  accessBy: choiceOption("--access-by <what>", "group the access that changes", ["principal", "object"]),
});

/** What reports for readers show. Documents for programs have everything. */
export const CHOICE_OPTIONS = inGroup("Output", {
  show: filtersOption(
    "--show <filter>",
    "show only what fits: destroys, creates, updates, security, cost, drift, kind=KIND, or an address; commas join alternatives, repeat to narrow",
  ),
  hide: filtersOption("--hide <filter>", "hide what fits, and count it; filters as for --show; repeatable"),
});

export const RUN_CHOICE_OPTIONS = inGroup("Output", {
  show: filtersOption(
    "--show <filter>",
    "show only runs that fit: destroys, creates, updates, kind=KIND, or an address; commas join alternatives, repeat to narrow",
    ACTION_WORDS,
  ),
  hide: filtersOption(
    "--hide <filter>",
    "hide runs in which everything fits, and count them; filters as for --show; repeatable",
    ACTION_WORDS,
  ),
});

export const FORM_OPTION = inGroup("Output", {
  output: oneFormat(choiceOption("-o, --output <format>", "output format", ["text", "json"])),
});

/** Of a command that has only JSON, so that scripts can name it as everywhere. */
export const JSON_OPTION = inGroup("Output", {
  output: oneFormat(choiceOption("-o, --output <format>", "output format", ["json"])),
});

export const ASK_OPTIONS = inGroup("Approval", {
  autoApprove: flagOption("--auto-approve", "skip the approval prompt"),
  noInput: flagOption("--no-input", "never prompt; fail if approval is required"),
});

/** Options of a pipeline, which every command with a spec or a host accepts. `--only`, `--exclude`, and `--output` change the answer, so they are refused where they have no effect. */
export const PIPELINE_OPTIONS: readonly OptionSpec<unknown>[] = [
  ...Object.values(SPEC_OPTIONS),
  ...Object.values(RULES_OPTION),
  ...Object.values(PRICES_OPTION),
  ...Object.values(HOST_OPTIONS),
  ...Object.values(READ_TIMEOUT_OPTION),
  ...Object.values(STATE_OPTIONS),
  ...Object.values(ASK_OPTIONS),
];

export const ROOT_OPTIONS: readonly OptionSpec<unknown>[] = [
  ...PIPELINE_OPTIONS,
  ...Object.values(ONLY_OPTION),
  PLAN_OUTPUT.output,
  ...Object.values(EXISTING_OPTIONS),
  ...Object.values(UNENCRYPTED_OPTION),
];
