// Known drift: each difference has a digest of its live value, so it counts as new if that value changes again.

import { canonicalJson } from "../../core/canonical.ts";
import { digest } from "../../core/digest.ts";
import type { Json } from "../../core/json.ts";
import { toPointer } from "../../core/pointer.ts";
import type { FieldTable } from "../../resource/field-schema.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import type { Acknowledgement, ReportedDrift } from "../../state/model/record.ts";
import type { Drift } from "../model/plan.ts";

export interface KnownDrift {
  readonly reported: readonly ReportedDrift[];
  /** Those that have not expired. */
  readonly acknowledged: readonly Acknowledgement[];
}

/** Known facts about one difference. */
export interface DriftMark {
  /** An earlier `drift --since last` reported it. */
  readonly reported: boolean;
  readonly acknowledged?: Acknowledgement;
}

/** One digest for each difference; one for an object that was deleted or appeared. */
export function driftDigests(drift: Drift, fields: FieldTable): readonly string[] {
  if (drift.diffs.length === 0) return [digest(canonicalJson([drift.what]))];
  return drift.diffs.map((diff) => diffDigest(drift, diff, fields));
}

function diffDigest({ what, facts }: Drift, { path, before }: FieldDiff, fields: FieldTable): string {
  const witness = fields[String(path[0])]?.witness;
  // The value of a secret is never read; the time of its last write distinguishes changes.
  const seen = witness === undefined ? undefined : facts?.[witness];
  const live: Json[] = [before ?? null, seen === undefined ? null : String(seen)];
  return digest(canonicalJson([what, toPointer(path), ...live]));
}

/** The mark of each difference of a resource: reported, acknowledged, or neither. */
export function marksOf(drift: Drift, fields: FieldTable, known: KnownDrift): readonly DriftMark[] {
  const reported = new Set(
    known.reported.filter((one) => one.address === drift.address).flatMap((one) => one.differences),
  );
  const acknowledged = known.acknowledged.filter((one) => one.address === drift.address);
  return driftDigests(drift, fields).map((one) => {
    const found = acknowledged.findLast(({ differences }) => differences.includes(one));
    return { reported: reported.has(one), ...(found === undefined ? {} : { acknowledged: found }) };
  });
}
