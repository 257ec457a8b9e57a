// Counts the steps of evaluations, so that a hostile expression ends with an error on every machine at the same point.

/** Thrown if an evaluation takes too many steps or makes a value that is too large. */
export class LimitExceeded extends Error {}

export interface StepLimits {
  readonly steps: number;
  /** The weight of one value: about its strings' characters by 8, and its entries. */
  readonly largest: number;
}

export class Meter {
  readonly #limits: StepLimits;
  #left: number;

  constructor(limits: StepLimits) {
    this.#limits = limits;
    this.#left = limits.steps;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  get taken(): number {
    return this.#limits.steps - this.#left;
  }

  take(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new LimitExceeded("the evaluation takes too many steps");
  }

  /** Takes the steps for a new value. */
  create(weight: number): void {
    this.take(weight);
    if (weight > this.#limits.largest)
      throw new LimitExceeded("the evaluation makes a value that is too large");
  }
}
