// Drift for its reports: who caused it, and when, if the service records it; what is acknowledged, and what was reported.

import type { Reader } from "../../api/contract/reader.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { Refused } from "../../core/request-failure.ts";
import { nearestHint } from "../../core/suggest.ts";
import { driftDigests, type KnownDrift } from "../../planner/diff/known-drift.ts";
import type { Drift, DriftOrigin } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Acknowledgement, ReportedDrift, State } from "../../state/model/record.ts";
import type { StateStore } from "../../state/model/store.ts";
import { writeEntries } from "../session/open-state.ts";

/** One request for each cluster that differs, and none if nothing does. */
export function withOrigins(drift: readonly Drift[], state: State, api: Reader): Promise<readonly Drift[]> {
  return Promise.all(
    drift.map(async (one) => {
      const id = state.records.get(one.address)?.id;
      const origin =
        one.kind === "clusters" && one.what === "changed" && id !== undefined
          ? await lastEvent(api, id, one)
          : factsOrigin(one);
      return { ...one, origin };
    }),
  );
}

function factsOrigin({ facts = {} }: Drift): DriftOrigin {
  const at = facts.last_updated_timestamp ?? facts.modification_time;
  const creator = facts.creator_user_name;
  return {
    ...(at === undefined ? {} : { at: Number(at) }),
    ...(typeof creator === "string" ? { creator } : {}),
  };
}

const EVENTS: Readonly<Record<string, readonly string[]>> = {
  run_state: ["STARTING", "RESTARTING", "TERMINATING"],
  pinned: ["PINNED", "UNPINNED"],
  num_workers: ["EDITED", "RESIZING"],
  autoscale: ["EDITED", "RESIZING"],
};

async function lastEvent(api: Reader, id: string, drift: Drift): Promise<DriftOrigin> {
  const types = drift.diffs.flatMap(({ path }) => EVENTS[String(path[0])] ?? ["EDITED"]);
  try {
    const query = { cluster_id: id, order: "DESC", limit: 1, event_types: [...new Set(types)] };
    return eventOrigin(await api.read("clusters/events", query));
  } catch (problem) {
    // The author is worth a request, but a failed request does not fail the report.
    if (problem instanceof Failure || problem instanceof Refused) return {};
    throw problem;
  }
}

function eventOrigin({ events }: JsonObject): DriftOrigin {
  const last: Json | undefined = Array.isArray(events) ? events[0] : undefined;
  if (!isObject(last)) return {};
  const by = isObject(last.details) ? last.details.user : undefined;
  return {
    ...(last.timestamp === undefined ? {} : { at: Number(last.timestamp) }),
    ...(typeof by === "string" ? { by } : {}),
  };
}

const MOST_REASON = 500;
const DAY = "2026-12-31";

const usage = (message: string, hint: string): Failure => failureOf("CLI_USAGE", message, { hint });

/** The end of the named day, or the time, in milliseconds. Throws Failure with CLI_USAGE. */
export function acknowledgedUntil(given: string | undefined, now: number): number {
  const hint = `pass today or a later date, such as --until ${DAY}`;
  if (given === undefined) throw usage("--until is missing", hint);
  const day = /^\d{4}-\d{2}-\d{2}$/.test(given);
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?Z$/.test(given);
  const at = Date.parse(day ? `${given}T23:59:59Z` : given);
  // `Date` takes February 30 for March 2.
  const exists = !Number.isNaN(at) && new Date(at).toISOString().startsWith(given.slice(0, DAY.length));
  if ((!day && !time) || !exists) throw usage(`--until ${given} is not a date`, hint);
  if (at <= now) throw usage(`--until ${given} is in the past`, hint);
  return at;
}

/** Throws Failure with CLI_USAGE. */
export function acknowledgedReason(given: string | undefined): string {
  if (given === undefined || given.trim() === "")
    throw usage("--reason is missing", "pass the reason why the drift is accepted; every report shows it");
  if (given.length > MOST_REASON)
    throw usage(`--reason has ${given.length} characters; the limit is ${MOST_REASON}`, "shorten it");
  return given;
}

/** An address may hold dots, so a whole address outweighs a field. Throws Failure with CLI_UNKNOWN_ADDRESS. */
export function driftAt(
  drift: readonly Drift[],
  place: string,
): Pick<Acknowledgement, "address" | "field" | "differences"> {
  for (const one of drift) {
    const digests = driftDigests(one, registry.of(one.address).fields);
    if (one.address === place) return { address: one.address, differences: digests };
  }
  for (const one of drift) {
    const field = place.startsWith(`${one.address}.`) ? place.slice(one.address.length + 1) : undefined;
    if (field === undefined) continue;
    const digests = driftDigests(one, registry.of(one.address).fields);
    const differences = digests.filter((_, at) => {
      const path = toDottedPath(one.diffs[at]?.path ?? []);
      return path === field || path.startsWith(`${field}.`);
    });
    if (differences.length > 0) return { address: one.address, field, differences };
  }
  const known = drift.flatMap((one) => [
    one.address,
    ...one.diffs.map((diff) => `${one.address}.${toDottedPath(diff.path)}`),
  ]);
  throw failureOf("CLI_UNKNOWN_ADDRESS", `no drift exists at ${place}`, {
    hint: nearestHint(place, known, "to list drift, run `workspace drift`"),
  });
}

export function acknowledgedSubject({
  address,
  field,
}: Acknowledgement): Pick<Acknowledgement, "address" | "field"> {
  return field === undefined ? { address } : { address, field };
}

export const acknowledgedPlace = ({ address, field }: Acknowledgement): string =>
  field === undefined ? address : `${address}.${field}`;

/** Throws Failure with CLI_UNKNOWN_ADDRESS. */
export function acknowledgedAt(all: readonly Acknowledgement[], place: string): Acknowledgement {
  const found = all.find((one) => acknowledgedPlace(one) === place);
  if (found !== undefined) return found;
  throw failureOf("CLI_UNKNOWN_ADDRESS", `${place} is not acknowledged`, {
    hint: nearestHint(
      place,
      all.map(acknowledgedPlace),
      "to list them, run `workspace drift acknowledge --list`",
    ),
  });
}

export function knownDrift({ reported = [], acknowledged = [] }: State, now: number): KnownDrift {
  return { reported, acknowledged: acknowledged.filter((one) => one.until > now) };
}

function reportedOf(drift: readonly Drift[]): readonly ReportedDrift[] {
  return drift.map((one) => ({
    address: one.address,
    differences: driftDigests(one, registry.of(one.address).fields),
  }));
}

/** Writes what was reported if it is not what the state says already. A warning where it cannot be written: the report itself stands. */
export async function rememberReported(
  store: StateStore,
  state: State,
  drift: readonly Drift[],
  covers: (address: Address) => boolean,
): Promise<readonly Diagnostic[]> {
  const before = state.reported ?? [];
  const reported = [...before.filter((one) => !covers(one.address)), ...reportedOf(drift)];
  if (JSON.stringify(reported) === JSON.stringify(before)) return [];
  try {
    await writeEntries(store, { timeoutMs: 0 }, () => [{ type: "reported", reported }]);
    return [];
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    return [
      warning(
        "DRIFT_NOT_RECORDED",
        "the state could not be written, so the next run reports this drift as new",
        {
          cause: problem.diagnostics.map((one) => `${one.code}: ${one.message}`).join("; "),
          hint: "grant this user write access to the state, or run `workspace drift` without --since",
        },
      ),
    ];
  }
}
