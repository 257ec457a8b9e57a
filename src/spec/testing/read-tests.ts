// Tests of a spec: reads a test file, validates it against its schema, and gives each test the file's fields that it does not replace.

import { type Address, parseAddress } from "../../core/address.ts";
import { Failure } from "../../core/diagnostic.ts";
import { parseDuration } from "../../core/duration.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import {
  keySpanOf,
  type MapNode,
  member,
  nodeAt,
  plain,
  type SpecNode,
  scalarText,
  spanOf,
} from "../model/tree.ts";
import { reportErrors } from "../schema/error-messages.ts";
import { ajvForSpecs, toSchemaErrors } from "../schema/validate.ts";
import { readYamlFile } from "../yaml/read-yaml.ts";
import { testFileSchema } from "./test-schema.ts";

export interface NamedPath {
  readonly path: string;
  readonly at: Span;
}

/** A spec in a file, relative to the test file, or in the test file itself. */
export type SpecSource = NamedPath | { readonly root: MapNode; readonly at: Span };

interface SpecChoice {
  readonly spec: SpecSource;
  readonly target?: string;
  /** `name=value`, as `--var` takes them. */
  readonly variables: readonly string[];
}

/** The initial world of a test. */
export interface TestSetup {
  readonly env: Readonly<Record<string, string>>;
  readonly dialect: "contract" | "databricks";
  readonly cloud: "azure" | "aws" | "gcp";
  readonly world?: SpecSource;
  /** The addresses of the world's objects by the IDs that specs import. */
  readonly ids: ReadonlyMap<string, Address>;
  /** A folder of rules, relative to the test file. */
  readonly rules?: NamedPath;
  /** A list of prices, likewise. */
  readonly prices?: NamedPath;
  readonly timeoutMs: number;
}

const STEP_NAMES = ["validate", "plan", "apply", "drift", "create", "change", "delete", "live"] as const;
type StepName = (typeof STEP_NAMES)[number];

export interface TestStep {
  readonly name: StepName;
  readonly at: Span;
  readonly path: Path;
  readonly node: SpecNode;
  /** The value as data: options and expectations. */
  readonly value: Json;
  readonly choice: SpecChoice;
}

export interface SpecTest {
  readonly name: string;
  readonly at: Span;
  readonly setup: TestSetup;
  readonly steps: readonly TestStep[];
}

export interface SpecTestFile {
  /** The path that people see. */
  readonly file: string;
  readonly path: string;
  readonly text: string;
  readonly tests: readonly SpecTest[];
}

/** A step's options and expectations; empty where the step has none. */
export function stepFieldsOf({ value }: TestStep): JsonObject {
  return objectIn(value);
}

const DEFAULT_TIMEOUT_MS = 30_000;
const LONGEST_TIMEOUT_MS = 600_000;

interface TestFileInput {
  /** The path that people see. */
  readonly file: string;
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Throws Failure with every problem and its place. */
export function readTests({ file, path, bytes }: TestFileInput): SpecTestFile {
  const findings = new Findings();
  const root = readYamlFile(file, bytes, findings);
  if (root === undefined) throw new Failure(...findings.diagnostics());
  reportSchema(root, findings);
  if (findings.failed) throw new Failure(...findings.diagnostics());
  const reader = new TestReader(root, findings);
  const tests = reader.tests();
  if (findings.failed) throw new Failure(...findings.diagnostics());
  return { file, path, text: root.source.text, tests };
}

let validator: ReturnType<ReturnType<typeof ajvForSpecs>["compile"]> | undefined;

function reportSchema(root: SpecNode, findings: Findings): void {
  validator ??= ajvForSpecs().compile(testFileSchema());
  const value = plain(root);
  if (validator(value)) return;
  const errors = toSchemaErrors(validator.errors ?? [], value);
  reportErrors(errors, { name: "the test file" }, root, findings);
}

class TestReader {
  readonly #root: SpecNode;
  readonly #findings: Findings;

  constructor(root: SpecNode, findings: Findings) {
    this.#root = root;
    this.#findings = findings;
  }

  tests(): readonly SpecTest[] {
    const tests = member(this.#root, "tests");
    if (tests?.kind !== "map") return [];
    return [...tests.members].map(([name, { key, value }]) => {
      const own = ["tests", name];
      const steps = member(value, "steps");
      const count = steps?.kind === "list" ? steps.items.length : 0;
      return {
        name,
        at: key,
        setup: this.#setup(own),
        steps: Array.from({ length: count }, (_, at) => this.#step(own, at)),
      };
    });
  }

  #step(test: readonly string[], at: number): TestStep {
    const above = [...test, "steps", at];
    const item = nodeAt(this.#root, above);
    const name = STEP_NAMES.find((step) => member(item, step) !== undefined) ?? "plan";
    const path = [...above, name];
    const node = nodeAt(this.#root, path) ?? (item as SpecNode);
    const choice = this.#choice([[], test, path]);
    return { name, at: keySpanOf(this.#root, path), path, node, value: plain(node), choice };
  }

  /** `levels`: the paths of the maps that may have a field; the last one that has it decides. */
  #choice(all: readonly (readonly (string | number)[])[]): SpecChoice {
    // A spec in a test does not inherit a target or variables.
    const from = all.findLastIndex((level) => member(nodeAt(this.#root, level), "spec") !== undefined);
    const levels = all.slice(Math.max(0, from));
    const target = scalarText(this.#last(levels, "target"));
    const variables = new Map<string, string>();
    for (const level of levels) {
      const written = member(nodeAt(this.#root, level), "variables");
      if (written?.kind !== "map") continue;
      for (const [name, { value }] of written.members)
        variables.set(name, scalarText(value) ?? stringifyJson(plain(value)));
    }
    const named = this.#last(levels, "spec");
    const spec = named === undefined ? undefined : sourceIn(named);
    return {
      spec: spec ?? { path: "workspace.yaml", at: spanOf(this.#root, all.at(-1) ?? []) },
      target,
      variables: [...variables].map(([name, value]) => `${name}=${value}`),
    };
  }

  #last(levels: readonly (readonly (string | number)[])[], field: string): SpecNode | undefined {
    return levels
      .map((level) => member(nodeAt(this.#root, level), field))
      .findLast((node) => node !== undefined);
  }

  #setup(test: readonly string[]): TestSetup {
    const levels = [[], test];
    const word = (field: string): string | undefined => scalarText(this.#last(levels, field));
    const world = this.#last(levels, "world");
    const from = world === undefined ? undefined : sourceIn(world);
    const path = (field: string): NamedPath | undefined => {
      const at = this.#last(levels, field);
      return at && { path: scalarText(at) ?? "", at };
    };
    return {
      env: this.#texts(levels, "env"),
      dialect: word("dialect") === "databricks" ? "databricks" : "contract",
      cloud: (["aws", "gcp"] as const).find((cloud) => cloud === word("cloud")) ?? "azure",
      world: from,
      ids: this.#ids(levels),
      rules: path("rules"),
      prices: path("prices"),
      timeoutMs: this.#timeout(this.#last(levels, "timeout")),
    };
  }

  #texts(levels: readonly (readonly string[])[], field: string): Readonly<Record<string, string>> {
    const all = levels.map((level) => member(nodeAt(this.#root, level), field));
    const entries = all.flatMap((node) => (node?.kind === "map" ? [...node.members] : []));
    return Object.fromEntries(entries.map(([name, { value }]) => [name, scalarText(value) ?? ""]));
  }

  #ids(levels: readonly (readonly string[])[]): TestSetup["ids"] {
    const ids = new Map<string, NonNullable<ReturnType<typeof parseAddress>>>();
    for (const [written, id] of Object.entries(this.#texts(levels, "ids"))) {
      const address = parseAddress(written);
      if (address !== undefined) ids.set(id, address);
    }
    return ids;
  }

  #timeout(node: SpecNode | undefined): number {
    const ms = node === undefined ? DEFAULT_TIMEOUT_MS : (parseDuration(scalarText(node) ?? "") ?? 0);
    if (node !== undefined && (ms <= 0 || ms > LONGEST_TIMEOUT_MS))
      this.#findings.error("SPEC_VALUE", "the timeout of a test must be more than 0s and at most 10m", node);
    return ms;
  }
}

function sourceIn(node: SpecNode): SpecSource {
  if (node.kind === "map") return { root: node satisfies MapNode, at: node };
  return { path: scalarText(node) ?? "", at: node };
}
