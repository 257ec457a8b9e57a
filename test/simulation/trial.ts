// One case: processes run one after another on a copy of a stage, everything that they say and send is kept for the checks.

import { Failure } from "../../src/core/diagnostic.ts";
import { stringifyJson } from "../../src/core/exact-json.ts";
import type { Json } from "../../src/core/json.ts";
import type { PlanInput } from "../../src/planner/input.ts";
import type { Outcome } from "../../src/planner/outcome.ts";
import type { Plan } from "../../src/planner/plan.ts";
import type { Spec } from "../../src/spec/spec.ts";
import type { ProcessOptions, Site } from "../engine/site.ts";
import { Ledger } from "./ledger.ts";
import { type Checkpoint, type Stage, siteFrom } from "./stage.ts";

interface Applying {
  /** Settles when the process dies. */
  readonly stopped?: Promise<void>;
  readonly spec?: Spec;
  readonly more?: Partial<PlanInput>;
}

/** How one process of a case ended. */
export interface Ran {
  readonly plan: Plan | undefined;
  readonly outcome: Outcome | undefined;
  /** What it threw: an expected failure, or a bug. */
  readonly failure: unknown;
  /** It stopped dead in the middle. */
  readonly died: boolean;
}

export class Trial {
  readonly stage: Stage;
  readonly site: Site;
  readonly ledger = new Ledger();
  readonly runs: Ran[] = [];
  /** Everything that was told to anybody, by place: searched for secrets. */
  readonly told = new Map<string, string>();

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
  async apply(
    options: ProcessOptions = {},
    { stopped, spec = this.stage.spec, more = {} }: Applying = {},
  ): Promise<Ran> {
    this.ledger.process += 1;
    const number = this.ledger.process;
    let plan: Plan | undefined;
    const process = this.site.process({
      pid: number,
      parallelism: 1,
      ...options,
      onPlan: (made) => {
        plan = made;
        this.tell("plan", made);
        options.onPlan?.(made);
      },
      onEvent: (event) => {
        this.tell("events", event);
        options.onEvent?.(event);
      },
      log: (event) => this.tell("log", event),
    });
    let ran: Ran = { plan, outcome: undefined, failure: undefined, died: true };
    const work = process.apply(spec, more).then(
      ({ outcome }) => {
        this.tell("outcome", outcome);
        ran = { plan, outcome, failure: undefined, died: false };
      },
      (failure: unknown) => {
        this.tell("failure", saidBy(failure));
        ran = { plan, outcome: undefined, failure, died: false };
      },
    );
    await this.site.drive(stopped === undefined ? work : Promise.race([work, stopped]));
    if (ran.died) ran = { ...ran, plan };
    this.runs.push(ran);
    return ran;
  }
}

/** What an exception shows: to a person who sees it, and in a stack trace. */
export function saidBy(failure: unknown): string {
  if (failure instanceof Failure) return `${failure.stack}\n${JSON.stringify(failure.diagnostics)}`;
  return failure instanceof Error ? `${failure.stack}\n${String(failure.cause ?? "")}` : String(failure);
}

/** A failure that people are told of; anything else is a bug. */
export function isExpected({ failure }: Ran): boolean {
  return failure === undefined || failure instanceof Failure;
}
