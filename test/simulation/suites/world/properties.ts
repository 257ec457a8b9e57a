// Any live workspace, any spec, any stale or partial state: one apply converges, and the plan told exactly what was written.

import fc from "fast-check";
import type { RemoteId } from "../../../../src/core/address.ts";
import { Failure } from "../../../../src/core/diagnostic.ts";
import { stringifyJson } from "../../../../src/core/exact-json.ts";
import { registry } from "../../../../src/providers/index.ts";
import { unlike, violations } from "../../checks/invariants.ts";
import type { Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import { reordered, type Story, stories } from "../../world/specs.ts";
import {
  type Checkpoint,
  checkpoint,
  SETTLING_MS,
  type Stage,
  specFrom,
  stageOf,
} from "../../world/stage.ts";
import { worldLines } from "../../world/world-text.ts";

/** Refusals that a random spec may rightly meet: the program asks people first. */
const REFUSALS = /^(GUARD_|PLAN_ALREADY_EXISTS|PLAN_COLLISION)/;
const PER_SEED = 4000;
const ENDING_SEED = 23;

let refused = 0;
const told = new Map<number, readonly Story[]>();

function storyOf(name: string): Story {
  const [seed = 1, at = 0] = name.split("/").map(Number);
  const known = told.get(seed) ?? fc.sample(stories, { seed, numRuns: PER_SEED });
  told.set(seed, known);
  const story = known[at];
  if (story === undefined) throw new Error(`stories of one seed end at ${PER_SEED}`);
  return story;
}

/** The history: two specs applied, objects deleted outside the spec, and a state with a random fate. */
async function beginning(stage: Stage, story: Story): Promise<Checkpoint> {
  const trial = await Trial.of(stage);
  const { site } = trial;
  try {
    await trial.apply({ parallelism: 4 }, { spec: await specFrom(stringifyJson(story.first)) });
    const older = site.disk.copy();
    await trial.apply({ parallelism: 4 }, { spec: await specFrom(stringifyJson(story.second)) });
    await site.clock.advance(SETTLING_MS);
    await deleteSome(trial, story.gone);
    await site.clock.advance(SETTLING_MS);
    if (story.fate.kind === "partial") await forgetSome(trial, story.fate.keep);
    return { ...checkpoint(site), ...(story.fate.kind === "stale" ? { disk: older } : {}) };
  } finally {
    trial.close();
  }
}

async function deleteSome({ site }: Trial, shares: readonly number[]): Promise<void> {
  const records = [...(await site.state()).records.values()].filter(({ address }) =>
    /^(pools|clusters|jobs|files|secrets)\./.test(address),
  );
  const { writer } = site.process().client;
  const acting = {
    ...writer,
    created: async () => {},
    until: async () => {
      throw new Error("nothing to wait for");
    },
  };
  for (const share of shares) {
    const record = records[Math.floor(share * records.length)];
    if (record === undefined) continue;
    const provider = registry.of(record.address);
    const work = provider.operations.read(writer, record.id).then(async (live) => {
      if (live !== undefined)
        await provider.operations.delete(acting, {
          address: record.address,
          id: record.id,
          name: record.name,
          live,
        });
    });
    await site.drive(work);
  }
}

async function forgetSome({ site }: Trial, keep: readonly boolean[]): Promise<void> {
  const work = (async () => {
    const lease = await site.process().store.lock({ timeoutMs: 600_000 });
    let at = 0;
    for (const { address, id } of lease.state().records.values())
      if (keep[at++ % keep.length] === false)
        await lease.append({ type: "gone", gone: { address, id: id as RemoteId } });
    await lease.publish();
    await lease.release();
  })();
  await site.drive(work);
}

async function ending(stage: Stage, from: Checkpoint, story: Story, parallelism: number): Promise<Trial> {
  const trial = await Trial.of(stage, from, ENDING_SEED);
  await trial.apply(
    { parallelism },
    { spec: await specFrom(stringifyJson(story.last)), more: { adopt: true } },
  );
  return trial;
}

function isRefusal(failure: unknown): boolean {
  return (
    failure instanceof Failure &&
    failure.diagnostics.every(({ severity, code }) => severity === "warning" || REFUSALS.test(code))
  );
}

export const properties: Suite = {
  name: "properties",
  what: "random workspaces, specs, and states: one apply converges, regardless of the parallelism and the order of the spec",
  unit: "stories",
  sample: 60,
  endless: true,

  async cases(seed, count) {
    return Array.from({ length: Math.min(count ?? 1000, PER_SEED) }, (_, at) => `${seed}/${at}`);
  },

  async run(name) {
    const story = storyOf(name);
    const stage = await stageOf("create");
    const from = await beginning(stage, story);
    const trial = await ending(stage, from, story, story.parallelism);
    const alone = await ending(stage, from, story, 1);
    try {
      if (isRefusal(trial.runs[0]?.failure)) {
        refused += 1;
        return trial.ledger.writes.map((write) => `it wrote although it refused: ${write.operation}`);
      }
      const spec = await specFrom(stringifyJson(story.last));
      const turned = await specFrom(stringifyJson(reordered(story.last)));
      const wrong = await violations(trial, {}, spec, { strayAllowed: story.fate.kind !== "kept" });
      await alone.site.clock.advance(SETTLING_MS);
      const [one, many] = [worldLines(alone.site.world).join("\n"), worldLines(trial.site.world).join("\n")];
      const other = await trial.site.drive(trial.site.process().plan(turned));
      return [
        ...wrong,
        ...(one === many
          ? []
          : [
              `parallelism ${story.parallelism} ends otherwise than 1: ${unlike(worldLines(trial.site.world), worldLines(alone.site.world)).join("; ")}`,
            ]),
        ...other.changes
          .filter(({ action }) => action !== "noop" && action !== "report")
          .map(({ action, address }) => `in another order the spec plans ${action} ${address}`),
      ];
    } finally {
      trial.close();
      alone.close();
    }
  },

  notes: async () => [`${refused} of them were refused by a guard, and nothing was written then`],
};
