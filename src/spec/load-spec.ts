// Reads a spec: files, target, variables, resources, checks. Everything that is wrong comes back as diagnostics, all at once.

import type { Diagnostic } from "../core/diagnostic.ts";
import { SensitiveTexts } from "../core/sensitive.ts";
import { type Suggest, suggester } from "../core/suggest.ts";
import type { PlanningRegistry } from "../resource/registry.ts";
import { readAll } from "./files/includes.ts";
import { expandSourceFolders } from "./files/source-folders.ts";
import { SourceReader } from "./files/source-reader.ts";
import { openSpecFolder } from "./files/spec-folder.ts";
import { Findings } from "./model/findings.ts";
import { LIMITS, STRICT } from "./model/limits.ts";
import type { Spec } from "./model/spec.ts";
import { keySpanOf, type MapNode, member, spanOf } from "./model/tree.ts";
import { expandSpec } from "./modules/expand-spec.ts";
import { flattenResources } from "./resolve/flatten.ts";
import { policyOf } from "./resolve/policy.ts";
import { resolveResources } from "./resolve/resolve.ts";
import { stateEntriesOf } from "./resolve/state-entries.ts";
import { schemaMessages } from "./schema/error-messages.ts";
import { validatorForPolicy } from "./schema/validator.ts";
import { type VariableInputs, variablesOf } from "./variables/declarations.ts";
import { selectTarget } from "./variables/target-settings.ts";
import { applyTarget } from "./variables/targets.ts";

export interface LoadOptions {
  /** Path of the main file. */
  readonly file: string;
  /** Diagnostics show paths relative to this folder, or as in `file` for files outside. */
  readonly cwd?: string;
  readonly target?: string;
  /** `name=value`, as --var takes them; the last one of a name counts. */
  readonly vars?: readonly string[];
  /** Paths of variable files; later ones win. */
  readonly varFiles?: readonly string[];
  /** Read for `WORKSPACE_VAR_…` and for the variables that secrets name, and for nothing else. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registry: PlanningRegistry;
  /** `skip`: secrets are declared with an empty digest, and no value is read. */
  readonly secrets: "resolve" | "skip";
  /** A variable of a secret that is not set, or empty, is a warning: for plans, which need no values. */
  readonly mayLackSecrets?: boolean;
  /** The spec may be untrusted: lower limits, no hidden files, no lines of files in diagnostics. */
  readonly untrusted?: boolean;
  /** Absolute paths of folders of states, which no spec reads. */
  readonly states?: readonly string[];
  /** The digest that stands for a secret's value, under a key that the caller holds. */
  readonly keyed: (bytes: Uint8Array) => string;
  /** Called between two steps, so that other work can continue. */
  readonly turn?: () => Promise<void>;
}

/** The spec, unless an error was found; with every diagnostic. Never throws for what a file holds. */
export async function loadSpec(
  options: LoadOptions,
): Promise<{ readonly spec?: Spec; readonly diagnostics: readonly Diagnostic[] }> {
  const findings = new Findings();
  const sensitive = new SensitiveTexts();
  const spec = await read(options, findings, sensitive);
  const diagnostics = findings.diagnostics(options.untrusted === true ? 0 : undefined, sensitive);
  return spec === undefined || findings.failed ? { diagnostics } : { spec, diagnostics };
}

async function read(
  options: LoadOptions,
  findings: Findings,
  sensitive: SensitiveTexts,
): Promise<Spec | undefined> {
  const { registry } = options;
  const limits = options.untrusted === true ? STRICT : LIMITS;
  const place = openSpecFolder(options.file, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    visibleOnly: options.untrusted === true,
    states: options.states ?? [],
  });
  if (place === undefined) {
    findings.error("SPEC_NOT_FOUND", `${options.file} does not exist`, undefined, {
      hint: "pass another spec with --file, or run `workspace init` to create one",
    });
    return undefined;
  }
  const { tree, main } = place;
  const included = readAll(tree, main, findings, limits);
  if (included === undefined) return undefined;
  const suggest = suggester();
  await options.turn?.();
  const target = selectTarget(member(included.root, "targets"), options.target, suggest, findings);
  const { root: whole, variables } = applyTarget(included.root, target?.name, findings);
  const lookup = variablesOf(whole, variables, givenBy(options, findings), suggest, findings, sensitive);
  const interpolate = await expandSpec(whole, {
    files: included.files,
    lookup,
    target: target?.name,
    main,
    registry,
    limits: limits.modules,
    suggest,
    findings,
    sensitive,
  });
  if (interpolate === undefined) return undefined;
  const { root, parts } = interpolate;
  await checkPolicy(root, registry, suggest, findings);
  await options.turn?.();
  const written = expandSourceFolders(
    flattenResources(parts, registry, suggest, findings),
    registry,
    tree,
    findings,
  );
  const keyed = options.secrets === "resolve" ? options.keyed : undefined;
  const secrets = {
    tree,
    env: options.env,
    keyed,
    unseen: options.untrusted === true,
    mayLack: options.mayLackSecrets === true,
  };
  const sources = new SourceReader(tree, options.untrusted === true ? STRICT.sourceBytes : undefined);
  await options.turn?.();
  const resources = await resolveResources(written, { registry, sources, secrets, suggest, findings });
  const declared = new Set(resources.keys());
  const stateEntries = stateEntriesOf(root, { registry, declared, suggest, findings });
  if (findings.failed) return undefined;
  if (resources.size === 0)
    findings.warning("SPEC_EMPTY", "the spec declares no resources, so it manages nothing", undefined, {
      hint: "check the path in --file, and for a missing include or target",
    });
  return {
    folder: tree.folder,
    files: included.files.digests,
    resources,
    policy: policyOf(member(root, "policy")),
    ...(target === undefined ? {} : { target }),
    ...(stateEntries === undefined ? {} : { stateEntries }),
    sensitive,
  };
}

function givenBy(options: LoadOptions, findings: Findings): VariableInputs {
  return {
    vars: assigned(options.vars ?? [], findings),
    varFiles: options.varFiles ?? [],
    env: options.env,
    untrusted: options.untrusted === true,
  };
}

function assigned(texts: readonly string[], findings: Findings): ReadonlyMap<string, string> {
  const vars = new Map<string, string>();
  for (const text of texts) {
    const equals = text.indexOf("=");
    if (equals > 0) vars.set(text.slice(0, equals), text.slice(equals + 1));
    else
      findings.error("CLI_USAGE", "--var requires name=value", undefined, {
        hint: "for example, --var env=prod",
      });
  }
  return vars;
}

async function checkPolicy(
  root: MapNode,
  registry: PlanningRegistry,
  suggest: Suggest,
  findings: Findings,
): Promise<void> {
  const section = member(root, "policy");
  if (section === undefined) return;
  const validator = await validatorForPolicy(registry, section);
  for (const { code, message, path, onKey, hint } of schemaMessages(
    validator.policy(section),
    "policy",
    suggest,
  )) {
    const at = onKey ? keySpanOf(section, path) : spanOf(section, path);
    findings.error(code, message, at, hint === undefined ? {} : { hint });
  }
}
