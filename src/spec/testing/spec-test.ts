// Tests of a spec as declared in a test file. Values keep their locations, because failures name them.

import type { Address } from "../../core/address.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { Span } from "../model/source.ts";
import type { MapNode, SpecNode } from "../model/tree.ts";

export interface NamedPath {
  readonly path: string;
  readonly at: Span;
}

/** A spec in a file, relative to the test file, or in the test file itself. */
export type SpecSource = NamedPath | { readonly root: MapNode; readonly at: Span };

export interface SpecChoice {
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

export const STEP_NAMES = [
  "validate",
  "plan",
  "apply",
  "drift",
  "create",
  "change",
  "delete",
  "live",
] as const;
export type StepName = (typeof STEP_NAMES)[number];

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
