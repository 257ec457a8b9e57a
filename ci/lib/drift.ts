// The open drift of a report, so that an issue opens, changes, and closes with it.

import { createHash } from "node:crypto";
import { SENSITIVE_TEXT } from "../../src/core/sensitive/texts.ts";
import { isRecord } from "./http.ts";

export interface DriftDigest {
  /** Whether a difference is neither acknowledged nor in the spec already, reported before or not. */
  readonly open: boolean;
  /** Changes with the open differences and their values, as the report shows them, and with nothing else. */
  readonly digest: string;
  /** Whether an open difference is new whose value the report hides: the digest cannot change with it. Only `--since last` knows. */
  readonly hiddenIsNew: boolean;
}

const SEVERITIES: readonly unknown[] = ["security", "cost", "availability", "other"];

/**
 * Differences that are less severe than `least` are omitted. Undefined if `json` is not a drift report, such as that
 * of a failed run.
 */
export function driftDigest(json: string | undefined, least = "other"): DriftDigest | undefined {
  const counts = ({ severity, acknowledged, declared }: Readonly<Record<string, unknown>>): boolean =>
    acknowledged === undefined &&
    declared !== true &&
    SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
  const report: unknown = json === undefined ? undefined : JSON.parse(json);
  if (!isRecord(report) || !Array.isArray(report.drift)) return undefined;
  let hiddenIsNew = false;
  const open = report.drift.flatMap((item: unknown) => {
    if (!isRecord(item)) return [];
    const left = Array.isArray(item.differences) ? item.differences.filter(isRecord).filter(counts) : [];
    if (left.length === 0) return [];
    hiddenIsNew ||= left.some((change) => isNew(change) && (item.what === "appeared" || hides(change)));
    return [{ address: item.address, what: item.what, differences: left.map(withoutMarks) }];
  });
  const digest = createHash("sha256").update(JSON.stringify(open)).digest("hex").slice(0, 16);
  return { open: open.length > 0, digest, hiddenIsNew };
}

const isNew = ({ reported }: Readonly<Record<string, unknown>>): boolean => reported === false;

/** A key of a map can be hidden, too. */
const hides = ({ path, before, after }: Readonly<Record<string, unknown>>): boolean =>
  JSON.stringify([path, before, after]).includes(SENSITIVE_TEXT);

/** The location of a field and the time of its report do not count as differences. */
function withoutMarks({
  at: _at,
  reported: _reported,
  ...change
}: Readonly<Record<string, unknown>>): unknown {
  return change;
}
