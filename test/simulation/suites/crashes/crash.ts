// The crash matrix: a process crashes at every moment of every scenario, alone or with the machine; the next run
// finishes.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { OPERATIONS, type OperationName } from "../../../../src/api/contract/operations.ts";
import { violations } from "../../checks/invariants.ts";
import { operationOf } from "../../checks/ledger.ts";
import { MOMENTS, momentsOf } from "../../faults/moments.ts";
import { crashingProcess, type Point } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import { type Suite, shuffled } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import type { Form } from "../../world/forms.ts";
import { NOTHING, scenarios } from "../../world/scenarios.ts";
import { specFrom } from "../../world/stage.ts";
import type { ClockOf } from "./zombie.ts";

const CONTRACT_PATHS: ReadonlySet<string> = new Set(
  Object.keys(
    (
      parse(readFileSync(new URL("../../../../schemas/openapi.yaml", import.meta.url), "utf8")) as {
        paths: object;
      }
    ).paths,
  ),
);

/** `turn-back`: after the crash the earlier spec is applied; nothing of the interrupted run may remain. */
const HOWS = ["kill", "power-cut", "turn-back"] as const;

/** Every write that a kind's verbs can send, read from their source. */
export function writesOfProviders(
  folder = new URL("../../../../src/providers", import.meta.url).pathname,
): ReadonlySet<OperationName> {
  const found = new Set<OperationName>();
  const visit = (path: string): void => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else
      for (const [, quoted = ""] of readFileSync(path, "utf8").matchAll(/["`](\w[\w-]*\/[\w/${}-]+)["`]/g))
        for (const name of quoted.includes("${kind}")
          ? ["users", "groups"].map((kind) => quoted.replace("${kind}", kind))
          : [quoted])
          if (isWrite(name)) found.add(name);
  };
  visit(folder);
  return found;
}

/** The scenarios have the kinds of the contract: the other operations exist in the Databricks dialect only. */
function isWrite(name: string): name is OperationName {
  if (!Object.hasOwn(OPERATIONS, name) || OPERATIONS[name as OperationName].kind !== "write") return false;
  return CONTRACT_PATHS.has(OPERATIONS[name as OperationName].path);
}

function operationAt(points: readonly Point[], at: number): OperationName {
  const [method = "", path = ""] = (points[at]?.of ?? "").split(" ");
  return operationOf({ method, path }).operation;
}

/** Every write operation of every scenario at each of the seven moments, by `operation moment`. */
export async function matrix(): Promise<ReadonlyMap<string, number>> {
  const cells = new Map<string, number>();
  for (const { name } of scenarios) {
    const { points } = await faultFreeRun(name);
    for (const [at, moments] of momentsOf(points)) {
      for (const moment of MOMENTS) {
        const key = `${operationAt(points, at)} ${moment}`;
        cells.set(key, (cells.get(key) ?? 0) + (moments.has(moment) ? 1 : 0));
      }
    }
  }
  return cells;
}

/** Cells of the matrix in which nothing is tried. */
export async function emptyCells(): Promise<readonly string[]> {
  const cells = await matrix();
  return [...writesOfProviders()].flatMap((operation) =>
    MOMENTS.map((moment) => `${operation} ${moment}`).filter((cell) => (cells.get(cell) ?? 0) === 0),
  );
}

/** A process crashes at a point, and the next one finishes. */
export async function dieAndFinish(
  scenario: string,
  how: string,
  at: number,
  form?: Form,
  clockOf: ClockOf = (base) => base,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const trial = await Trial.of(reference.stage);
  try {
    const end = crashingProcess(at);
    await trial.apply(end.options, end);
    if (how === "power-cut") trial.site.disk.powerCut();
    const back = how === "turn-back";
    const spec = back ? await specFrom(reference.stage.scenario.before ?? NOTHING) : reference.stage.spec;
    await trial.apply({ clock: clockOf(trial.site.clock) }, { spec });
    const { what, of } = end.points.at(-1) ?? { what: "never", of: "" };
    const wrong = await violations(trial, back ? {} : reference, spec);
    return wrong.map((one) => `dead at ${what} ${of}: ${one}`);
  } finally {
    trial.close();
  }
}

export const crash: Suite = {
  name: "crash",
  what: "the process or the machine crashes at every file operation and at every stage of every write",
  unit: "points",
  sample: 250,
  ordered: true,

  /** First one point for each file operation and each cell of the matrix, then all others. */
  async cases(seed) {
    const cells = new Map<string, string>();
    const names: string[] = [];
    for (const { name } of scenarios) {
      const { points } = await faultFreeRun(name);
      for (const how of HOWS) names.push(...points.map((_, at) => `${name}/${how}/${at}`));
      for (const how of HOWS.slice(0, 2))
        points.forEach(({ what, of }, at) => {
          const kind = `${what} ${of.replaceAll(/[0-9a-f]{16}|\d+/g, "#")} ${how}`;
          if (!cells.has(kind)) cells.set(kind, `${name}/${how}/${at}`);
        });
      for (const [at, moments] of momentsOf(points))
        for (const [moment, point] of moments)
          for (const how of HOWS.slice(0, 2)) {
            const cell = `${operationAt(points, at)} ${moment} ${how}`;
            if (!cells.has(cell)) cells.set(cell, `${name}/${how}/${point}`);
          }
    }
    return [...new Set([...shuffled([...cells.values()], seed), ...shuffled(names, seed)])];
  },

  run(name) {
    const [scenario = "", how = "", at] = name.split("/");
    return dieAndFinish(scenario, how, Number(at));
  },

  async notes() {
    const cells = await matrix();
    const empty = await emptyCells();
    return [
      `${writesOfProviders().size} write operations × ${MOMENTS.length} moments, ${[...cells.values()].reduce((a, b) => a + b, 0)} crash points in them`,
      ...empty.map((cell) => `nothing is tried at: ${cell}`),
    ];
  },
};
