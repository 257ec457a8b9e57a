// What a validator of specs checks, and its errors.

import type { Path } from "../../core/pointer.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { SpecNode } from "../model/tree.ts";

/** One error of the validator, with the path as keys. */
export interface SchemaError {
  readonly path: Path;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly schemaPath: string;
  /** The schema that the keyword stands in. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

export interface SpecValidator {
  resource(provider: PlannedKind, node: SpecNode): readonly SchemaError[];
  policy(node: SpecNode): readonly SchemaError[];
  rule(node: SpecNode): readonly SchemaError[];
}
