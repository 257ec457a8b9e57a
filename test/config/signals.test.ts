// The first signal asks, the second ends; outside of work the first one ends, too.

import { describe, expect, test } from "vitest";
import { Signals } from "../../src/config/streams.ts";

describe("signals", () => {
  test("while work runs the first only asks it to stop, and says so once", async () => {
    const said: string[] = [];
    const signals = new Signals((text) => said.push(text));
    const aborted = await signals.during(async (signal) => {
      signals.receive("SIGINT");
      return signal.aborted;
    });
    expect(aborted).toBe(true);
    expect(signals.exitCode).toBe(130);
    expect(said).toHaveLength(1);
  });

  test("the second ends the run with its own code", async () => {
    const signals = new Signals(() => undefined);
    void signals.during(() => new Promise(() => undefined));
    signals.receive("SIGINT");
    signals.receive("SIGTERM");
    expect(await signals.ended).toBe(143);
  });

  test("outside of work the first one ends the run", async () => {
    const signals = new Signals(() => undefined);
    await signals.during(async () => undefined);
    signals.receive("SIGTERM");
    expect(await signals.ended).toBe(143);
  });
});
