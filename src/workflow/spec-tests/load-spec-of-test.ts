// Reads the spec of a step or of a world: a file below the folder of the run, or a part of the test file.

import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { DEFAULT_FILE } from "../../config/files.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import { type LoadedSpec, loadSpec } from "../../spec/load-spec.ts";
import { locationOf, type Span } from "../../spec/model/source.ts";
import type { RuleFile, Spec } from "../../spec/model/spec.ts";
import type { SpecSource, SpecTestFile, TestSetup } from "../../spec/testing/spec-test.ts";
import { ruleFiles } from "../rules/rule-folders.ts";
import type { Sandbox } from "./sandbox.ts";

/** Where test files are: specs outside of `boundary` are not read. All absolute. */
export interface TestPlace {
  readonly cwd: string;
  readonly boundary: string;
  readonly file: Pick<SpecTestFile, "path">;
  readonly seen?: PathObserver;
}

export interface LoadSpecOfTest {
  readonly source: SpecSource;
  readonly target?: string;
  readonly variables?: readonly string[];
  /** `optional`: a secret without a value is a warning. */
  readonly secrets: "resolve" | "optional" | "skip";
  readonly withRules?: boolean;
}

export function loadSpecOfTest(
  sandbox: Sandbox,
  setup: TestSetup,
  place: TestPlace,
  { source, target, variables = [], secrets, withRules = false }: LoadSpecOfTest,
): Promise<LoadedSpec> {
  const found = fileOf(source, place);
  const rules = withRules ? rulesOf(setup, place) : undefined;
  if (typeof found !== "string") return Promise.resolve({ diagnostics: [found] });
  if (rules !== undefined && "code" in rules) return Promise.resolve({ diagnostics: [rules] });
  return loadSpec({
    file: found,
    ...("root" in source ? { root: source.root } : {}),
    cwd: place.cwd,
    vars: variables,
    ...defined({ target, rules, seen: place.seen }),
    env: setup.env,
    registry: sandbox.registry,
    secrets: secrets === "skip" ? "skip" : "resolve",
    mayLackSecrets: secrets === "optional",
    keyed: (bytes) => sandbox.keyed(bytes),
    turn: () => sandbox.turn(),
  });
}

export function withLiveIds(spec: Spec, ids: ReadonlyMap<string, string>): Spec {
  const { stateEntries } = spec;
  if (stateEntries === undefined || ids.size === 0) return spec;
  const imports = stateEntries.imports.map((entry) => ({ ...entry, id: ids.get(entry.id) ?? entry.id }));
  return { ...spec, stateEntries: { ...stateEntries, imports } };
}

function fileOf(source: SpecSource, place: TestPlace): string | Diagnostic {
  if ("root" in source) return place.file.path;
  const path = pathInside(source, place);
  if (typeof path !== "string") return path;
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const spec = isFolder ? join(path, DEFAULT_FILE) : path;
  if (existsSync(spec)) return spec;
  return error("SPEC_NOT_FOUND", `the spec ${source.path} does not exist`, {
    at: locationOf(source.at),
    hint: "a path starts from the folder of the test file",
  });
}

/** The files of the folder of rules; undefined without such a folder. */
function rulesOf({ rules }: TestSetup, place: TestPlace): readonly RuleFile[] | Diagnostic {
  if (rules === undefined) return [];
  const folder = pathInside(rules, place);
  if (typeof folder !== "string") return folder;
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const names = isFolder ? readdirSync(folder) : [];
  const escaping = names.find((name) => !isInside(place.boundary, join(folder, name)));
  if (escaping !== undefined) return outside(`${rules.path}/${escaping}`, rules.at);
  try {
    return ruleFiles({ cwd: place.cwd, env: {}, home: place.cwd }, { rules: [folder] }, false) ?? [];
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    const [{ message, hint } = { message: "the rules cannot be read" }] = problem.diagnostics;
    return error("SPEC_RULE", message, { at: locationOf(rules.at), hint });
  }
}

/** Throws nothing: a path that leads elsewhere, or to a hidden file such as `.git/config`, is a finding. */
function pathInside(
  named: { readonly path: string; readonly at: Span },
  place: TestPlace,
): string | Diagnostic {
  const path = resolve(dirname(place.file.path), named.path.replaceAll("\0", ""));
  return isInside(place.boundary, path) ? path : outside(named.path, named.at);
}

function outside(path: string, at: Span): Diagnostic {
  return error("SPEC_OUTSIDE", `${path} is hidden, or outside the folder of the run`, {
    at: locationOf(at),
    hint: "name a spec below the folder in which `workspace test` runs",
  });
}

/** Links are followed. The path may be missing. */
function isInside(boundary: string, path: string): boolean {
  if (!isVisibleBelow(boundary, path)) return false;
  return !existsSync(path) || isVisibleBelow(realpathSync(boundary), realpathSync(path));
}

function isVisibleBelow(folder: string, path: string): boolean {
  return relative(folder, path)
    .split(sep)
    .every((part) => !part.startsWith("."));
}
