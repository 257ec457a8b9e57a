// Faults of the requests and statements of a state that is not a file: lost, unanswered, answered with an error,
// refused permanently, or executed late.

import type { HttpRequest, HttpResponse } from "../../../src/api/http/transport.ts";
import type { Line } from "../../engine/home.ts";
import type { ProcessOptions, Send } from "../../engine/site.ts";
import { violations } from "../checks/invariants.ts";
import { serverHere } from "../homes/in-postgres.ts";
import { type Break, openWire } from "../homes/wire.ts";
import { faultFreeRun } from "../run/fault-free-run.ts";
import { isExpected, Trial } from "../run/trial.ts";
import type { Form } from "../world/forms.ts";
import { FAULTY_RESPONSES } from "./faulty-responses.ts";
import { isWrite } from "./trace.ts";

/** What a process asks its state, in order: all of it, or what may change something. */
export async function callsOf(scenario: string, form: Form): Promise<readonly Call[]> {
  const { stage } = await faultFreeRun(scenario, form);
  const trial = await Trial.of(stage);
  try {
    const calls: Call[] = [];
    const line: Line = (what, changes, work) => {
      calls.push({ what, changes });
      return work();
    };
    await trial.apply({ line });
    return calls;
  } finally {
    trial.close();
  }
}

export interface Call {
  readonly what: string;
  readonly changes: boolean;
}

/** The request without its number: `put /states/team/lock.#`. */
export function kindOf(what: string): string {
  return what.replaceAll(/[0-9a-f]{16}|\d+/g, "#");
}

const hungUp = (): Error =>
  Object.assign(new Error("socket hang up"), { code: "ECONNRESET", syscall: "read" });
const timedOut = (): Error =>
  Object.assign(new Error("no complete answer in time"), { name: "TimeoutError" });

export const LOSSES = ["before", "after", "for-good"] as const;
export type Loss = (typeof LOSSES)[number];

/** Call `at` is lost before it is carried out, or its answer is; or the place is out of reach from then on. */
export async function lose(scenario: string, form: Form, loss: Loss, at: number): Promise<readonly string[]> {
  let calls = 0;
  const line: Line = async (_what, _changes, work) => {
    const met = calls++ === at || (loss === "for-good" && calls > at);
    if (!met) return work();
    if (loss === "after") await work();
    throw hungUp();
  };
  return through(
    scenario,
    form,
    () => ({ line }),
    () => loss === "for-good" && calls > at,
  );
}

/** Exchange `at` with the database breaks. */
export async function breakWire(scenario: string, how: Break, at: number): Promise<readonly string[]> {
  const wire = await openWire(serverHere()?.folder ?? "", at, how);
  try {
    return await through(
      scenario,
      "postgres",
      () => ({ socket: wire.folder }),
      () => how === "for-good" && wire.isBroken,
    );
  } finally {
    wire.close();
  }
}

/** How many exchanges a process has with the database. */
export async function exchangesOf(scenario: string): Promise<number> {
  const wire = await openWire(serverHere()?.folder ?? "", Number.POSITIVE_INFINITY, "before");
  try {
    await through(scenario, "postgres", () => ({ socket: wire.folder }));
    return wire.exchanges;
  } finally {
    wire.close();
  }
}

/** One process meets the trouble, the next one finishes. While the state is out of reach nothing may be sent. */
async function through(
  scenario: string,
  form: Form,
  optionsFor: (trial: Trial) => ProcessOptions,
  outOfReach = () => false,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const trial = await Trial.of(reference.stage);
  const sent: string[] = [];
  const transport = (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    if (isWrite(request) && outOfReach()) sent.push(`sent while the state was out of reach: ${request.path}`);
    return send(request);
  };
  try {
    const first = await trial.apply({ ...optionsFor(trial), transport });
    await trial.apply();
    const bug = isExpected(first) ? [] : [`the run broke: ${String(first.failure)}`];
    return [...sent, ...bug, ...(await violations(trial, reference))];
  } finally {
    trial.close();
  }
}

/** No fault answer depends on what was asked. */
const ANY_REQUEST: HttpRequest = {
  method: "GET",
  origin: "http://workspace.test",
  path: "/",
  headers: {},
  timeoutMs: 1000,
};

/** Requests of one kind of a state in the workspace are answered fault: so many of them, then the service is well. */
export async function answerStateFaulty(
  scenario: string,
  kind: string,
  fault: string,
  times: number,
): Promise<readonly string[]> {
  let left = times;
  const lineAt =
    (now: () => number): Line =>
    (what, _changes, work) => {
      const answer = FAULTY_RESPONSES[fault];
      if (answer === undefined || kindOf(what) !== kind || left-- <= 0) return work();
      // A state in the workspace sends requests.
      return answer(ANY_REQUEST, work as () => Promise<never>, now()) as ReturnType<typeof work>;
    };
  return through(scenario, "workspace", ({ site }) => ({ line: lineAt(() => site.clock.now()) }));
}

/** A number counts the calls in between. `between`: the next process is in the middle of taking the state over. */
export const WHENS = ["1", "2", "5", "after-exit", "between", "after-the-next"] as const;
export type When = (typeof WHENS)[number];

/** How many calls of the next process come before a late one that is `between`. */
const TURNS = 9;

/** The write number `at` gets no answer and is executed late; a statement has been retried meanwhile. */
class LateCall {
  readonly #after: number;
  #at: number;
  #held: (() => Promise<unknown>) | undefined;
  #passed = 0;
  readonly #isTriedAgain: boolean;

  constructor(at: number, when: When, isTriedAgain: boolean) {
    this.#at = at;
    this.#after = /^\d+$/.test(when) ? Number(when) : Number.POSITIVE_INFINITY;
    this.#isTriedAgain = isTriedAgain;
  }

  readonly line: Line = async (_what, changes, work) => {
    if (this.#held !== undefined && ++this.#passed >= this.#after) await this.commit();
    if (!changes || this.#at-- !== 0) return work();
    this.#held = work;
    if (this.#isTriedAgain) return work();
    throw timedOut();
  };

  /** Before the next process makes this call. */
  before(turn: number): Line {
    let calls = 0;
    return async (_what, _changes, work) => {
      if (calls++ === turn) await this.commit();
      return work();
    };
  }

  async commit(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    await held?.();
  }
}

export async function comeLate(
  scenario: string,
  form: Form,
  when: When,
  at: number,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const trial = await Trial.of(reference.stage);
  try {
    const late = new LateCall(at, when, form === "postgres");
    await trial.apply({ line: late.line });
    if (when !== "between" && when !== "after-the-next") await late.commit();
    await trial.apply(when === "between" ? { line: late.before(at % TURNS) } : {});
    if (when === "between" || when === "after-the-next") {
      await late.commit();
      await trial.apply();
    }
    return await violations(trial, reference);
  } finally {
    trial.close();
  }
}
