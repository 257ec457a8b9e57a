// Reads a spec: files, target, variables, resources, checks. Reports all problems at once as diagnostics.

import type { Diagnostic } from "../core/diagnostic.ts";
import { SensitiveTexts } from "../core/sensitive.ts";
import type { Suggest } from "../core/suggest.ts";
import { openExpandedSpec, type SpecInput } from "./expanded-spec.ts";
import { expandSourceFolders } from "./files/source-folders.ts";
import { SourceReader } from "./files/source-reader.ts";
import { Findings } from "./model/findings.ts";
import { LIMITS, STRICT } from "./model/limits.ts";
import type { Rule, RuleFile, Spec } from "./model/spec.ts";
import { type MapNode, member } from "./model/tree.ts";
import type { DeclaredSpec } from "./model/written-resource.ts";
import { flattenResources } from "./resolve/flatten.ts";
import { policyOf } from "./resolve/policy.ts";
import { resolveResources } from "./resolve/resolve.ts";
import { stateEntriesOf } from "./resolve/state-entries.ts";
import { readSpecRules } from "./rules/read-rules.ts";
import { reportErrors, validatorForPolicy } from "./schema/validator.ts";

export interface LoadOptions extends SpecInput {
  /** `skip`: secrets are declared with an empty digest, and no value is read. */
  readonly secrets: "resolve" | "skip";
  /** A variable of a secret that is not set, or empty, is a warning: for plans, which need no values. */
  readonly mayLackSecrets?: boolean;
  /** Files of rules that do not belong to the spec. Without it, no rules are read. */
  readonly rules?: readonly RuleFile[];
  /** The keyed digest of a secret's value. */
  readonly keyed: (bytes: Uint8Array) => string;
}

export interface LoadedSpec {
  readonly spec?: Spec;
  readonly declared?: DeclaredSpec;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a spec and returns all diagnostics. Never throws for the content of a file. */
export async function loadSpec(options: LoadOptions): Promise<LoadedSpec> {
  const findings = new Findings();
  const sensitive = new SensitiveTexts();
  const found = await read(options, findings, sensitive);
  const diagnostics = findings.diagnostics(options.untrusted === true ? 0 : undefined, sensitive);
  return found === undefined || findings.failed ? { diagnostics } : { ...found, diagnostics };
}

async function read(
  options: LoadOptions,
  findings: Findings,
  sensitive: SensitiveTexts,
): Promise<{ readonly spec: Spec; readonly declared: DeclaredSpec } | undefined> {
  const { registry } = options;
  const opened = await openExpandedSpec(options, findings, sensitive);
  if (opened === undefined) return undefined;
  const { tree, target, files, suggest, expanded } = opened;
  const { root, parts } = expanded;
  const policy = member(root, "policy");
  if (policy !== undefined) {
    const validator = await validatorForPolicy(registry, policy);
    reportErrors(validator.policy(policy), "policy", policy, { suggest, findings });
  }
  const rules = await rulesFor(options, opened.written, suggest, findings);
  await options.turn?.();
  const strict = options.untrusted === true ? STRICT : LIMITS;
  const flat = flattenResources(parts, registry, suggest, findings);
  const written = expandSourceFolders(flat, registry, tree, findings, strict.sourceFiles);
  const keyed = options.secrets === "resolve" ? options.keyed : undefined;
  const secrets = {
    tree,
    env: options.env,
    keyed,
    unseen: options.untrusted === true,
    mayLack: options.mayLackSecrets === true,
    read: new Map(),
  };
  const sources = new SourceReader(tree, options.untrusted === true ? STRICT.sourceBytes : undefined);
  await options.turn?.();
  const resources = await resolveResources(written, {
    ...{ registry, sources, secrets, suggest, findings, parts },
  });
  const declared = new Set(resources.keys());
  const stateEntries = stateEntriesOf(root, { registry, declared, suggest, findings });
  if (findings.failed) return undefined;
  if (resources.size === 0)
    findings.warning("SPEC_EMPTY", "the spec declares no resources, so it manages nothing", undefined, {
      hint: "check the path in --file, and for a missing include or target",
    });
  const spec = {
    folder: tree.folder,
    files: files.digests,
    resources,
    policy: policyOf(policy),
    ...(target === undefined ? {} : { target }),
    ...(stateEntries === undefined ? {} : { stateEntries }),
    ...(rules.length === 0 ? {} : { rules }),
    sensitive,
  };
  return { spec, declared: { root, rules: member(opened.written, "rules"), resources: written } };
}

async function rulesFor(
  { rules: files, registry, untrusted = false }: LoadOptions,
  root: MapNode,
  suggest: Suggest,
  findings: Findings,
): Promise<readonly Rule[]> {
  const section = member(root, "rules");
  if (files === undefined || (files.length === 0 && section === undefined)) return [];
  const most = (untrusted ? STRICT : LIMITS).rules;
  return readSpecRules({ section, files, most, framed: !untrusted, registry, suggest, findings });
}
