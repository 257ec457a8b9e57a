// A plan without sensitive values, as everything outside the planner sees it, and with those of a run, as an apply executes it.

import type { Address } from "../core/address.ts";
import { type Diagnostic, error } from "../core/diagnostic.ts";
import { defined, isObject, type Json } from "../core/json.ts";
import { type Path, toDottedPath } from "../core/pointer.ts";
import { hasDigest } from "../core/sensitive/digests.ts";
import type { SensitiveValues } from "../core/sensitive/values.ts";
import { listed } from "../core/sentences.ts";
import type { Values } from "../resource/field-schema.ts";
import { CONTENT_FIELDS, isContentDigest } from "../resource/kind.ts";
import type { FieldDiff, Step } from "../resource/planning.ts";
import type { Reference } from "../spec/model/spec.ts";
import { type Change, type Noop, touches } from "./model/change.ts";
import type { Drift, Plan } from "./model/plan.ts";

/** Members of a plan that are not values of a field have places of their own. */
const STEPS = "#steps";
const FACTS = "#facts";
const PARTS = "#parts";
const PAYLOAD = "#payload";

/** The facts of an object with the digest of its content. */
const CONTENT_FACTS = ["exported"];

/** The digests of contents that were searched and contain no sensitive value. */
export type OpenContents = ReadonlySet<string>;

/**
 * The plan with a digest in place of each sensitive value; sentences show `(sensitive)`. The one place that redacts outputs of plans.
 * The digest of a content that is not one of `open` is hidden, too: who knows the rest of the content could test guesses with it.
 */
export function concealedPlan(plan: Plan, sensitive: SensitiveValues, open: OpenContents): Plan {
  if (sensitive.isEmpty) return plan;
  const { split } = plan;
  const concealed: Plan = {
    ...plan,
    changes: plan.changes.map((change) => concealedChange(change, sensitive, open)),
    access: sensitive.masked(plan.access),
    renames: sensitive.masked(plan.renames),
    drift: plan.drift.map((drift) => concealedDrift(drift, sensitive, open)),
    unmanaged: sensitive.masked(plan.unmanaged),
    guards: sensitive.maskedMessages(plan.guards),
    diagnostics: sensitive
      .maskedMessages(plan.diagnostics)
      .map((masked) =>
        masked.address === undefined
          ? masked
          : sensitive.withoutSensitivePossibleValues(masked.address, masked),
      ),
  };
  if (split === undefined) return concealed;
  const resolved = split.resolved.map((resolvedChange) => ({
    ...resolvedChange,
    change: concealedChange(resolvedChange.change, sensitive, open),
  }));
  const pendingErrors = sensitive.maskedMessages(split.pendingErrors);
  return { ...concealed, split: { ...split, resolved, pendingErrors } };
}

/** Values with digests in place of the sensitive ones, and of the digests of contents that are not open. */
function concealing(address: Address, sensitive: SensitiveValues, open: OpenContents): Convert {
  const contentIn = (value: Json | undefined, path: Path): Json | undefined => {
    if (typeof value === "string")
      return isContentDigest(value) && !open.has(value)
        ? sensitive.concealWhole(address, value, path)
        : value;
    const names = path.length === 0 ? CONTENT_FIELDS : path[0] === FACTS ? CONTENT_FACTS : [];
    if (!isObject(value)) return value;
    let result = value;
    for (const name of names) {
      const member = result[name];
      const concealed = typeof member === "string" ? contentIn(member, [...path, name]) : member;
      if (concealed !== member) result = { ...result, [name]: concealed ?? null };
    }
    return result;
  };
  return (value, path) => {
    const hidden = sensitive.conceal(address, value, "shown", path);
    const isContent = path.length === 0 || path[0] === FACTS || path[0] === PAYLOAD || isContentPath(path);
    return isContent ? (contentIn(hidden, path) as typeof value) : hidden;
  };
}

const isContentPath = (path: Path): boolean =>
  path.length === 1 && CONTENT_FIELDS.some((name) => name === path[0]);

function concealedChange(change: Change, sensitive: SensitiveValues, open: OpenContents): Change {
  const convert = concealing(change.address, sensitive, open);
  if (change.action === "noop" && isOpen(change, convert)) return change;
  const path = (path: Path): Path => sensitive.concealedPath(change.address, path);
  const values = convertedChange(change, { wanted: convert, live: convert, path });
  const sentences = {
    reasons: sensitive.maskedMessages(change.reasons),
    consequences: sensitive.maskedMessages(change.consequences),
    ...defined({ harms: change.harms && sensitive.maskedMessages(change.harms) }),
  };
  const content =
    "content" in change && change.content !== undefined ? { content: sensitive.masked(change.content) } : {};
  // A digest without a key could be tested with guesses.
  const fingerprint =
    "fingerprint" in change && hasDigest(valuesOf(values))
      ? { fingerprint: sensitive.keyed(change.fingerprint) }
      : {};
  return { ...values, ...sentences, ...content, ...fingerprint };
}

/** Most resources of a large workspace are unchanged and have nothing to hide, so they need no copy. */
function isOpen(noop: Noop, convert: Convert): boolean {
  const { before, after, payload, reasons, consequences, unresolved } = noop;
  return (
    reasons.length + consequences.length + unresolved.length === 0 &&
    convert(before, []) === before &&
    (after === before || convert(after, []) === after) &&
    (payload === undefined || !hasContentDigest(after) || convert(payload, [PAYLOAD]) === payload)
  );
}

const valuesOf = (change: Change): Json => [
  "before" in change ? change.before : null,
  "after" in change ? change.after : null,
];

/** Else the payload is a secret's, which has a keyed digest. */
const hasContentDigest = (values: Values): boolean =>
  CONTENT_FIELDS.some((field) => values[field] !== undefined);

type Convert = <T extends Json | undefined>(value: T, path: Path) => T;

/** `wanted`: what a change writes. `live`: what it finds, and differences, which are only shown. */
interface Conversion {
  readonly wanted: Convert;
  readonly live: Convert;
  readonly path: (path: Path) => Path;
}

function convertedChange<C extends Change>(change: C, { wanted, live, path }: Conversion): C {
  const converted = (fieldDiff: FieldDiff): FieldDiff => ({
    ...fieldDiff,
    path: path(fieldDiff.path),
    before: live(fieldDiff.before, fieldDiff.path),
    after: live(fieldDiff.after, fieldDiff.path),
  });
  const details = (all: readonly Step[]): readonly Step[] =>
    all.map((step, at) =>
      step.detail === undefined ? step : { ...step, detail: wanted(step.detail, [STEPS, String(at)]) },
    );
  return {
    ...change,
    ...("before" in change ? { before: live(change.before, []) } : {}),
    ...("after" in change ? { after: wanted(change.after, []) } : {}),
    ...("payload" in change && change.payload !== undefined && hasContentDigest(change.after)
      ? { payload: wanted(change.payload, [PAYLOAD]) }
      : {}),
    ...("unresolved" in change
      ? { unresolved: change.unresolved.map((reference) => withParts(reference, wanted)) }
      : {}),
    ...("diffs" in change ? { diffs: change.diffs.map(converted) } : {}),
    ...("because" in change ? { because: change.because.map(converted) } : {}),
    ...("steps" in change ? { steps: details(change.steps) } : {}),
  };
}

function withParts(reference: Reference, convert: Convert): Reference {
  const parts = reference.parts.map((part, at) =>
    typeof part === "string" ? convert(part, [...reference.path, PARTS, String(at)]) : part,
  );
  return { ...reference, parts };
}

function concealedDrift(drift: Drift, sensitive: SensitiveValues, open: OpenContents): Drift {
  const { address } = drift;
  const side = concealing(address, sensitive, open);
  return {
    ...drift,
    diffs: drift.diffs.map((diff) => ({
      ...diff,
      path: sensitive.concealedPath(address, diff.path),
      before: side(diff.before, diff.path),
      after: side(diff.after, diff.path),
    })),
    values: side(drift.values, []),
    facts: side(drift.facts, [FACTS]),
    content: drift.content === undefined ? undefined : sensitive.masked(drift.content),
  };
}

/** The plan with the values of the run, and what is wrong if it would write a value that the run does not have. */
export function restoredPlan(
  plan: Plan,
  sensitive: SensitiveValues,
): { readonly plan: Plan; readonly diagnostics: readonly Diagnostic[] } {
  if (sensitive.isEmpty) return { plan, diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const changes = plan.changes.map((change) => {
    let missing: Path | undefined;
    const restored = convertedChange(change, {
      wanted: (value, path) =>
        sensitive.restore(value, (inner) => {
          missing ??= [...path, ...inner];
        }),
      live: (value) => sensitive.restore(value, () => undefined),
      path: (path) => sensitive.restoredPath(path),
    });
    if (missing !== undefined && touches(change)) diagnostics.push(otherValue(change, missing));
    return restored;
  });
  return { plan: { ...plan, changes }, diagnostics };
}

function otherValue({ address }: Change, path: Path): Diagnostic {
  const isOfPlan = path.some((key) => typeof key === "string" && key.startsWith("#"));
  return otherSensitiveValue(address, isOfPlan ? [] : path);
}

/** Why an apply of a saved plan fails: it would write another value than the reviewed one, or leave out a new one. `variables`: those that the plan needs. */
export function otherSensitiveValue(
  address: Address,
  path: Path,
  variables: readonly string[] = [],
): Diagnostic {
  const field = path.length === 0 ? "" : `: ${toDottedPath(path)}`;
  return error("PLAN_STALE", `${address}${field} has another sensitive value than when the plan was made`, {
    address,
    hint:
      variables.length === 0
        ? "set the value that the plan was made with, or make a new plan"
        : `set ${listed(variables.map((name) => `WORKSPACE_VAR_${name}`))} as for the plan, or make a new plan`,
  });
}
