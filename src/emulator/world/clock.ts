// The emulator's clock: the machine's time with an offset, or a manual clock.

type ClockMode = "real" | "manual";

export interface ClockState {
  readonly mode: ClockMode;
  /** Real: milliseconds added to the machine's time. Manual: the time itself. */
  readonly value: number;
}

export class EmulatorClock {
  readonly #machine: () => number;
  #state: ClockState;

  constructor(machine: () => number, state: ClockState = { mode: "real", value: 0 }) {
    this.#machine = machine;
    this.#state = state;
  }

  get state(): ClockState {
    return this.#state;
  }

  get mode(): ClockMode {
    return this.#state.mode;
  }

  now(): number {
    return this.#state.mode === "real" ? this.#machine() + this.#state.value : this.#state.value;
  }

  restore(state: ClockState): void {
    this.#state = state;
  }

  /** Moves the time forward, in either mode. */
  advance(ms: number): void {
    this.#state = { ...this.#state, value: this.#state.value + ms };
  }

  /** Changes the mode without a jump in time. */
  setMode(mode: ClockMode): void {
    if (mode === this.#state.mode) return;
    const now = this.now();
    this.#state = { mode, value: mode === "real" ? now - this.#machine() : now };
  }
}
