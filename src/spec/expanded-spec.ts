// The first half of reading a spec: files, target, variables, and expressions. Resources are not validated yet.

import type { SensitiveTexts } from "../core/sensitive.ts";
import { type Suggest, suggester } from "../core/suggest.ts";
import type { PlanningRegistry } from "../resource/registry.ts";
import { LinearPatterns } from "./expressions/linear-pattern.ts";
import { readAll, type SpecFileReader } from "./files/includes.ts";
import { openSpecFolder, type SpecFolder, type SpecFolderOptions } from "./files/spec-folder.ts";
import type { Findings } from "./model/findings.ts";
import { LIMITS, STRICT } from "./model/limits.ts";
import type { SourceText } from "./model/source.ts";
import type { TargetSettings } from "./model/spec.ts";
import { type MapNode, member } from "./model/tree.ts";
import { type ExpandedSpec, expandSpec } from "./modules/expand-spec.ts";
import { checkOtherTargets } from "./resolve/other-targets.ts";
import { variablesOf } from "./variables/declarations.ts";
import { applyTarget, checkTargets, selectTarget } from "./variables/targets.ts";

export interface SpecInput extends SpecFolderOptions {
  readonly file: string;
  /** The spec, where it is a part of `file`. */
  readonly root?: MapNode;
  readonly target?: string;
  /** `name=value`, as --var takes them; the last one of a name counts. */
  readonly vars?: readonly string[];
  /** Paths of variable files; later ones win. */
  readonly varFiles?: readonly string[];
  /** Read for `WORKSPACE_VAR_…` and for the variables that secrets name, and for nothing else. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registry: PlanningRegistry;
  /** The targets that are not selected are checked as well. */
  readonly allTargets?: boolean;
  /** Called between two steps, so that other work can continue. */
  readonly turn?: () => Promise<void>;
  /** Whether problems of expressions in this source are located inside the expression. */
  readonly isTyped?: (source: SourceText) => boolean;
}

export interface OpenedSpec {
  readonly tree: SpecFolder;
  readonly files: SpecFileReader;
  /** The main spec with its target applied, before expressions. */
  readonly written: MapNode;
  readonly target: TargetSettings | undefined;
  readonly suggest: Suggest;
  readonly expanded: ExpandedSpec;
}

/** Undefined after reporting why the rest cannot be read. */
export async function openExpandedSpec(
  options: SpecInput,
  findings: Findings,
  sensitive: SensitiveTexts,
): Promise<OpenedSpec | undefined> {
  const { registry, isTyped, vars = [], varFiles = [], env, untrusted = false } = options;
  const limits = untrusted ? STRICT : LIMITS;
  const place = openSpecFolder(options.file, options);
  if (place === undefined) {
    findings.error("SPEC_NOT_FOUND", `${options.file} does not exist`, undefined, {
      hint: "pass another spec with --file, or run `workspace init` to create one",
    });
    return undefined;
  }
  const { tree, main } = place;
  const included = readAll(tree, main, findings, limits, options.root);
  if (included === undefined) return undefined;
  const { files } = included;
  const suggest = suggester();
  await options.turn?.();
  const targets = member(included.root, "targets");
  checkTargets(targets, findings);
  const target = selectTarget(targets, options.target, suggest, findings);
  const { root: written, variables } = applyTarget(included.root, target?.name, findings);
  const patterns = new LinearPatterns(findings);
  const shared = { suggest, findings, sensitive, patterns };
  if (options.allTargets === true)
    await checkOtherTargets(included.root, target?.name, { registry, ...shared });
  const given = { vars: assigned(vars, findings), varFiles, env, untrusted };
  const lookup = variablesOf(written, variables, given, shared);
  const expanded = await expandSpec(written, {
    files,
    lookup,
    target: target?.name,
    main,
    registry,
    limits: limits.modules,
    isTyped,
    ...shared,
  });
  return expanded && { tree, files, written, target, suggest, expanded };
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
