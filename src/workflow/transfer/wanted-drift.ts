// Drift that is meant to be accepted: the places in a spec that decide its values, and why it cannot be accepted. Resources with one place are
// accepted only together, and only with one value.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, type Failure, failureOf, type Location } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import type { Json } from "../../core/json.ts";
import { toPointer } from "../../core/pointer.ts";
import { withoutAdded } from "../../planner/diff/diff.ts";
import { isInField } from "../../planner/diff/known-drift.ts";
import { isSameValue } from "../../planner/diff/normalize.ts";
import type { Drift } from "../../planner/model/plan.ts";
import { schemaAt } from "../../resource/field-schema.ts";
import type { Registry } from "../../resource/kind.ts";
import { decidedNode } from "../../spec/edit/spec-edits.ts";
import { locationOf, type Span } from "../../spec/model/source.ts";
import type { DeclaredSpec } from "../../spec/model/spec.ts";
import type { SpecNode } from "../../spec/model/tree.ts";

interface DecidedValue {
  readonly place: string;
  /** For people, such as `workspace.yaml:3`. */
  readonly at: string;
  readonly live: Json | undefined;
  isSame(live: Json | undefined): boolean;
}

/** Each resource with the places of its drift. */
export type PlacedDrift = ReadonlyMap<WantedDrift, readonly DecidedValue[]>;

export function placedDrift(
  wanted: readonly WantedDrift[],
  resources: DeclaredSpec["resources"],
  registry: Registry,
): PlacedDrift {
  const written = new Map(resources.map((resource) => [resource.address, resource]));
  const valuesOf = ({ drift, field }: WantedDrift): readonly DecidedValue[] => {
    const resource = written.get(drift.address);
    if (resource === undefined) return [];
    if (drift.what === "deleted") return [{ ...placeAt(resource.at), live: undefined, isSame: () => true }];
    const diffs = drift.diffs.filter(({ path }) => field === undefined || isInField(path, field));
    return diffs.map(({ path, before, after }) => {
      const schema = schemaAt(registry.of(drift.address).fields, path);
      const own = (live: Json | undefined) => live && withoutAdded(schema, after, live);
      const { place, at } = placeOf(resource.fields, path.map(String));
      return {
        // An expression can give each instance another value: then it is not one place for them.
        place: `${place} ${canonicalJson(after ?? null)}`,
        at,
        live: before,
        isSame: (live) => isSameValue(schema, own(before), own(live)),
      };
    });
  };
  return new Map(wanted.map((item) => [item, valuesOf(item)]));
}

const placeAt = (span: Span, path: readonly string[] = []): Pick<DecidedValue, "place" | "at"> => {
  const { file, line } = locationOf(span, false);
  return { place: `${span.source.path}:${span.start}${toPointer(path)}`, at: `${file}:${line}` };
};

/** The text that decides a value, or the map that it would be added to. */
function placeOf(fields: SpecNode, path: readonly string[]): Pick<DecidedValue, "place" | "at"> {
  const node = decidedNode(fields);
  const [key, ...rest] = path;
  const inner = node.kind === "map" && key !== undefined ? node.members.get(key)?.value : undefined;
  return inner === undefined ? placeAt(node, path) : placeOf(inner, rest);
}

/** Those that share a place, directly or through others, are one group. */
export function groupsOf(placed: PlacedDrift): readonly (readonly WantedDrift[])[] {
  const groups: WantedDrift[][] = [];
  for (const [item, values] of placed) {
    const shares = (other: WantedDrift): boolean =>
      placed.get(other)?.some(({ place }) => values.some((value) => value.place === place)) === true;
    const joined = groups.filter((group) => group.some(shares));
    for (const group of joined) groups.splice(groups.indexOf(group), 1);
    groups.push([...joined.flat(), item]);
  }
  return groups;
}

/** A refusal of each resource that has another live value for a place than another resource. */
export function rivalries(placed: PlacedDrift): ReadonlyMap<WantedDrift, Diagnostic> {
  const holders = [...placed].flatMap(([item, values]) => values.map((value) => ({ item, value })));
  const byPlace = Map.groupBy(holders, ({ value }) => value.place);
  const refusals = new Map<WantedDrift, Diagnostic>();
  for (const sharing of byPlace.values())
    for (const { item, value } of sharing) {
      const rival = sharing.find((other) => !value.isSame(other.value.live))?.item.drift.address;
      if (rival !== undefined) refusals.set(item, otherValue(item.drift.address, rival, value.at));
    }
  return refusals;
}

function otherValue(address: Address, other: Address, at: string): Diagnostic {
  return error(
    "DRIFT_NOT_ACCEPTED",
    `${address} has another live value than ${other} for the same place (${at})`,
    {
      address,
      hint: "accept one of them with --shared, and the next plan changes the other one; or write each value out where it is used",
    },
  );
}

/** Drift to accept: of a whole resource, or of one field. */
export interface WantedDrift {
  readonly drift: Drift;
  readonly field?: string;
}

export function notAccepted(
  address: Address,
  message: string,
  details: { readonly hint?: string; readonly at?: Location } = {},
): Failure {
  return failureOf("DRIFT_NOT_ACCEPTED", message, { address, ...details });
}

/** A value that the files cannot take: the refusal names its resource. */
export function refusals({ diagnostics }: Failure, wanted: readonly WantedDrift[]): readonly Diagnostic[] {
  const [only, ...others] = new Set(wanted.map(({ drift }) => drift.address));
  const address = others.length === 0 ? only : undefined;
  return diagnostics.map((diagnostic) =>
    diagnostic.code !== "DRIFT_NOT_ACCEPTED" || diagnostic.address !== undefined || address === undefined
      ? diagnostic
      : { ...diagnostic, address, message: `${address}: ${diagnostic.message}` },
  );
}
