// Circles among resources: no order can satisfy them, so each is told with the way around it.

import type { Address } from "../core/address.ts";
import type { Findings } from "./finding.ts";
import type { Span } from "./locate.ts";

/** More circles than these say nothing new. */
const MOST = 20;
const LONGEST = 12;

interface Vertex {
  readonly dependsOn: readonly Address[];
}

type Place = (address: Address) => Span | undefined;

/** Reports circles. Walks with a stack of its own, so that a chain of any length is followed. */
export function reportCycles(
  resources: ReadonlyMap<Address, Vertex>,
  place: Place,
  findings: Findings,
): void {
  const done = new Set<Address>();
  const path: Address[] = [];
  const depth = new Map<Address, number>();
  let told = 0;
  for (const root of resources.keys()) {
    if (done.has(root)) continue;
    const stack: { readonly address: Address; next: number }[] = [{ address: root, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (top.next === 0) {
        depth.set(top.address, path.length);
        path.push(top.address);
      }
      const need = resources.get(top.address)?.dependsOn[top.next++];
      if (need === undefined) {
        stack.pop();
        path.pop();
        depth.delete(top.address);
        done.add(top.address);
      } else if (depth.has(need)) {
        if (told++ < MOST) report(path.slice(depth.get(need)), place, findings);
      } else if (!done.has(need) && resources.has(need)) stack.push({ address: need, next: 0 });
    }
  }
}

function report(circle: readonly Address[], place: Place, findings: Findings): void {
  const [first] = circle;
  if (first === undefined) return;
  const shown = circle.length > LONGEST ? [...circle.slice(0, LONGEST), "…"] : circle;
  const message =
    circle.length === 1
      ? `${first} needs itself`
      : `resources need each other in a circle: ${[...shown, first].join(" -> ")}`;
  findings.error("SPEC_CYCLE", message, place(first), {
    address: first,
    hint: "take one of these references or memberships away",
  });
}
