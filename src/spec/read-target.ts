// Reads the selected target of a spec before everything else, because the location of the state depends on it.

import type { Diagnostic } from "../core/diagnostic.ts";
import { suggester } from "../core/suggest.ts";
import { readAll } from "./files/includes.ts";
import { openSpecFolder, type SpecFolderOptions } from "./files/spec-folder.ts";
import { Findings } from "./model/findings.ts";
import { LIMITS, STRICT } from "./model/limits.ts";
import type { TargetSettings } from "./model/spec.ts";
import { member } from "./model/tree.ts";
import { checkTargets, selectTarget } from "./variables/targets.ts";

export interface SelectedTarget {
  /** Of every target of the spec. */
  readonly names: readonly string[];
  readonly settings?: TargetSettings;
  /** Why no target can be selected. Other problems of the spec are left to `loadSpec`. */
  readonly problem?: Diagnostic;
}

/** The selected target, for the name that the run gives. */
export type TargetSelection = (wanted: string | undefined) => SelectedTarget;

const NONE: TargetSelection = () => ({ names: [] });

export function readTargets(options: SpecFolderOptions & { readonly file: string }): TargetSelection {
  const { file, untrusted = false } = options;
  const place = openSpecFolder(file, options);
  if (place === undefined) return NONE;
  const { tree, main } = place;
  const limits = untrusted ? STRICT : LIMITS;
  const opened = tree.read(main, limits.fileBytes);
  if (!opened.ok || !mayHaveTargets(opened.value)) return NONE;
  // The YAML of a large spec takes seconds, and most of its files have only resources.
  const included = readAll(tree, main, new Findings(), limits, { isNeeded: mayHaveTargets });
  if (included === undefined) return NONE;
  const section = member(included.root, "targets");
  const names = section?.kind === "map" ? [...section.members.keys()] : [];
  const firstError = (findings: Findings): Diagnostic | undefined =>
    findings.diagnostics(untrusted ? 0 : undefined).find(({ severity }) => severity === "error");
  const ofAll = new Findings();
  checkTargets(section, ofAll);
  const general = firstError(ofAll);
  // A spec of many targets is asked for each of them.
  return (wanted) => {
    const findings = new Findings();
    const settings = selectTarget(section, wanted, suggester(), findings);
    return { names, settings, problem: firstError(findings) ?? general };
  };
}

/** Searching the bytes is faster than reading YAML. An escape may spell the word, and an include may contain it. */
function mayHaveTargets(bytes: Uint8Array): boolean {
  return /targets|include|\\/.test(new TextDecoder("latin1").decode(bytes));
}
