// Adds the location in the spec to failed changes: the engine knows only addresses.

import type { Address } from "../../core/address.ts";
import { withoutFrame } from "../../core/diagnostic.ts";
import type { Path } from "../../core/pointer.ts";
import type { ApplyEvent, ApplyOutcome, ChangeOutcome } from "../../planner/model/plan.ts";
import type { Spec } from "../../spec/model/spec.ts";

type Resources = Spec["resources"];

export function locatedOutcome(outcome: ApplyOutcome, resources: Resources): ApplyOutcome {
  return { ...outcome, changes: outcome.changes.map((changeOutcome) => located(changeOutcome, resources)) };
}

export function locatedEvent(event: ApplyEvent, resources: Resources): ApplyEvent {
  return event.type === "apply_errored" ? { ...event, outcome: located(event.outcome, resources) } : event;
}

export function placesIn(resources: Resources) {
  return (address: Address, path?: Path) => {
    const resource = resources.get(address);
    const location = path === undefined ? resource?.at : resource?.locate(path);
    return location && withoutFrame(location);
  };
}

/** A blocked change has its cause elsewhere. */
function located(changeOutcome: ChangeOutcome, resources: Resources): ChangeOutcome {
  const place = resources.get(changeOutcome.address)?.at;
  const isCause = changeOutcome.result === "failed" || changeOutcome.result === "unknown";
  if (
    !isCause ||
    changeOutcome.diagnostic === undefined ||
    changeOutcome.diagnostic.at !== undefined ||
    place === undefined
  )
    return changeOutcome;
  const { at, usedAt } = place.traced ?? { at: place };
  const places = { at: withoutFrame(at), usedAt };
  return { ...changeOutcome, diagnostic: { ...changeOutcome.diagnostic, ...places } };
}
