// Accepts drift of a session: which drift is meant, the edits of the spec's files, and writing all of them or none.

import { relative, resolve, sep } from "node:path";
import { type Address, globMatcher } from "../../core/address.ts";
import { type Diagnostic, Failure, failureOf } from "../../core/diagnostic.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { nearestHint } from "../../core/suggest.ts";
import type { Drift } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { State } from "../../state/model/record.ts";
import { driftAt } from "../drift/drift.ts";
import { planWorkspace } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import { type Accepting, acceptDrift, type DriftAcceptance } from "./accept.ts";
import { groupsOf, type PlacedDrift, placedDrift, rivalries, type WantedDrift } from "./wanted-drift.ts";
import { openToEdit, writeEdits } from "./write-edits.ts";

interface AcceptOptions {
  /** Addresses, fields of one, and globs. */
  readonly places: readonly string[];
  /** The file for new entries, relative to the current folder. */
  readonly into: string | undefined;
  readonly shared: boolean;
  readonly inTarget: boolean;
  /** Leaves out what cannot be accepted. */
  readonly keepGoing: boolean;
}

export interface AcceptedSession extends DriftAcceptance {
  /** Why the rest was left out. */
  readonly refused: readonly Diagnostic[];
  /** Addresses that were named and that have no drift. */
  readonly withoutDrift: readonly string[];
  /** The name of an edited file for people. */
  shown(path: string): string;
  /** Returns the text without sensitive values. */
  masked(text: string): string;
  /** Throws Failure with CLI_FILE; then no file has changed. */
  write(): void;
}

/** Reads the workspace and computes the edits; `write` writes them. */
export async function acceptInSession(
  session: Session,
  state: State,
  { places, into, shared, inTarget, keepGoing }: AcceptOptions,
): Promise<AcceptedSession> {
  if (inTarget && session.spec.target === undefined)
    throw failureOf("CLI_USAGE", "--in-target is set, but the spec has no targets");
  const { connection, settings, secretDigest } = session;
  const planned = await planWorkspace(session, state);
  const { drift } = planned.plan;
  const isKnown = (place: string): boolean =>
    session.spec.resources.has(place as Address) || planned.input.state.records.has(place as Address);
  const addresses = new Set([
    ...session.spec.resources.keys(),
    ...planned.input.state.records.keys(),
    ...drift.map(({ address }) => address),
  ]);
  for (const place of places) assertMatches(place, addresses);
  const withoutDrift = [
    ...new Set(places.filter((place) => isKnown(place) && !drift.some(({ address }) => address === place))),
  ];
  const wanted = places
    .filter((place) => !withoutDrift.includes(place))
    .flatMap((place) => wantedAt(drift, place, secretDigest));
  const editable = openToEdit(session);
  const { tree, main } = editable;
  const accepting: Omit<Accepting, "wanted"> = {
    ...editable,
    registry: registryIn(registry, settings.dialect),
    input: planned.input,
    plan: planned.plan,
    shared,
    inTarget,
    sensitive: planned.sensitive.texts,
    into: into === undefined ? main : entriesFile(session, tree.folder, into),
    content: (provider, live) =>
      session.readLimit.during(async () => {
        const pieces: Uint8Array[] = [];
        for await (const piece of provider.operations.readContent?.(connection.reader, live) ?? [])
          pieces.push(piece);
        return Buffer.concat(pieces);
      }),
  };
  const accept = (some: readonly WantedDrift[]) => acceptDrift({ ...accepting, wanted: some });
  const items = distinct(wanted);
  const placed = async (some: readonly WantedDrift[]): Promise<PlacedDrift> => {
    // For one target alone, each resource has a place that no other one has.
    const resources = inTarget ? [] : ((await editable.load(new Map())).declared?.resources ?? []);
    return placedDrift(some, resources, accepting.registry);
  };
  const { accepted, refused } = await acceptable(items, placed, accept, keepGoing);
  return {
    ...accepted,
    refused,
    withoutDrift,
    shown: (path) => tree.shown(path),
    masked: (text) => planned.sensitive.texts.masked(text),
    write() {
      writeEdits(tree, accepted.files);
    },
  };
}

const NOTHING: DriftAcceptance = { resources: [], files: [], notes: [] };

const isRefusal = ({ code }: Diagnostic): boolean => code === "DRIFT_NOT_ACCEPTED";

async function acceptable(
  wanted: readonly WantedDrift[],
  placed: (some: readonly WantedDrift[]) => Promise<PlacedDrift>,
  accept: (some: readonly WantedDrift[]) => Promise<DriftAcceptance>,
  keepGoing: boolean,
) {
  if (wanted.length === 0) return { accepted: NOTHING, refused: [] };
  try {
    return { accepted: await accept(wanted), refused: [] };
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    if (!keepGoing && !problem.diagnostics.some(isRefusal)) throw problem;
    const { good, refused } = await separated(
      await placed(keepGoing ? wanted.flatMap(byField) : wanted),
      accept,
    );
    if (!keepGoing) throw new Failure(...refused);
    const accepted = good.length === 0 ? NOTHING : await accept(good);
    return { accepted, refused };
  }
}

/**
 * Leaves out the resources or fields that the problems name, and tries the rest together again. A problem of the whole does not tell whose it is:
 * then each half is tried, in addition to what is good already. What shares a place stays in one half.
 */
async function separated(
  placed: PlacedDrift,
  accept: (some: readonly WantedDrift[]) => Promise<DriftAcceptance>,
) {
  const rivals = rivalries(placed);
  const refused = [...rivals.values()];
  const problemOf = async (some: readonly WantedDrift[]): Promise<Failure | undefined> => {
    try {
      if (some.length > 0) await accept(some);
      return undefined;
    } catch (caught) {
      if (caught instanceof Failure) return caught;
      throw caught;
    }
  };
  /** Those of `groups` that can be accepted in addition to `good`. */
  const addable = async (groups: Groups, good: readonly WantedDrift[]): Promise<readonly WantedDrift[]> => {
    const some = groups.flat();
    const failure = await problemOf([...good, ...some]);
    if (failure === undefined) return some;
    const addresses = new Set(failure.diagnostics.filter(isRefusal).map(({ address }) => address));
    const named = some.filter(({ drift }) => some.length === 1 || addresses.has(drift.address));
    const bad: WantedDrift[] = [];
    for (const item of named) {
      // Its own problem does not name what is good.
      const problem = await problemOf([item]);
      // A problem names the resource: another field of it can be good.
      if (problem === undefined && item.field !== undefined && some.length > 1) continue;
      bad.push(item);
      const { diagnostics } = problem ?? failure;
      const own = diagnostics.filter(
        ({ address }) => address === undefined || address === item.drift.address,
      );
      refused.push(...(own.length > 0 ? own : diagnostics));
    }
    if (bad.length > 0) return addable(without(groups, bad), good);
    const parts = groups.length > 1 ? groups : some.map((item) => [item]);
    const middle = Math.ceil(parts.length / 2);
    const first = await addable(parts.slice(0, middle), good);
    return [...first, ...(await addable(parts.slice(middle), [...good, ...first]))];
  };
  const good = await addable(without(groupsOf(placed), [...rivals.keys()]), []);
  const byText = new Map(refused.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]));
  return { good, refused: [...byText.values()] };
}

type Groups = readonly (readonly WantedDrift[])[];

const without = (groups: Groups, items: readonly WantedDrift[]): Groups =>
  groups.map((group) => group.filter((item) => !items.includes(item))).filter(({ length }) => length > 0);

/** A pattern that matches no address is a mistake, such as one of a field; in an empty workspace, none can match. */
function assertMatches(place: string, addresses: ReadonlySet<Address>): void {
  if (!place.includes("*") || addresses.size === 0) return;
  const matches = globMatcher(place);
  if ([...addresses].some(matches)) return;
  throw failureOf("CLI_UNKNOWN_ADDRESS", `${place} matches no resource`, {
    hint: "a pattern selects addresses, such as 'pools.*'; name a field with its exact address, such as pools.shared.max_capacity",
  });
}

/** Throws Failure with CLI_UNKNOWN_ADDRESS. A pattern leaves out acknowledged differences; an exact address includes them. */
function wantedAt(
  drift: readonly Drift[],
  place: string,
  keyed: Session["secretDigest"],
): readonly WantedDrift[] {
  if (place.includes("*") && !drift.some(({ address }) => address === place)) {
    const matches = globMatcher(place);
    return drift.filter(({ address }) => matches(address)).flatMap(openDrift);
  }
  const { address, field } = driftAt(drift, place, keyed);
  return drift.filter((item) => item.address === address).map((item) => ({ drift: item, field }));
}

/** The whole resource, or its fields that are not acknowledged. */
function openDrift(drift: Drift): readonly WantedDrift[] {
  const { marks = [], diffs } = drift;
  const open = marks.filter(({ acknowledged }) => acknowledged === undefined);
  if (open.length === marks.length) return [{ drift }];
  return fieldsOf(
    drift,
    diffs.filter((_, at) => marks[at]?.acknowledged === undefined),
  );
}

const fieldsOf = (drift: Drift, diffs: Drift["diffs"]): readonly WantedDrift[] =>
  diffs.map(({ path }) => ({ drift, field: toDottedPath(path) }));

/** A changed resource as its changed fields; a deleted or appeared one is whole. */
function byField({ drift, field }: WantedDrift): readonly WantedDrift[] {
  if (field !== undefined || drift.what !== "changed") return [{ drift, field }];
  return distinct(fieldsOf(drift, drift.diffs));
}

/** A whole resource includes its fields. */
function distinct(wanted: readonly WantedDrift[]): readonly WantedDrift[] {
  const whole = new Set(wanted.flatMap(({ drift, field }) => (field === undefined ? [drift.address] : [])));
  const byPlace = new Map(
    wanted
      .filter(({ drift, field }) => field === undefined || !whole.has(drift.address))
      .map((item) => [`${item.drift.address}\n${item.field ?? ""}`, item]),
  );
  return [...byPlace.values()];
}

/** A file that the spec does not read would have no effect. */
function entriesFile({ invocation, spec }: Session, folder: string, option: string): string {
  const path = relative(folder, resolve(invocation.cwd, option)).split(sep).join("/");
  const files = spec.files.map((file) => file.path);
  if (files.includes(path)) return path;
  throw failureOf("CLI_USAGE", `--into ${option} is not a file of the spec`, {
    hint: nearestHint(path, files, "create the file with {} as its text and add it to include"),
  });
}
