// Drift for its reports: who caused it, and when, if the service records it; what is acknowledged, and what was reported.

import type { Reader } from "../../api/contract/reader.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import type { KeyedDigest } from "../../core/digest.ts";
import { parseDuration } from "../../core/duration.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { Refused } from "../../core/request-failure.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { firstFew } from "../../core/sentences.ts";
import { nearestHint } from "../../core/suggest.ts";
import {
  type ComparedDrift,
  driftDigests,
  endedAcknowledgements,
  isInField,
  type KnownDrift,
  knownDrift,
  marksOf,
  recordedAddress,
} from "../../planner/diff/known-drift.ts";
import type { Drift, DriftOrigin } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Acknowledgement, JournalEntry, ReportedDrift, State } from "../../state/model/record.ts";
import type { LockOptions } from "../../state/model/store.ts";
import { writeEntries } from "../session/open-state.ts";
import type { Session } from "../session/session.ts";

/** One request for each cluster that differs, and none if nothing does. Who changed an object can be a sensitive value. */
export function withOrigins(
  drift: readonly Drift[],
  state: State,
  api: Reader,
  sensitive: SensitiveValues,
): Promise<readonly Drift[]> {
  return Promise.all(
    drift.map(async (drift) => {
      const id = state.records.get(drift.address)?.id;
      const origin =
        drift.kind === "clusters" && drift.what === "changed" && id !== undefined
          ? await lastEvent(api, id, drift)
          : factsOrigin(drift);
      return { ...drift, origin: sensitive.masked(origin) };
    }),
  );
}

function factsOrigin({ facts = {} }: Drift): DriftOrigin {
  const at = facts.last_updated_timestamp ?? facts.modification_time;
  const creator = facts.creator_user_name;
  return {
    at: at === undefined ? undefined : Number(at),
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
    at: last.timestamp === undefined ? undefined : Number(last.timestamp),
    ...(typeof by === "string" ? { by } : {}),
  };
}

const MOST_REASON = 500;
const DAY = "2026-12-31";

const usage = (message: string, hint: string): Failure => failureOf("CLI_USAGE", message, { hint });

/** The end of the named day, the time, or the end of a duration such as `5d`, in milliseconds. Throws Failure with CLI_USAGE. */
export function acknowledgedUntil(until: string | undefined, now: number): number {
  const hint = `pass today or a later date, such as --until ${DAY}, or a duration, such as --until 5d`;
  if (until === undefined) throw usage("--until is missing", hint);
  const span = /[a-z]$/.test(until) ? parseDuration(until) : undefined;
  const at = span === undefined ? dateAt(until) : now + span;
  if (at === undefined || at >= Date.UTC(10_000, 0)) throw usage(`--until ${until} is not a date`, hint);
  if (at <= now) throw usage(`--until ${until} is in the past`, hint);
  return at;
}

function dateAt(text: string): number | undefined {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = Date.parse(day ? `${text}T23:59:59Z` : text);
  // `Date` takes February 30 for March 2.
  const named = text.slice(0, DAY.length);
  const exists = !Number.isNaN(Date.parse(named)) && new Date(named).toISOString().startsWith(named);
  return (day || time) && exists ? at : undefined;
}

/** Throws Failure with CLI_USAGE. */
export function acknowledgedReason(reason: string | undefined): string {
  if (reason === undefined || reason.trim() === "")
    throw usage("--reason is missing", "pass the reason, which every report shows");
  if (reason.length > MOST_REASON)
    throw usage(`--reason has ${reason.length} characters; the limit is ${MOST_REASON}`, "shorten it");
  return reason;
}

type DriftPlace = Pick<Acknowledgement, "address" | "field" | "differences">;

/** An address may contain dots, so a whole address outweighs a field. Undefined if nothing differs there. */
function findDrift(drift: readonly Drift[], location: string, keyed: KeyedDigest): DriftPlace | undefined {
  const digestsOf = (item: Drift) => driftDigests(item, registry.of(item.address).fields, keyed);
  for (const item of drift)
    if (item.address === location) return { address: item.address, differences: digestsOf(item) };
  for (const item of drift) {
    if (!location.startsWith(`${item.address}.`)) continue;
    const field = location.slice(item.address.length + 1);
    const differences = digestsOf(item).filter((_, at) => isInField(item.diffs[at]?.path ?? [], field));
    if (differences.length > 0) return { address: item.address, field, differences };
  }
  return undefined;
}

interface DriftAddresses {
  /** Whether the spec or the state has the address, which is then not a field. */
  isAddress(location: string): boolean;
  /** Those that are not in the state yet: the address of the state names the drift, too. */
  readonly moves: ComparedDrift["moves"];
}

/** Throws Failure with CLI_UNKNOWN_ADDRESS. */
export function driftAt(
  drift: readonly Drift[],
  location: string,
  keyed: KeyedDigest,
  { isAddress, moves }: DriftAddresses = { isAddress: () => false, moves: new Map() },
): DriftPlace {
  const ofAddress = isAddress(location) ? drift.filter(({ address }) => address === location) : drift;
  const moved = [...moves].flatMap(([from, to]) =>
    `${location}.`.startsWith(`${from}.`) ? [`${to}${location.slice(from.length)}`] : [],
  );
  return (
    findDrift(ofAddress, location, keyed) ??
    moved.map((place) => findDrift(drift, place, keyed)).find((place) => place !== undefined) ??
    throwUnknown(drift, location)
  );
}

const MOST_IN_HINT = 5;

/** A field that does not differ is answered with those of its resource that do: drift has the names of the last apply. */
function throwUnknown(drift: readonly Drift[], location: string): never {
  const fieldsOf = ({ address, diffs }: Drift) => diffs.map(({ path }) => `${address}.${toDottedPath(path)}`);
  const locations = drift.flatMap((item) => [item.address, ...fieldsOf(item)]);
  const fields = drift.filter(({ address }) => location.startsWith(`${address}.`)).flatMap(fieldsOf);
  const otherwise =
    fields.length === 0
      ? "to list drift, run `workspace drift`"
      : `what differs there: ${firstFew(fields, MOST_IN_HINT)}`;
  throw failureOf("CLI_UNKNOWN_ADDRESS", `no drift exists at ${location}`, {
    hint: nearestHint(location, locations, otherwise),
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

/** Throws Failure with CLI_UNKNOWN_ADDRESS. A mark of the state also has the address that a pending move gives its resource. */
export function acknowledgedAt(
  all: readonly Acknowledgement[],
  place: string,
  moves: ComparedDrift["moves"] = new Map(),
): Acknowledgement {
  const markAt = (addressOf: (address: Address) => Address): Acknowledgement | undefined =>
    all.find(({ address, field }) => field === undefined && addressOf(address) === place) ??
    all.find((mark) => acknowledgedPlace({ ...mark, address: addressOf(mark.address) }) === place);
  const acknowledgement = markAt((address) => address) ?? markAt((address) => moves.get(address) ?? address);
  if (acknowledgement !== undefined) return acknowledgement;
  throw failureOf("CLI_UNKNOWN_ADDRESS", `${place} is not acknowledged`, {
    hint: nearestHint(
      place,
      all.map(acknowledgedPlace),
      "to list them, run `workspace drift acknowledge --list`",
    ),
  });
}

/**
 * Those that this run alerted of, or an earlier one did. Without the drift that the spec has already, and what was acknowledged when the
 * report was made, or is by now: no alert was sent for it, so it is new if the spec changes, or when its acknowledgement ends.
 */
function reportedDifferences(
  item: Drift,
  alerted: readonly boolean[],
  current: KnownDrift,
  keyed: KeyedDigest,
): readonly string[] {
  const { fields } = registry.of(item.address);
  const marks = marksOf(item, fields, current, keyed);
  return driftDigests(item, fields, keyed).filter(
    (_, at) =>
      (alerted[at] === true || marks[at]?.reported === true) &&
      marks[at]?.declared !== true &&
      item.marks?.[at]?.acknowledged === undefined &&
      marks[at]?.acknowledged === undefined,
  );
}

/** The drift of a run with a report, and which differences of an address the report alerts of. */
interface AlertedDrift extends ComparedDrift {
  readonly alerted: ReadonlyMap<string, readonly boolean[]>;
}

/**
 * Writes the reported drift and the ends of acknowledgements, unless the state has them already. A warning if the state
 * cannot be written: the report is complete without it.
 */
export async function rememberReported(
  { store, secretDigest: keyed, clock }: Pick<Session, "store" | "secretDigest" | "clock">,
  state: State,
  compared: AlertedDrift,
  wait: LockOptions,
): Promise<readonly Diagnostic[]> {
  const now = clock.now();
  const { drift, alerted, only, moves } = compared;
  // A later acknowledgement can be of drift that this run did not compare.
  const compares = new Set((state.acknowledged ?? []).map((accepted) => JSON.stringify(accepted)));
  const entriesFor = (current: State): readonly JournalEntry[] => {
    const { reported = [] } = current;
    const acknowledged = (current.acknowledged ?? []).filter((accepted) =>
      compares.has(JSON.stringify(accepted)),
    );
    const currentDrift = knownDrift(current, now);
    const covered = drift.flatMap((item): readonly ReportedDrift[] => {
      const address = recordedAddress(current, moves, item.address);
      const own = alerted.get(item.address) ?? [];
      const differences = reportedDifferences({ ...item, address }, own, currentDrift, keyed);
      return differences.length === 0 ? [] : [{ address, differences }];
    });
    const others = reported.filter(({ address }) => only?.(moves.get(address) ?? address) === false);
    const all = [...others, ...covered];
    return [
      ...(JSON.stringify(all) === JSON.stringify(reported)
        ? []
        : [{ type: "reported", reported: all } as const]),
      ...endedAcknowledgements(acknowledged, compared, registry, keyed, now),
    ];
  };
  if (entriesFor(state).length === 0) return [];
  try {
    // Another run can have written its part since the state was read.
    await writeEntries(store, wait, (lease) => entriesFor(lease.state()));
    return [];
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    return [
      warning(
        "DRIFT_NOT_RECORDED",
        "the state could not be written, so the next run reports this drift as new",
        {
          cause: problem.diagnostics
            .map((diagnostic) => `${diagnostic.code}: ${diagnostic.message}`)
            .join("; "),
          hint: problem.diagnostics.some(({ code }) => code === "STATE_LOCKED")
            ? "wait with --lock-timeout 10m"
            : "grant this user write access to the state, or run `workspace drift` without --since",
        },
      ),
    ];
  }
}
