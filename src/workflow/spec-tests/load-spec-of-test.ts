// Reads the spec of a step, or of a world: a file below the folder of the run, or a part of the test file.

import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { DEFAULT_FILE } from "../../config/files.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { type LoadedSpec, loadSpec } from "../../spec/load-spec.ts";
import { locationOf } from "../../spec/model/source.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { SpecSource, SpecTestFile, TestSetup } from "../../spec/testing/spec-test.ts";
import type { Sandbox } from "./sandbox.ts";

/** Where test files are: specs outside of `boundary` are not read. All absolute. */
export interface TestPlace {
  readonly cwd: string;
  readonly boundary: string;
  readonly file: Pick<SpecTestFile, "path">;
}

export interface LoadSpecOfTest {
  readonly source: SpecSource;
  readonly target?: string;
  readonly variables?: readonly string[];
  /** `optional`: a secret without a value is a warning. */
  readonly secrets: "resolve" | "optional" | "skip";
}

export function loadSpecOfTest(
  sandbox: Sandbox,
  { env }: Pick<TestSetup, "env">,
  place: TestPlace,
  { source, target, variables = [], secrets }: LoadSpecOfTest,
): Promise<LoadedSpec> {
  const found = fileOf(source, place);
  if (typeof found !== "string") return Promise.resolve({ diagnostics: [found] });
  return loadSpec({
    file: found,
    ...("root" in source ? { root: source.root } : {}),
    cwd: place.cwd,
    ...(target === undefined ? {} : { target }),
    vars: variables,
    env,
    registry: sandbox.registry,
    secrets: secrets === "skip" ? "skip" : "resolve",
    mayLackSecrets: secrets === "optional",
    keyed: (bytes) => sandbox.keyed(bytes),
  });
}

/** The imports with the IDs that the emulator gave to objects of the world. */
export function withLiveIds(spec: Spec, ids: ReadonlyMap<string, string>): Spec {
  const { stateEntries } = spec;
  if (stateEntries === undefined || ids.size === 0) return spec;
  const imports = stateEntries.imports.map((entry) => ({ ...entry, id: ids.get(entry.id) ?? entry.id }));
  return { ...spec, stateEntries: { ...stateEntries, imports } };
}

function fileOf(source: SpecSource, { boundary, file }: TestPlace): string | Diagnostic {
  if ("root" in source) return file.path;
  const path = resolve(dirname(file.path), source.path.replaceAll("\0", ""));
  if (
    !isInside(boundary, path) ||
    (existsSync(path) && !isInside(realpathSync(boundary), realpathSync(path)))
  )
    return error("SPEC_OUTSIDE", `${source.path} is outside the folder of the run`, {
      at: locationOf(source.at),
      hint: "name a spec below the folder in which `workspace test` runs",
    });
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const spec = isFolder ? join(path, DEFAULT_FILE) : path;
  if (existsSync(spec)) return spec;
  return error("SPEC_NOT_FOUND", `the spec ${source.path} does not exist`, {
    at: locationOf(source.at),
    hint: "a path starts from the folder of the test file",
  });
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}
