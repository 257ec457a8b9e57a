// Checks chains of `moved` entries: they have no cycle, and end at an address that the spec declares or removes.

import { type Address, isModuleAddress } from "../../core/address.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { MovedEntry } from "../model/spec.ts";

/** How many addresses of a cycle the message shows. */
const SHOWN = 10;

export function checkChains(
  moved: readonly MovedEntry[],
  ends: ReadonlySet<Address>,
  placeOf: (move: MovedEntry) => Span | undefined,
  findings: Findings,
): void {
  const next = new Map(moved.map((one) => [one.from, one]));
  const checked = new Set<Address>();
  for (const one of moved) {
    const passed = new Set<Address>();
    let step: MovedEntry | undefined = one;
    while (step !== undefined && !checked.has(step.from) && !passed.has(step.from)) {
      passed.add(step.from);
      step = next.get(step.to);
    }
    if (step !== undefined && passed.has(step.from))
      findings.error("SPEC_STATE_ENTRY", `moved entries form a cycle: ${cycleText(passed)}`, placeOf(step));
    for (const address of passed) checked.add(address);
    if (!next.has(one.to) && !isModuleAddress(one.to) && !ends.has(one.to))
      findings.warning(
        "SPEC_STATE_ENTRY",
        `${one.from} is moved to ${one.to}, which the spec does not declare`,
        placeOf(one),
        { address: one.to, hint: "without a declaration, a plan deletes the object" },
      );
  }
}

/** No two entries move to one address, so the whole path is the cycle. */
function cycleText(passed: ReadonlySet<Address>): string {
  const cycle = [...passed];
  const shown = cycle.length > SHOWN ? [...cycle.slice(0, SHOWN), "…"] : cycle;
  return [...shown, ...cycle.slice(0, 1)].join(" -> ");
}
