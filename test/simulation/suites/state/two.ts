// Two real applies on one state of each form: one waits, one is killed, one is paused past its lease and continued.

import type { Ended } from "../../../cli/program.ts";
import { stopServer } from "../../homes/in-postgres.ts";
import { kill, Real } from "../../run/real.ts";
import type { Suite } from "../../run/suite.ts";
import { cloud } from "../../world/dialect.ts";
import { type Form, formsHere, notTried } from "../../world/forms.ts";

/** Of the one that comes to grief: short, so that the other one can outlive it. */
const LEASE = { WORKSPACE_LEASE: "1s" };
/** Of the killed one: long enough to finish on a busy machine. */
const LONGER_LEASE = { WORKSPACE_LEASE: "4s" };
const PATIENT = ["--lock-timeout", "60s"];
const KINDS = ["together", "killed", "stopped"] as const;
const ROUNDS = 4;

let real: Promise<Real> | undefined;

function server(): Promise<Real> {
  real ??= Real.open();
  return real;
}

const SCENARIOS = cloud === undefined ? ["create"] : ["dialect", "create", "dialect-create"];

/** Both at once: the second waits for the first and finds nothing to do. */
async function together(at: Real): Promise<readonly string[]> {
  const both = [at.apply({}, PATIENT), at.apply({}, PATIENT)];
  const ends = await Promise.all(both.map((one) => one.ended));
  const failed = ends
    .filter(({ code }) => code !== 0)
    .map(({ code, stderr }) => `one of two ended with ${code}: ${toldIn(stderr)}`);
  return [...failed, ...(await at.violations(ends[1] ?? missing()))];
}

/** One is killed at its write, while the other waits for the lock. */
async function oneKilled(at: Real, nth: number): Promise<readonly string[]> {
  const first = at.apply(LONGER_LEASE, PATIENT);
  let second: ReturnType<Real["apply"]> | undefined;
  at.gate.arm({
    nth,
    side: "after",
    act: async () => {
      second = at.apply({}, PATIENT);
      await new Promise((resolve) => setTimeout(resolve, 700));
      await kill(first);
    },
  });
  await first.ended;
  if (second === undefined) return ["the first was not killed"];
  return at.violations(await second.ended);
}

/** One is paused at its write for longer than its lease; another one acquires the lock; then the first continues. */
async function oneStopped(at: Real, nth: number): Promise<readonly string[]> {
  const first = at.apply(LEASE, [...PATIENT, "--parallelism", "1"]);
  const halted = new Promise<true>((resolve) => {
    at.gate.arm({
      nth,
      side: "before",
      act: async () => {
        first.child.kill("SIGSTOP");
        resolve(true);
      },
    });
  });
  const halt = await Promise.race([halted, first.ended]);
  if (halt !== true) return [`the first was not paused; it ended with ${halt.code}: ${toldIn(halt.stderr)}`];
  const writesBefore = at.gate.writes.length;
  const second = await at.apply({}, PATIENT).ended;
  const state = await at.stateText();
  const writesOfSecond = at.gate.writes.length - writesBefore;
  first.child.kill("SIGCONT");
  const woken = await first.ended;
  return [
    ...(woken.code === 0 ? ["the one that had lost the lock said that all went well"] : []),
    ...((await at.stateText()) === state ? [] : ["the one that had lost the lock wrote to the state"]),
    ...(at.gate.writes.length === writesBefore + writesOfSecond
      ? []
      : ["the one that had lost the lock sent a write"]),
    ...(await at.violations(second)),
  ];
}

/** What it says went wrong, or how it ends. */
function toldIn(stderr: string): string {
  return /^error [\s\S]{0,300}/m.exec(stderr)?.[0] ?? stderr.slice(-300);
}

function missing(): Ended {
  throw new Error("a process has no end");
}

export const two: Suite = {
  name: "two",
  what: "two concurrent real applies with each state backend; one is killed, or paused beyond its lease and continued",
  unit: "rounds",
  sample: 4,
  ordered: true,

  /** Every form has its turn, each time with another kind. */
  async cases(seed) {
    return Array.from({ length: ROUNDS * KINDS.length * SCENARIOS.length }, (_, turn) =>
      formsHere().map((form, at) => {
        const scenario = SCENARIOS[turn % SCENARIOS.length];
        const kind = KINDS[(Math.floor(turn / SCENARIOS.length) + at + seed) % KINDS.length];
        const round = Math.floor(turn / KINDS.length / SCENARIOS.length);
        return `${form}/${scenario}/${kind}/${kind === "together" ? round : 3 * round + (seed % 3)}`;
      }),
    ).flat();
  },

  async run(name) {
    const [form = "", scenario = "", kind, nth] = name.split("/");
    const at = await server();
    await at.begin(scenario, form as Form);
    switch (kind) {
      case "together":
        return together(at);
      case "killed":
        return oneKilled(at, Number(nth));
      default:
        return oneStopped(at, Number(nth));
    }
  },

  notes: async () => notTried(),

  async close() {
    await (await real)?.close();
    real = undefined;
    await stopServer();
  },
};
