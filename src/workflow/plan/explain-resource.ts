// Explains what a plan of a session does with one resource, and finds the places of the spec that decide its values.

import type { Address } from "../../core/address.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { overlaps, type Path } from "../../core/pointer.ts";
import { nearestHint } from "../../core/suggest.ts";
import { type ExplainInput, explainableAddresses, explainResource } from "../../planner/explain-plan.ts";
import { makePlan } from "../../planner/make-plan.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { isContentField } from "../../resource/kind.ts";
import { isSensitive } from "../../resource/masked.ts";
import { SpecEdits } from "../../spec/edit/spec-edits.ts";
import { type DecidedOrigin, originOfValue } from "../../spec/edit/value-origin.ts";
import { openSpecFolder } from "../../spec/files/spec-folder.ts";
import { loadSpec } from "../../spec/load-spec.ts";
import { LIMITS } from "../../spec/model/limits.ts";
import type { Resource, Spec, WrittenResource } from "../../spec/model/spec.ts";
import { nodeAt, type SpecNode } from "../../spec/model/tree.ts";
import { specInput } from "../session/read-spec.ts";
import type { Session } from "../session/session.ts";
import { WITHOUT_WAITING, withSettledState } from "../session/settled-state.ts";
import { planWorkspace, type WorkspacePlan } from "./plan.ts";
import { driftWithAuthors } from "./plan-review.ts";
import { shownPlan } from "./sensitive.ts";
import type { PlanOptions } from "./sources.ts";
import { type PlanPlaces, placesIn } from "./spec-places.ts";

/** Throws Failure with CLI_UNKNOWN_ADDRESS. */
export async function explainInSession(
  session: Session,
  address: Address,
  options: Pick<PlanOptions, "only" | "exclude" | "adopt" | "allowDuplicates">,
) {
  const { spec, invocation } = session;
  const settled = await withSettledState(session, WITHOUT_WAITING, ({ state }) =>
    planWorkspace(session, state, { ...options, mayLackSecrets: true, checksRules: true }),
  );
  const { loaded, read: planned, unsettled } = settled;
  invocation.observer.report([...loaded.diagnostics, ...unsettled, ...planned.diagnostics]);
  const recorded = planned.recovered.state;
  const own = planned.plan.drift.filter((drift) => drift.address === address);
  const drift = await driftWithAuthors(session, planned, own);
  const plan = { ...planned.plan, drift };
  const { only, exclude, registry } = planned.input;
  const input: ExplainInput = {
    registry,
    plan,
    spec,
    state: recorded,
    only,
    exclude,
    permissive: permissivePlan(planned, address),
    originOf: await originsIn(session),
  };
  const explanation = explainResource(input, address);
  if (explanation === undefined)
    throw failureOf("CLI_UNKNOWN_ADDRESS", `${address} is neither declared, recorded, nor in the workspace`, {
      hint: nearestHint(
        address,
        explainableAddresses(input),
        "to list addresses, run `workspace state list` or `workspace graph`",
      ),
    });
  return { explanation, plan, places: placesIn(spec.resources) };
}

/** The plan without what the lifecycle of one resource forbids. */
function permissivePlan({ input, sensitive, plan }: WorkspacePlan, address: Address): Plan {
  const resource = input.spec.resources.get(address);
  if (resource === undefined) return plan;
  const isLimited =
    resource.lifecycle.ignore_changes.length > 0 ||
    plan.diagnostics.some((diagnostic) => diagnostic.address === address);
  if (!isLimited) return plan;
  const { lifecycle, at } = resource;
  const free: Resource = {
    ...resource,
    at,
    locate: (path) => resource.locate(path),
    lifecycle: { ...lifecycle, ignore_changes: [], on_immutable_change: "replace" },
  };
  const resources = new Map(input.spec.resources).set(address, free);
  return shownPlan(makePlan({ ...input, spec: { ...input.spec, resources } }), input, sensitive);
}

/** The spec is read again, because a loaded one keeps no expressions. */
async function originsIn({ invocation, spec }: Session): Promise<ExplainInput["originOf"]> {
  const input = specInput(invocation);
  const { declared } = await loadSpec({ ...input, secrets: "skip", keyed: () => "" });
  const opened = openSpecFolder(invocation.file, input);
  if (declared === undefined || opened === undefined) return () => undefined;
  const files = new Set(spec.files.map(({ path }) => path));
  const edits = new SpecEdits((path) => {
    const file = files.has(path) ? opened.tree.read(path, LIMITS.fileBytes) : undefined;
    return file?.ok === true ? Buffer.from(file.value) : undefined;
  });
  const places = placesIn(spec.resources);
  const written = new Map(declared.resources.map((resource) => [resource.address, resource]));
  return (address, path) => {
    const resource = written.get(address);
    return resource && originIn(resource, path, { edits, spec, places });
  };
}

interface OriginSources {
  readonly edits: SpecEdits;
  readonly spec: Spec;
  readonly places: PlanPlaces;
}

function originIn(
  { address, provider, fields }: WrittenResource,
  path: Path,
  { edits, spec: { resources, sensitive }, places }: OriginSources,
): DecidedOrigin | undefined {
  const node = declaredNode(fields, isContentField(provider, String(path[0])) ? ["source"] : path);
  if (node === undefined) return undefined;
  const { expression, sources, ...rest } = originOfValue(node, edits);
  const referred = (resources.get(address)?.references ?? [])
    .filter((reference) => overlaps(reference.path, path))
    .flatMap(({ parts }) => parts.flatMap((part) => (typeof part === "string" ? [] : [part.address])));
  const origin = {
    ...rest,
    sources: [
      ...sources,
      ...[...new Set(referred)].map((name) => ({ what: "resource", name, at: places(name) }) as const),
    ],
  };
  if (expression === undefined || isSensitive(provider.fields, path)) return origin;
  return { ...origin, expression: sensitive?.masked(expression) ?? expression };
}

/** The value at a path, or the nearest one around it that the resource declares. */
function declaredNode(fields: SpecNode, path: Path): SpecNode | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const node = nodeAt(fields, path.slice(0, length));
    if (node !== undefined) return node;
  }
  return undefined;
}
