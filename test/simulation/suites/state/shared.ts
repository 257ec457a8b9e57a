// States that a team shares, and encrypted ones: whole applies on each form of state, stopped, frozen, cut off, and answered late.

import { FAULTY_RESPONSES } from "../../faults/faulty-responses.ts";
import {
  answerStateFaulty,
  breakWire,
  callsOf,
  comeLate,
  exchangesOf,
  kindOf,
  LOSSES,
  lose,
  WHENS,
} from "../../faults/state-request-faults.ts";
import { serverHere, stopServer } from "../../homes/in-postgres.ts";
import { BREAKS } from "../../homes/wire.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import { FEW_CASES, inTurn, randomFrom, type Suite, shuffled } from "../../run/suite.ts";
import { type Form, formsHere, notTried, stageKey } from "../../world/forms.ts";
import { dieAndFinish } from "../crashes/crash.ts";
import { cutAt, momentsToCut } from "../crashes/cut.ts";
import { dieTwice, pointsAfter } from "../crashes/double.ts";
import { freezeAndWake, momentsToFreeze, race } from "../crashes/zombie.ts";
import { answerFaulty, operations } from "../faults/faults.ts";
import { movable, move } from "../world/moves.ts";

const SCENARIOS = ["create", "mixed", "delete"] as const;

/** Two processes that take a lock, or keep it, at once. */
const AT_LOCK = /^race .*(lock|claim|renew)/;

/** Where moments have no names, so many are among the first cases, evenly spread. */
const SPREAD = 6;

/** What can befall a process on a form of state: the moments at which it can, by name, and one such case. */
interface Way {
  readonly name: string;
  readonly forms: readonly Form[];
  moments(scenario: string, form: Form): Promise<readonly (string | undefined)[]>;
  run(scenario: string, form: Form, at: string): Promise<readonly string[]>;
}

const EACH: readonly Form[] = ["sealed", "workspace", "postgres"];

/** Asked once for each scenario, form, and server. */
function once<T>(ask: (scenario: string, form: Form) => Promise<T>): typeof ask {
  const known = new Map<string, Promise<T>>();
  return (scenario, form) => {
    const key = `${scenario} ${stageKey(form)}`;
    const found = known.get(key) ?? ask(scenario, form);
    known.set(key, found);
    return found;
  };
}

const unnamed = (length: number): readonly undefined[] => Array.from({ length });

const callsIn = once(callsOf);
const exchangesIn = once((scenario) => exchangesOf(scenario));
const freezing = once(momentsToFreeze);
const pointsOf = async (scenario: string, form: Form): Promise<readonly string[]> =>
  (await faultFreeRun(scenario, form)).points.map(({ what, of }) => `${what} ${of}`);

const dying: readonly Way[] = [
  {
    name: "kill",
    forms: EACH,
    moments: pointsOf,
    run: (scenario, form, at) => dieAndFinish(scenario, "kill", Number(at), form),
  },
  {
    name: "power-cut",
    forms: ["sealed"],
    moments: pointsOf,
    run: (scenario, form, at) => dieAndFinish(scenario, "power-cut", Number(at), form),
  },
  {
    // Named by both points, as `12+5`: the second one is of the process that recovers.
    name: "twice",
    forms: EACH,
    moments: async () => [],
    run: (scenario, form, at) => dieTwice(scenario, at.split("+").map(Number), form),
  },
  {
    name: "race",
    forms: ["file", ...EACH],
    moments: freezing,
    run: (scenario, form, at) => race(scenario, Number(at), form),
  },
  {
    name: "zombie",
    forms: EACH,
    moments: freezing,
    run: (scenario, form, at) => freezeAndWake(scenario, Number(at), form),
  },
];

const losing = LOSSES.map(
  (loss): Way => ({
    name: `lost-${loss}`,
    forms: ["workspace"],
    moments: async (scenario, form) => (await callsIn(scenario, form)).map(({ what }) => what),
    run: (scenario, form, at) => lose(scenario, form, loss, Number(at)),
  }),
);

const breaking = BREAKS.map(
  (how): Way => ({
    name: `cut-${how}`,
    forms: ["postgres"],
    moments: async (scenario, form) => unnamed(await exchangesIn(scenario, form)),
    run: (scenario, _form, at) => breakWire(scenario, how, Number(at)),
  }),
);

const late = WHENS.map(
  (when): Way => ({
    name: `late-${when}`,
    forms: ["workspace", "postgres"],
    moments: async (scenario, form) =>
      (await callsIn(scenario, form)).flatMap(({ what, changes }) => (changes ? [what] : [])),
    run: (scenario, form, at) => comeLate(scenario, form, when, Number(at)),
  }),
);

/** All pairs, mixed, so that each stretch of them is of many operations and many answers. */
function withIlls(asked: Iterable<string>): readonly (readonly [string, string])[] {
  return shuffled(
    [...asked].flatMap((one) => Object.keys(FAULTY_RESPONSES).map((fault) => [one, fault] as const)),
    1,
  );
}

const operationsIn = once(async (scenario) => {
  const sent = [...(await operations())].filter(([, by]) => by === scenario);
  return withIlls(sent.map(([operation]) => operation));
});
const requestsIn = once(async (scenario, form) =>
  withIlls(new Set((await callsIn(scenario, form)).map(({ what }) => kindOf(what)))),
);
const movableIn = once((scenario) => movable(scenario));
const cutting = once(momentsToCut);
/** Which of the requests on their way are received: none, all, every other one. */
const RECEIVED = [0, 0xff, 0x55] as const;

const served: readonly Way[] = [
  {
    name: "ill",
    forms: EACH,
    moments: async (scenario, form) => unnamed((await operationsIn(scenario, form)).length),
    run: async (scenario, form, at) => {
      const [operation = "", fault = ""] = (await operationsIn(scenario, form))[Number(at)] ?? [];
      return answerFaulty(scenario, operation, fault, "always", form);
    },
  },
  ...[1, Number.POSITIVE_INFINITY].map(
    (times): Way => ({
      name: times === 1 ? "state-ill-once" : "state-ill",
      forms: ["workspace"],
      moments: async (scenario, form) => unnamed((await requestsIn(scenario, form)).length),
      run: async (scenario, form, at) => {
        const [kind = "", fault = ""] = (await requestsIn(scenario, form))[Number(at)] ?? [];
        return answerStateFaulty(scenario, kind, fault, times);
      },
    }),
  ),
  {
    name: "move",
    forms: EACH,
    moments: async (scenario, form) => unnamed((await movableIn(scenario, form)).length),
    run: async (scenario, form, at) =>
      move(scenario, (await movableIn(scenario, form))[Number(at)] ?? "", form),
  },
  {
    name: "cut",
    forms: EACH,
    moments: async (scenario, form) => unnamed((await cutting(scenario, form)).length * RECEIVED.length),
    run: (scenario, form, at) => {
      const received = RECEIVED[Number(at) % RECEIVED.length] ?? 0;
      return cutAt(scenario, Math.floor(Number(at) / RECEIVED.length), received, form);
    },
  },
];

const WAYS: readonly Way[] = [...dying, ...losing, ...breaking, ...late, ...served];

/** Pairs of deaths for each form and scenario, drawn by the seed. */
const PAIRS = 20;

async function pairs(seed: number, form: Form, scenarios: readonly string[]): Promise<readonly string[]> {
  const random = randomFrom(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  const names: string[] = [];
  for (const scenario of scenarios) {
    const first = pick((await faultFreeRun(scenario, form)).points.length);
    const second = await pointsAfter(scenario, first, form);
    for (let n = 0; n < PAIRS; n++) names.push(`${form}/${scenario}/twice/${first}+${pick(second)}`);
  }
  return names;
}

export const shared: Suite = {
  name: "shared",
  what: "the same faults with states in the workspace, in PostgreSQL, and encrypted: crashed, frozen, disconnected, or late",
  unit: "cases",
  sample: 60,
  ordered: true,

  /**
   * First one case for each way and each kind of operation on each form, and of those two that take the lock at once; then all others.
   * A few are drawn from few scenarios.
   */
  async cases(seed, count) {
    const scenarios = count !== undefined && count <= FEW_CASES ? SCENARIOS.slice(0, 2) : SCENARIOS;
    const first: string[][] = [];
    const others: string[] = [];
    for (const form of formsHere()) {
      const kinds = new Map<string, string>();
      for (const scenario of scenarios)
        for (const way of WAYS.filter((one) => one.forms.includes(form)))
          (await way.moments(scenario, form)).forEach((moment, at, { length }) => {
            const name = `${form}/${scenario}/${way.name}/${at}`;
            others.push(name);
            // The engine's own requests are tried with file states.
            if (/^(send|committed|answered) /.test(moment ?? "")) return;
            const kind = `${way.name} ${moment === undefined ? Math.floor((at * SPREAD) / length) : kindOf(moment)}`;
            if (!kinds.has(kind)) kinds.set(kind, name);
          });
      const twice = EACH.includes(form) ? await pairs(seed, form, scenarios) : [];
      others.push(...twice);
      const atLock = [...kinds].flatMap(([kind, name]) => (AT_LOCK.test(kind) ? [name] : []));
      first.push([...atLock, ...shuffled([...kinds.values(), ...twice.slice(0, 5)], seed)]);
    }
    return [...new Set([...inTurn(first), ...shuffled(others, seed)])];
  },

  async run(name) {
    const [form = "", scenario = "", way = "", at = ""] = name.split("/");
    if (form === "postgres" && serverHere() === undefined) return ["there is no PostgreSQL here"];
    const found = WAYS.find((one) => one.name === way && one.forms.some((known) => known === form));
    if (found === undefined) throw new Error(`there is no case ${name}`);
    return found.run(scenario, form as Form, at);
  },

  notes: async () => notTried(),

  close: stopServer,
};
