// Follows `moved` entries from an address to its final address. Pure.

import { type Address, addressOf, isInModule, kindOf, nameOf } from "../../core/address.ts";
import type { Location } from "../../core/diagnostic.ts";
import { addressesOf } from "../../resource/names.ts";
import type { KindRegistry } from "../../resource/registry.ts";

/** An entry of `moved`; both addresses may be of modules. */
export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly at: Location;
}

export interface MoveRules {
  readonly registry: KindRegistry;
  readonly declared: { has(address: Address): boolean };
}

/** The last address of a path, and the first entry on it; without an entry, the path ends where it begins. */
interface PathEnd {
  readonly to: Address;
  readonly first?: Move;
}

interface Step {
  readonly move: Move;
  readonly from: Address;
  readonly to: Address;
}

export class MovePaths {
  readonly #byFrom: ReadonlyMap<Address, Move>;
  readonly #rules: MoveRules;
  /** The ends of paths that were followed, so that the addresses of a long chain are followed once. */
  readonly #ends = new Map<Address, PathEnd>();
  readonly #used = new Set<Move>();

  constructor(moves: readonly Move[], rules: MoveRules) {
    this.#byFrom = new Map(moves.map((move) => [move.from, move]));
    this.#rules = rules;
  }

  /** The entries on the paths that were followed. */
  get used(): ReadonlySet<Move> {
    return this.#used;
  }

  follow(from: Address): PathEnd {
    const steps: Step[] = [];
    const passed = new Set<Move>();
    let to = from;
    let unsure: number | undefined;
    for (;;) {
      const known = this.#ends.get(to);
      if (known !== undefined) {
        if (steps.length === 0) return known;
        to = known.to;
        break;
      }
      const step = this.#stepFrom(to);
      if (step === undefined || passed.has(step.move)) break;
      if (isNested(step.move)) unsure ??= steps.length;
      passed.add(step.move);
      steps.push(step);
      to = step.to;
    }
    // `team/ads/shared` may be the resource of an instance, or that of a module in the module.
    if (unsure !== undefined && !this.#rules.declared.has(to)) {
      steps.length = unsure;
      to = steps.at(-1)?.to ?? from;
    }
    for (const { move } of steps) this.#used.add(move);
    if (unsure === undefined) for (const step of steps) this.#ends.set(step.from, { to, first: step.move });
    return pathEnd(to, steps[0]?.move);
  }

  /** The entry of an address itself, or else of the innermost module that contains it. */
  #stepFrom(address: Address): Step | undefined {
    const { registry, declared } = this.#rules;
    for (const one of addressesOf(registry.find(kindOf(address)), address)) {
      const move = this.#byFrom.get(one);
      if (move === undefined || (isNested(move) && declared.has(address))) continue;
      const rest = nameOf(address).slice(nameOf(one).length);
      return { move, from: address, to: addressOf(kindOf(address), `${nameOf(move.to)}${rest}`) };
    }
    return undefined;
  }
}

function pathEnd(to: Address, first: Move | undefined): PathEnd {
  return first === undefined ? { to } : { to, first };
}

/** Whether one module of an entry is inside the other: `modules.team` to `modules.team/ads`. */
function isNested({ from, to }: Move): boolean {
  return isInModule(from, to) || isInModule(to, from);
}
