// A plan without sensitive values, as everything outside the planner sees it, and with those of a run, as an apply executes it.

import { type Diagnostic, error } from "../core/diagnostic.ts";
import type { Json } from "../core/json.ts";
import { type Path, toDottedPath } from "../core/pointer.ts";
import { hasDigest, type SensitiveValues } from "../core/sensitive-values.ts";
import type { FieldDiff, Step } from "../resource/planning.ts";
import type { Reference } from "../spec/model/spec.ts";
import { type Change, touches } from "./model/change.ts";
import type { Drift, Plan } from "./model/plan.ts";

/** Members of a plan that are not values of a field have places of their own. */
const STEPS = "#steps";
const FACTS = "#facts";
const PARTS = "#parts";

/** The plan with a digest in place of each sensitive value; sentences show `(sensitive)`. The one place that redacts outputs of plans. */
export function concealedPlan(plan: Plan, sensitive: SensitiveValues): Plan {
  if (sensitive.isEmpty) return plan;
  const { split } = plan;
  const concealed: Plan = {
    ...plan,
    changes: plan.changes.map((change) => concealedChange(change, sensitive)),
    access: sensitive.masked(plan.access),
    renames: sensitive.masked(plan.renames),
    drift: plan.drift.map((drift) => concealedDrift(drift, sensitive)),
    unmanaged: sensitive.masked(plan.unmanaged),
    guards: sensitive.masked(plan.guards),
    diagnostics: sensitive.masked(plan.diagnostics),
  };
  if (split === undefined) return concealed;
  const resolved = split.resolved.map((resolvedChange) => ({
    ...resolvedChange,
    change: concealedChange(resolvedChange.change, sensitive),
  }));
  const pendingErrors = sensitive.masked(split.pendingErrors);
  return { ...concealed, split: { ...split, resolved, pendingErrors } };
}

function concealedChange(change: Change, sensitive: SensitiveValues): Change {
  const convert: Convert = (value, path) => sensitive.conceal(change.address, value, "shown", path);
  const path = (path: Path): Path => sensitive.concealedPath(change.address, path);
  const values = convertedChange(change, { wanted: convert, live: convert, path });
  const sentences = {
    reasons: sensitive.masked(change.reasons),
    consequences: sensitive.masked(change.consequences),
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

const valuesOf = (change: Change): Json => [
  "before" in change ? change.before : null,
  "after" in change ? change.after : null,
];

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

function concealedDrift(drift: Drift, sensitive: SensitiveValues): Drift {
  const { address } = drift;
  const side = (value: Json | undefined, path: Path): Json | undefined =>
    sensitive.conceal(address, value, "shown", path);
  return {
    ...drift,
    diffs: drift.diffs.map((diff) => ({
      ...diff,
      path: sensitive.concealedPath(address, diff.path),
      before: side(diff.before, diff.path),
      after: side(diff.after, diff.path),
    })),
    facts: drift.facts && sensitive.conceal(address, drift.facts, "shown", [FACTS]),
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
  const field = path.some((key) => typeof key === "string" && key.startsWith("#"))
    ? ""
    : `: ${toDottedPath(path)}`;
  return error("PLAN_STALE", `${address}${field} has another sensitive value than when the plan was made`, {
    address,
    hint: "set the value that the plan was made with, or make a new plan",
  });
}
