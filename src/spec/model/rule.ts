// A checked rule of the spec or of a rules folder, with its location.

import type { Location } from "../../core/diagnostic.ts";
import type { Path } from "../../core/pointer.ts";
import type { Severity } from "../../resource/field-schema.ts";
import type { RuleLogic, RulePart } from "../../rules/rule.ts";

export interface Rule extends RuleLogic {
  readonly name: string;
  readonly severity: Severity;
  readonly enforcement: "error" | "warn";
  readonly at: Location;
  /** Fields of `change.after` that `assert` reads, in its order. */
  readonly fields: readonly Path[];
  locate(part: RulePart, offset: number): Location;
}

/** A file of a folder of rules. `shown`: what diagnostics call it. */
export interface RuleFile {
  readonly shown: string;
  readonly bytes: Uint8Array;
}
