// The limit on what expressions add to a spec.

import { LIMITS } from "../model/limits.ts";

/** What expressions may still add: a small spec must not expand into a large one. */
export class ExpansionBudget {
  #nodes: number;
  #characters: number = LIMITS.expandedText;

  constructor(nodes: number = LIMITS.repeated) {
    this.#nodes = nodes;
  }

  /** Whether there was room for so many nodes and characters. */
  take(nodes: number, characters: number): boolean {
    this.#nodes -= nodes;
    this.#characters -= characters;
    return this.#nodes >= 0 && this.#characters >= 0;
  }
}
