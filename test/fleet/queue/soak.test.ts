// A few rounds of the soak that `npm run fleet -- --soak` runs for days of a driven clock.

import { afterAll, describe, expect, test } from "vitest";
import { soak } from "../../../bench/fleet/soak.ts";
import { server } from "./fleet-server.ts";

afterAll(() => server?.stop());

describe.skipIf(server === undefined)("a fleet over time", () => {
  test("loses no result while the database restarts, hosts fail, and a newer version replaces the workers", async () => {
    const { samples, ...figures } = await soak({
      schema: "soak",
      rounds: 7,
      workspaces: 5,
      restartEvery: 5,
      upgradeEvery: 3,
      sampleEvery: 7,
    });
    expect(figures).toEqual({
      runs: 35,
      lost: 0,
      twiceAtOnce: 0,
      restarts: 1,
      upgrades: 2,
      versions: ["0.1.0", "0.1.1", "0.1.2"],
    });
    expect(samples.map(({ results }) => results)).toEqual([35]);
  }, 240_000);
});
