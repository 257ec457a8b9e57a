// Two workspaces that differ in sensitive values alone: for each sample of the laws, the values that its change changes come from sensitive variables.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { runProgram } from "../../src/cli/program.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../src/core/json.ts";
import { type Path, valueAt, withValueAt } from "../../src/core/pointer.ts";
import { contextWith } from "../cli/context.ts";
import { folderWith } from "../cli/program.ts";
import { POLICY } from "./sample-site.ts";
import type { Sample } from "./samples.ts";

export type Values = Readonly<Record<string, string>>;

/** What an author of pull requests must not be able to tell apart. */
export interface Worlds {
  readonly title: string;
  readonly isDatabricks: boolean;
  readonly cloud?: string;
  readonly spec: string;
  /** Specs of pull requests. */
  readonly changed: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** What another user applies to both worlds, with another state. */
  readonly outside?: string;
  /** The sensitive values of each world, by the names of their variables. */
  readonly values: readonly [Values, Values];
}

/** What differs between any two workspaces: times, IDs, and digests. */
const comparable = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT([\d:.]|&#58;)+Z/g, "TIME")
    .replaceAll(/\b\d{4}-\d{6}-[\w-]+/g, "ID")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+/g, "ID")
    .replaceAll(/\b[0-9a-fA-F]{12,64}(?![0-9a-zA-Z])/g, "DIGEST")
    .replaceAll(/\b\d{13,}\b/g, "NUMBER")
    .replaceAll(/(time|timestamp)="[^"]+"/g, "TIME")
    .replaceAll(/\b\d+\.\d s\b/g, "SECONDS")
    // Entries of a set are in the order of their digests.
    .replaceAll(/("path": "[^"]*\/)\d+"/g, '$1N"')
    .replaceAll(/"(pid|\w+_ms|\w+_s)": \d+(\.\d+)?/g, "NUMBER");

export interface World {
  /** `BASE` in a command is a folder with the spec that was applied. */
  run(line: string, variables?: Values): Promise<{ readonly code: number; readonly out: string }>;
  write(text: string): void;
}

export function worldOf({ spec, isDatabricks, cloud = "azure", files = {} }: Worlds): World {
  const [folder, base] = [folderWith(spec), folderWith(spec)];
  for (const [path, text] of Object.entries(files))
    for (const copy of [folder, base]) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), text);
    }
  const env = {
    WORKSPACE_HOST: "embedded",
    WORKSPACE_STATE: mkdtempSync(join(tmpdir(), "world-")),
    ...(isDatabricks ? { WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: cloud } : {}),
  };
  return {
    async run(line, variables = {}) {
      const given = Object.entries(variables).map(([name, value]) => [`WORKSPACE_VAR_${name}`, value]);
      const context = contextWith(
        { ...env, ...SECRETS, ...Object.fromEntries(given) } as Record<string, string>,
        folder,
      );
      const code = await runProgram(context, line.replace("BASE", base).split(" "));
      const out = (context.out() + context.err()).replaceAll(folder, "FOLDER").replaceAll(base, "BASE");
      return { code, out: comparable(out) };
    },
    write: (text) => writeFileSync(join(folder, "workspace.yaml"), text),
  };
}

const SECRETS = { DB_PASSWORD: "one", OTHER_PASSWORD: "two" };

/** Sections of a spec that no sensitive value decides. */
const SECTIONS = new Set(["variables", "policy", "moved", "removed", "import", "rules"]);

/** A value of a spec that becomes sensitive, and the one that the other world has there. */
interface Candidate {
  readonly path: Path;
  readonly value: Json;
  readonly other: Json;
}

/** Strings that the change changes, and all numbers and booleans. */
function candidatesIn(value: Json, changed: Json | undefined, path: Path = []): readonly Candidate[] {
  if (Array.isArray(value))
    return value.flatMap((item: Json, at) => candidatesIn(item, valueAt(changed, [at]), [...path, at]));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, member]) =>
      path.length === 0 && SECTIONS.has(key)
        ? []
        : candidatesIn(member, valueAt(changed, [key]), [...path, key]),
    );
  if (`${value} ${changed}`.includes("${")) return [];
  if (typeof changed === typeof value && changed !== undefined && changed !== value)
    return [{ path, value, other: changed }];
  if (typeof value === "number") return [{ path, value, other: value + 1 }];
  return typeof value === "boolean" ? [{ path, value, other: !value }] : [];
}

function expressionOf(value: Json | undefined, name: string): string {
  if (typeof value === "boolean") return `\${var.${name} == 'true'}`;
  return typeof value === "number" ? `\${int(var.${name})}` : `\${var.${name}}`;
}

/** Undefined for a sample without such a value. */
export async function worldsOf(
  sample: Sample,
  dialect: "contract" | "azure" | "aws",
): Promise<Worlds | undefined> {
  const [before = {}, after = {}] = [sample.spec, sample.changed].map(
    (text) => parse(POLICY + text) as JsonObject,
  );
  const isDatabricks = dialect !== "contract";
  const shared = {
    title: sample.title ?? sample.kind,
    isDatabricks,
    ...(isDatabricks ? { cloud: dialect } : {}),
    ...(sample.files === undefined ? {} : { files: sample.files }),
  };
  const isValid = async (tried: readonly Candidate[]): Promise<boolean> => {
    const world = worldOf({ ...shared, spec: specWith(before, tried), changed: [], values: [{}, {}] });
    const codes = [await world.run("validate"), await world.run("validate", valuesOf(tried, "other"))];
    return codes.every(({ code }) => code === 0);
  };
  // A value that decides a name, a path, or a reference cannot be sensitive, and some values must fit others.
  const added = async (
    chosen: readonly Candidate[],
    more: readonly Candidate[],
  ): Promise<readonly Candidate[]> => {
    if (more.length === 0 || (await isValid([...chosen, ...more]))) return [...chosen, ...more];
    if (more.length === 1) return chosen;
    const half = Math.ceil(more.length / 2);
    return added(await added(chosen, more.slice(0, half)), more.slice(half));
  };
  const chosen = await added([], candidatesIn(before, after));
  if (chosen.length === 0) return undefined;
  const spec = specWith(before, chosen);
  const guesses = [before, after, others(before, chosen)].map((each) =>
    JSON.stringify(declaring(each, chosen)),
  );
  const values = [valuesOf(chosen, "value"), valuesOf(chosen, "other")] as const;
  return { ...shared, spec, changed: [spec, ...guesses, POLICY], values };
}

const valuesOf = (candidates: readonly Candidate[], which: "value" | "other"): Values =>
  Object.fromEntries(candidates.map((candidate, at) => [`v${at}`, String(candidate[which])]));

const specWith = (spec: JsonObject, candidates: readonly Candidate[]): string =>
  JSON.stringify(
    declaring(
      changedSpec(spec, candidates, ({ value }, at) => expressionOf(value, `v${at}`)),
      candidates,
    ),
  );

const others = (spec: JsonObject, candidates: readonly Candidate[]): JsonObject =>
  changedSpec(spec, candidates, ({ other }) => other);

const changedSpec = (
  spec: JsonObject,
  candidates: readonly Candidate[],
  put: (candidate: Candidate, at: number) => Json,
): JsonObject =>
  candidates.reduce<JsonObject>(
    (changed, candidate, at) => withValueAt(changed, candidate.path, put(candidate, at)) as JsonObject,
    spec,
  );

function declaring(spec: JsonObject, candidates: readonly Candidate[]): JsonObject {
  const variables = candidates.map(({ value }, at) => [
    `v${at}`,
    { type: "string", sensitive: true, default: String(value) },
  ]);
  return { ...spec, variables: { ...objectIn(spec.variables), ...Object.fromEntries(variables) } };
}
