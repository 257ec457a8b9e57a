// One case: processes run one after another on a copy of a stage, everything that they say and send is kept for the checks.

import { Failure } from "../../../src/core/diagnostic.ts";
import { stringifyJson } from "../../../src/core/exact-json.ts";
import type { Json } from "../../../src/core/json.ts";
import type { PlanFacts, PlanInput } from "../../../src/planner/model/input.ts";
import type { ApplyOutcome, Plan } from "../../../src/planner/model/plan.ts";
import type { Spec } from "../../../src/spec/model/spec.ts";
import type { ProcessOptions, Site } from "../../engine/site.ts";
import { Ledger } from "../checks/ledger.ts";
import { type Checkpoint, type Stage, siteFrom } from "../world/stage.ts";

interface Applying {
  /** Settles when the process crashes. */
  readonly stopped?: Promise<void>;
  readonly spec?: Spec;
  readonly more?: Partial<PlanInput & PlanFacts>;
}

/** How one process of a case ended. */
export interface Ran {
  /** Its number in the ledger. */
  readonly process: number;
  readonly plan: Plan | undefined;
  readonly outcome: ApplyOutcome | undefined;
  /** What it threw: an expected failure, or a bug. */
  readonly failure: unknown;
  /** It crashed in the middle. */
  readonly died: boolean;
}

export class Trial {
  readonly stage: Stage;
  readonly site: Site;
  readonly ledger = new Ledger();
  readonly runs: Ran[] = [];
  /** All output, by location: searched for secrets. */
  readonly told = new Map<string, string>();

  readonly #plans = new Map<number, Plan>();

  private constructor(stage: Stage, site: Site) {
    this.stage = stage;
    this.site = site;
    this.ledger.watch(site);
  }

  /** `seed`: of ids and tokens; no two sites of one story may draw the same. */
  static async of(stage: Stage, from: Checkpoint = stage.start, seed = 7): Promise<Trial> {
    return new Trial(stage, await siteFrom(from, seed));
  }

  close(): void {
    this.site.close();
  }

  tell(place: string, what: unknown): void {
    const text = typeof what === "string" ? what : stringifyJson(what as Json);
    this.told.set(place, `${this.told.get(place) ?? ""}${text}\n`);
  }

  /** Runs an apply to its end, or until `stopped` settles. */
  async apply(options: ProcessOptions = {}, applying: Applying = {}): Promise<Ran> {
    const work = this.begin(options, applying);
    const number = this.ledger.process;
    const died: Ran = {
      process: number,
      plan: undefined,
      outcome: undefined,
      failure: undefined,
      died: true,
    };
    const { stopped } = applying;
    const place = this.runs.push(died) - 1;
    const ran = await this.site.drive(
      stopped === undefined ? work : Promise.race([work, stopped.then(() => undefined)]),
    );
    const ended = ran ?? { ...died, plan: this.#plans.get(number) };
    this.runs[place] = ended;
    return ended;
  }

  /** Begins an apply; the caller must drive the site. */
  begin(options: ProcessOptions = {}, { spec = this.stage.spec, more = {} }: Applying = {}): Promise<Ran> {
    this.ledger.process += 1;
    const number = this.ledger.process;
    const process = this.site.process({
      pid: number,
      parallelism: 1,
      ...options,
      onPlan: (made) => {
        this.#plans.set(number, made);
        this.tell("plan", made);
        options.onPlan?.(made);
      },
      onEvent: (event) => {
        this.tell("events", event);
        options.onEvent?.(event);
      },
      log: (event) => this.tell("log", event),
    });
    return process.apply(spec, more).then(
      ({ outcome }) => {
        this.tell("outcome", outcome);
        return { process: number, plan: this.#plans.get(number), outcome, failure: undefined, died: false };
      },
      (failure: unknown) => {
        this.tell("failure", saidBy(failure));
        return { process: number, plan: this.#plans.get(number), outcome: undefined, failure, died: false };
      },
    );
  }
}

/** What an exception shows: to a person who sees it, and in a stack trace. */
export function saidBy(failure: unknown): string {
  if (failure instanceof Failure) return `${failure.stack}\n${JSON.stringify(failure.diagnostics)}`;
  return failure instanceof Error ? `${failure.stack}\n${String(failure.cause ?? "")}` : String(failure);
}

/** A failure with diagnostics; anything else is a bug. */
export function isExpected({ failure }: Ran): boolean {
  return failure === undefined || failure instanceof Failure;
}
