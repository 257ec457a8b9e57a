// The checks see what they are there for: each is shown a world in which its rule is broken.

import { expect, test } from "vitest";
import { faultFreeRun } from "../run/fault-free-run.ts";
import { Trial } from "../run/trial.ts";
import { violations } from "./invariants.ts";

const CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 2 };

type Breach = (trial: Trial) => Promise<unknown> | unknown;
const breaches: readonly (readonly [string, Breach, RegExp])[] = [
  [
    "a thing made twice",
    ({ site }) => site.world.post("clusters/create", { cluster_name: "adhoc", ...CLUSTER }),
    /should not have: clusters <clusters adhoc>/,
  ],
  [
    "a thing that is gone",
    ({ site }) => site.world.post("secrets/delete", { scope: "etl", key: "cert" }),
    /recorded and not there/,
  ],
  [
    "another value of a secret",
    ({ site }) => site.world.post("secrets/put", { scope: "vault", key: "pin", string_value: "x" }),
    /world lacks: secrets\/vault/,
  ],
  [
    "an unmanaged object that changed",
    ({ site }) => site.world.post("secrets/put", { scope: "foreign", key: "k", string_value: "w" }),
    /unmanaged secrets\/foreign k changed/,
  ],
  [
    "an unmanaged object that was deleted",
    ({ site }) => site.world.post("groups/delete", { group_name: "strangers" }),
    /unmanaged groups .* was deleted/,
  ],
  [
    "an unplanned write",
    ({ ledger }) =>
      ledger.writes.push({
        operation: "jobs/create",
        id: undefined,
        body: { name: "x" },
        effective: true,
        process: 1,
      }),
    /unannounced: jobs\/create x/,
  ],
  [
    "a run that was started",
    async ({ site }) => {
      const { body } = await site.world.get("jobs/list");
      await site.world.post("jobs/run-now", { job_id: body.jobs[0].job_id });
    },
    /a run was started/,
  ],
  [
    "a lock that is held",
    ({ site }) =>
      site.drive(
        site
          .process({ pid: 5 })
          .store.lock({ timeoutMs: 0 })
          .then(() => undefined),
      ),
    /the lock is held/,
  ],
];

test.each(breaches)("%s is noticed", async (_name, breach, told) => {
  const reference = await faultFreeRun("create");
  const trial = await Trial.of(reference.stage);
  try {
    await trial.apply();
    await breach(trial);
    expect((await violations(trial, reference)).join("\n")).toMatch(told);
  } finally {
    trial.close();
  }
});
