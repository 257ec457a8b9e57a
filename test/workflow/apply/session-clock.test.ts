import { join } from "node:path";
import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { registry } from "../../../src/providers/index.ts";
import { loadSpec } from "../../../src/spec/load-spec.ts";
import { writeEntries } from "../../../src/workflow/session/open-state.ts";
import { applyUnattended } from "../../../src/workflow/spec-tests/live-objects.ts";
import { openSandbox } from "../../../src/workflow/spec-tests/sandbox.ts";
import { folderWith } from "../../cli/program.ts";

test("an apply ends acknowledgements by the clock of its session, as it dates everything else", async () => {
  const folder = folderWith("groups: { a: {}, b: {} }\n");
  const file = join(folder, "workspace.yaml");
  const setup = { dialect: "contract", cloud: "azure", env: {}, ids: new Map(), timeoutMs: 1000 } as const;
  const { signal } = new AbortController();
  const sandbox = await openSandbox(setup, folder, signal);
  try {
    const { spec } = await loadSpec({ file, env: {}, registry, secrets: "skip", keyed: () => "" });
    if (spec === undefined) throw new Error("the spec is not valid");
    const session = await sandbox.session(spec);
    const address = "groups.a" as Address;
    const [at, until] = [sandbox.clock.now(), sandbox.clock.now() + 3_600_000];
    const acknowledgement = { address, differences: ["d"], until, reason: "test", by: "ada", at };
    await writeEntries(session.store, { timeoutMs: 0 }, () => [{ type: "acknowledged", acknowledgement }]);
    await applyUnattended(session, { only: ["groups.b"] }, signal);
    const { state } = await session.readState();
    expect([...state.records.keys(), ...(state.acknowledged ?? []).map(({ reason }) => reason)]).toEqual([
      "groups.b",
      "test",
    ]);
  } finally {
    await sandbox.close();
  }
});
