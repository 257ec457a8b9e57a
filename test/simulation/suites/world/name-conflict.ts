// A name conflict: a run crashes before it sends a create, and another client creates an object with that name. The object
// is neither adopted nor changed.

import { Failure } from "../../../../src/core/diagnostic.ts";
import { type TestWorld, USER_SCHEMA } from "../../../emulator/harness.ts";
import { crashingProcess } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import type { Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import { dialectPath } from "../../world/dialect.ts";
import { SETTLING_MS, tablesOf } from "../../world/stage.ts";
import { unmanagedChanges } from "../../world/unmanaged.ts";

interface Taking {
  /** The request before which the run crashes. */
  readonly of: string;
  /** Which of these requests. */
  readonly nth: number;
  take(world: TestWorld): Promise<{ readonly status: number }>;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const TAKINGS: Readonly<Record<string, Taking>> = {
  users: {
    of: "POST /api/2.0/preview/scim/v2/Users",
    nth: 0,
    take: (world) =>
      world.post("preview/scim/v2/Users", {
        schemas: [USER_SCHEMA],
        userName: "ada@example.com",
        displayName: "Another",
      }),
  },
  groups: {
    of: "POST /api/2.0/preview/scim/v2/Groups",
    nth: 1,
    take: async (world) => {
      const made = await world.post("groups/create", { group_name: "platform" });
      await world.post("groups/add-member", { parent_name: "platform", user_name: "stranger@example.com" });
      return made;
    },
  },
  pools: {
    of: "POST /api/2.0/instance-pools/create",
    nth: 1,
    take: (world) =>
      world.post("instance-pools/create", { instance_pool_name: "warm", node_type_id: "Standard_DS4_v2" }),
  },
  notebooks: {
    of: "POST /api/2.0/workspace/import",
    nth: 0,
    take: (world) =>
      world.post("workspace/import", {
        path: "/Shared/etl/nightly",
        format: "SOURCE",
        language: "PYTHON",
        content: base64("print('theirs')\n"),
      }),
  },
  files: {
    of: `POST /api/2.0/${dialectPath("fs/put")}`,
    nth: 0,
    take: (world) =>
      world.post(dialectPath("fs/put"), { path: "/init/install.sh", contents: base64("echo theirs\n") }),
  },
};

export const nameConflict: Suite = {
  name: "name-conflict",
  what: "a run crashes before its create is sent, and another client creates an object of that name",
  unit: "kinds",
  sample: 5,

  cases: async () => Object.keys(TAKINGS),

  async run(name) {
    const taking = TAKINGS[name];
    if (taking === undefined) throw new Error(`there is no case ${name}`);
    const { stage, points } = await faultFreeRun("create");
    const sends = points.flatMap(({ what, of }, at) => (what === "send" && of === taking.of ? [at] : []));
    const trial = await Trial.of(stage);
    try {
      const end = crashingProcess(sends[taking.nth]);
      await trial.apply(end.options, end);
      const { status } = await taking.take(trial.site.world);
      if (status >= 300) return [`the other client was refused: ${status}`];
      await trial.site.clock.advance(SETTLING_MS);
      const theirs = tablesOf(trial.site.world);
      const { failure, outcome } = await trial.apply();
      const codes = failure instanceof Failure ? failure.diagnostics.map(({ code }) => code) : [];
      return [
        ...(codes.includes("PLAN_COLLISION")
          ? []
          : [`nobody was told of the collision: ${codes} ${outcome?.changes.length}`]),
        ...unmanagedChanges(theirs, tablesOf(trial.site.world)),
      ];
    } finally {
      trial.close();
    }
  },
};
