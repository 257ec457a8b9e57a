// Reads a spec: files, target, variables, and expressions, then resources and checks. Reports all problems at once as diagnostics.

import { type Diagnostic, warning } from "../core/diagnostic.ts";
import type { KeyedDigest } from "../core/digest.ts";
import { defined } from "../core/json.ts";
import type { SensitiveTexts } from "../core/sensitive/texts.ts";
import { isTemplate } from "../expressions/template.ts";
import { type PlanningRegistry, secretField } from "../resource/kind.ts";
import { Evaluator } from "./evaluate/evaluator.ts";
import { checkSyntax } from "./evaluate/expander.ts";
import { SourceReader } from "./files/contents.ts";
import { readAll, type SpecFileReader } from "./files/includes.ts";
import { expandSourceFolders } from "./files/source-folders.ts";
import { openSpecFolder, type SpecFolder, type SpecFolderOptions } from "./files/spec-folder.ts";
import { Findings } from "./model/findings.ts";
import { LIMITS, STRICT } from "./model/limits.ts";
import type { DeclaredSpec, RuleFile, Spec, TargetSettings } from "./model/spec.ts";
import {
  isNull,
  type MapNode,
  mapAt,
  member,
  memberEntries,
  nodeAt,
  type SpecNode,
  scalarAt,
  scalarText,
  withItems,
  withMembers,
} from "./model/tree.ts";
import { type ExpandedSpec, expandSpec } from "./modules/instances.ts";
import { flattenResources } from "./resolve/flatten.ts";
import { policyOf } from "./resolve/policy.ts";
import { resolveResources } from "./resolve/resolve.ts";
import { refuseSensitiveSections } from "./resolve/secrets.ts";
import { stateEntriesOf } from "./resolve/state-entries.ts";
import { readSpecRules } from "./rules/read-rules.ts";
import { type Owner, reportErrors } from "./schema/error-messages.ts";
import { schemaOfKind } from "./schema/json-schema.ts";
import { validatorFor } from "./schema/quick-check.ts";
import { schemaOfPolicy } from "./schema/sections.ts";
import type { SchemaError } from "./schema/validate.ts";
import { type CheckParts, checkValues, LinearPatterns, sensitiveNames } from "./variables/parameters.ts";
import { applyTarget, checkTargets, selectTarget, withoutSettings } from "./variables/targets.ts";
import { type AlsoSensitive, type Variables, variablesOf, withPartsOf } from "./variables/variables.ts";

export interface LoadOptions extends SpecInput {
  /** `skip`: secrets are declared with an empty digest, and their values need not be available. */
  readonly secrets: "resolve" | "skip";
  /** A variable of a secret that is not set, or empty, is a warning: for plans, which need no values. */
  readonly mayLackSecrets?: boolean;
  /** Files of rules that do not belong to the spec. Without it, no rules are read. */
  readonly rules?: readonly RuleFile[];
  /** The keyed digest of a secret's value. */
  readonly keyed: KeyedDigest;
}

export interface LoadedSpec {
  readonly spec?: Spec;
  readonly declared?: DeclaredSpec;
  readonly diagnostics: readonly Diagnostic[];
}

/** `sensitive`: what no output may show, also of a spec with errors, as far as it could be read. */
type LoadResult = LoadedSpec & { readonly sensitive: SensitiveTexts };

/** Reads a spec and returns all diagnostics. Never throws for the content of a file. */
export async function loadSpec(options: LoadOptions): Promise<LoadResult> {
  const { loaded, contained, names } = await loadWithOutside(options);
  const { spec, diagnostics } = loaded;
  if (spec === undefined || contained.length === 0) return loaded;
  const sensitiveVariables = new Set([...(spec.sensitiveVariables ?? []), ...names]);
  return {
    ...loaded,
    spec: { ...spec, sensitiveVariables },
    diagnostics: [...diagnostics, ...contained],
  };
}

interface OutsideValues {
  /** Variables whose value from outside the spec contains a secret or a sensitive value. */
  readonly names: readonly string[];
  /** Those of them that are treated as sensitive. In a spec with errors, all are. */
  readonly alsoSensitive: AlsoSensitive;
  /** A warning about each of them. */
  readonly contained: readonly Diagnostic[];
}

/** Reads what is sensitive in addition to sensitive variables: secrets, and values from outside that contain a sensitive value. */
export async function sensitiveOutside(options: SpecInput): Promise<OutsideValues> {
  return loadWithOutside({ ...options, secrets: "skip", keyed: () => "" });
}

/**
 * A value from outside the spec that contains a sensitive one is sensitive itself; which these are is known once all values are, so the spec
 * is then read again: with all of them, else with each that no name needs.
 */
async function loadWithOutside(
  options: LoadOptions,
): Promise<OutsideValues & { readonly loaded: LoadResult }> {
  const { outside, ...loaded } = await load(options);
  const { spec, sensitive: texts } = loaded;
  const names =
    options.untrusted === true
      ? []
      : [...outside].flatMap(([name, value]) => (containsSensitive(value, texts) ? [name] : []));
  let usable: LoadResult = loaded;
  let hidden: ReadonlySet<string> = new Set(spec === undefined ? names : []);
  for (const more of names.length === 1 ? [names] : [names, ...names.map((name) => [name])]) {
    if (hidden.size === names.length) break;
    const tried = new Set([...hidden, ...more]);
    const { outside: _, ...others } = await load({ ...options, alsoSensitive: { names: tried, texts } });
    if (others.spec === undefined) continue;
    usable = others;
    hidden = tried;
  }
  const contained = names.map((name) => containedSensitive(name, hidden.has(name)));
  return { loaded: usable, names, alsoSensitive: { names: hidden, texts }, contained };
}

function containsSensitive(value: SpecNode, sensitive: SensitiveTexts): boolean {
  let isFound = false;
  withPartsOf(value, sensitive, (part) => {
    isFound = true;
    return part;
  });
  return isFound;
}

function containedSensitive(name: string, isHidden: boolean): Diagnostic {
  const subject = `the value of the variable ${name} contains a secret or a sensitive value`;
  const so = isHidden
    ? ", so it is treated as sensitive"
    : "; it is not treated as sensitive, because a name, key, or path contains it";
  return warning("SPEC_VARIABLE", `${subject}${so}`, {
    hint: `pass it in a variable of type string that is declared with sensitive: true`,
  });
}

async function load(options: LoadOptions): Promise<LoadResult & { readonly outside: Variables["outside"] }> {
  const findings = new Findings();
  const { sensitive } = findings;
  const opened = await openExpandedSpec(options, findings);
  const loaded = opened && (await read(options, opened, findings));
  const diagnostics = findings.diagnostics(options.untrusted === true ? 0 : undefined);
  const outside = opened?.outside ?? new Map();
  return loaded === undefined || findings.failed
    ? { diagnostics, sensitive, outside }
    : { ...loaded, diagnostics, sensitive, outside };
}

async function read(
  options: LoadOptions,
  opened: OpenedSpec,
  findings: Findings,
): Promise<{ readonly spec: Spec; readonly declared: DeclaredSpec } | undefined> {
  const { registry, rules: files, untrusted = false } = options;
  const { tree, target, expanded } = opened;
  const { root, parts, leftOut } = expanded;
  refuseSensitiveSections(root, findings);
  const policy = member(root, "policy");
  if (policy !== undefined) {
    const schema = schemaOfPolicy(registry);
    const validator = await validatorFor(registry, [{ schema, node: policy }]);
    reportErrors(validator(schema, policy), { name: "policy" }, policy, findings);
  }
  const strict = untrusted ? STRICT : LIMITS;
  const section = member(opened.written, "rules");
  const rules =
    files === undefined
      ? []
      : await readSpecRules({ section, files, most: strict.rules, framed: !untrusted, registry, findings });
  await options.yieldToEventLoop?.();
  const flat = flattenResources(parts, registry, findings);
  const written = expandSourceFolders(flat, registry, tree, findings, strict.sourceFiles);
  const keyed = options.secrets === "resolve" ? options.keyed : undefined;
  const secrets = {
    tree,
    env: options.env,
    keyed,
    unseen: untrusted,
    mayLack: options.mayLackSecrets === true,
    read: new Map(),
  };
  const sources = new SourceReader(tree, untrusted ? STRICT.sourceBytes : undefined);
  await options.yieldToEventLoop?.();
  const resources = await resolveResources(written, {
    ...{ registry, sources, secrets, findings, parts, leftOut },
  });
  const declared = new Set(resources.keys());
  const stateEntries = stateEntriesOf(root, { registry, declared, findings });
  if (findings.failed) return undefined;
  if (resources.size === 0)
    findings.warning("SPEC_EMPTY", "the spec declares no resources, so it manages nothing", undefined, {
      hint: "check the path in --file, and for a missing include or target",
    });
  const hidden = new Set([
    ...sensitiveNames(member(opened.written, "variables")),
    ...(options.alsoSensitive?.names ?? []),
  ]);
  const spec = {
    files: opened.files.digests,
    resources,
    policy: policyOf(policy),
    target,
    stateEntries,
    ...(rules.length === 0 ? {} : { rules }),
    ...(hidden.size === 0 ? {} : { sensitiveVariables: hidden }),
    sensitive: findings.sensitive,
  };
  return { spec, declared: { root, rules: section, resources: written } };
}

export interface SpecInput extends SpecFolderOptions {
  readonly file: string;
  /** The spec, where it is a part of `file`. */
  readonly root?: MapNode;
  readonly target?: string;
  /** `name=value`, as --var takes them; the last one of a name counts. */
  readonly vars?: readonly string[];
  /** Paths of variable files; later ones win. */
  readonly varFiles?: readonly string[];
  readonly alsoSensitive?: AlsoSensitive;
  /** Read for `WORKSPACE_VAR_…` and for the variables that secrets name, and for nothing else. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registry: PlanningRegistry;
  /** The targets that are not selected are checked as well. */
  readonly allTargets?: boolean;
  /** Called before the YAML of each file is read, with the bytes of all files up to it. */
  readonly onYaml?: (bytes: number) => void;
  /** Called between two steps, so that other work can continue. */
  readonly yieldToEventLoop?: () => Promise<void>;
}

export interface OpenedSpec {
  readonly tree: SpecFolder;
  readonly files: SpecFileReader;
  /** The main spec with its target applied, before expressions. */
  readonly written: MapNode;
  readonly target: TargetSettings | undefined;
  readonly expanded: ExpandedSpec;
  readonly outside: Variables["outside"];
}

/** Undefined after reporting why the rest cannot be read. */
export async function openExpandedSpec(
  options: SpecInput,
  findings: Findings,
): Promise<OpenedSpec | undefined> {
  const { registry, vars = [], varFiles = [], env, untrusted = false, alsoSensitive } = options;
  const limits = untrusted ? STRICT : LIMITS;
  const folder = openSpecFolder(options.file, options);
  if (folder === undefined) {
    findings.error("SPEC_NOT_FOUND", `${options.file} does not exist`, undefined, {
      hint: "pass another spec with --file, or run `workspace init` to create one",
    });
    return undefined;
  }
  const { tree, main } = folder;
  const included = readAll(tree, main, findings, limits, options);
  if (included === undefined) return undefined;
  const { files } = included;
  await options.yieldToEventLoop?.();
  const targets = member(included.root, "targets");
  checkTargets(targets, findings);
  const target = selectTarget(targets, options.target, findings);
  const { root: written, variables } = applyTarget(included.root, target?.name, findings);
  const patterns = new LinearPatterns(findings);
  const shared = { findings, patterns };
  if (options.allTargets === true)
    await checkOtherTargets(included.root, target?.name, { registry, ...shared });
  const assignments = { vars, varFiles, env, untrusted, ...defined({ alsoSensitive }) };
  const values = variablesOf(written, { target: variables, targets }, assignments, findings);
  const expanded = await expandSpec(written, {
    files,
    variables: values,
    target: target?.name,
    main,
    registry,
    limits: limits.modules,
    steps: limits.expressions,
    writtenModules: [included.root, ...memberEntries(targets).map(([, { value }]) => value)].map((part) =>
      member(part, "modules"),
    ),
    ...shared,
  });
  return expanded && { tree, files, written, target, expanded, outside: values.outside };
}

interface Checking extends CheckParts {
  readonly registry: PlanningRegistry;
}

const NOT_GIVEN = { vars: [], varFiles: [], env: {} };

/** Checks the targets that are not selected: settings, variables, fields, and types, before expressions are evaluated. `root`: with the section `targets`. */
async function checkOtherTargets(
  root: MapNode,
  selected: string | undefined,
  checking: Checking,
): Promise<void> {
  const { findings } = checking;
  const section = member(root, "targets");
  if (section?.kind !== "map") return;
  const evaluator = new Evaluator({ ...checking, steps: STRICT.expressions });
  for (const [name, { value }] of section.members) {
    if (name === selected || value.kind !== "map") continue;
    selectTarget(section, name, findings);
    const { root: written, variables } = applyTarget(root, name, findings);
    await checkValues(
      variablesOf(written, { target: variables, targets: undefined }, NOT_GIVEN, findings).values,
      checking,
    );
    const sections = withoutSettings(value);
    // Rules have a syntax of their own.
    checkSyntax(withMembers(sections, { rules: undefined }), evaluator, findings);
    await checkSections(sections, checking);
  }
}

async function checkSections(target: MapNode, checking: Checking): Promise<void> {
  const { registry, findings } = checking;
  const literal = literalIn(target);
  if (literal?.kind !== "map") return;
  const resources = flattenResources([{ root: literal, origin: undefined }], registry, findings);
  const judged = resources
    .filter(({ provider }) => secretField(provider) === undefined)
    .map(({ address, provider, fields: node }) => ({
      owner: { name: address, kind: provider } as Owner,
      schema: schemaOfKind(provider),
      node,
    }));
  const policy = member(literal, "policy");
  const schema = schemaOfPolicy(registry);
  const all =
    policy === undefined ? judged : [...judged, { owner: { name: "policy" }, schema, node: policy }];
  const validator = await validatorFor(registry, all);
  for (const { owner, schema, node } of all) {
    const errors = validator(schema, node).filter(isOfForm);
    reportErrors(
      errors.filter((error) => !isOmitted(error, node)),
      owner,
      node,
      findings,
    );
  }
}

/** What the fields that the target does not set cannot change. */
function isOfForm({ keyword }: SchemaError): boolean {
  return ["type", "additionalProperties", "unevaluatedProperties"].includes(keyword);
}

function isOmitted({ path }: SchemaError, node: SpecNode): boolean {
  const at = nodeAt(node, path);
  return at !== undefined && isNull(at);
}

/** The node without empty values, which remove, and without expressions, whose values are not known; undefined if nothing is left. In a list, null keeps their places. */
function literalIn(node: SpecNode): SpecNode | undefined {
  if (node.kind === "scalar") return isNull(node) || isTemplate(scalarText(node) ?? "") ? undefined : node;
  if (node.kind === "list") return withItems(node, (item) => literalIn(item) ?? scalarAt(item, null));
  const members = [...node.members].flatMap(([name, { key, value }]) => {
    const literal = isTemplate(name) ? undefined : literalIn(value);
    return literal === undefined ? [] : [[name, { key, value: literal }] as const];
  });
  return mapAt(node, new Map(members));
}
