// Facts of a plan are read at the same time, and a failure does not depend on which request ends first.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Reader } from "../../../src/api/contract/reader.ts";
import { keyedDigest } from "../../../src/core/digest.ts";
import { draftPlan } from "../../../src/planner/make-plan.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { gatherFacts } from "../../../src/workflow/plan/sources.ts";
import { KEY, Site } from "../../engine/site.ts";

const CLUSTER =
  "clusters: { k: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 } }\n";

/** The facts of a plan that `reader` answers. */
function gathering(input: PlanInput, reader: Reader): ReturnType<typeof gatherFacts> {
  return gatherFacts(draftPlan(input), { facts: {}, callerEntries: [] }, {
    reader,
    state: { ...input.state, caller: { name: "ada@example.com", credential: keyedDigest(KEY, "embedded") } },
    spec: input.spec,
    key: KEY,
    recordsCaller: true,
    settings: { parallelism: 5, endpoint: { embedded: true, identity: "embedded" } },
  } as unknown as Parameters<typeof gatherFacts>[2]);
}

test("of two requests that fail, the failure of the first in order is reported, whichever ends first", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  await site.drive(site.process().apply(await site.spec(CLUSTER)));
  const spec = await site.spec("clusters: {}\n");
  const state = await site.state();
  const { input } = await site.drive(site.process().look(spec, state));
  for (const slow of ["jobs/list", "jobs/runs/list"]) {
    const ended: string[] = [];
    const gathered = gathering(input, failing(slow, ended));
    await expect(gathered).rejects.toThrow("no jobs/list");
    expect(ended.at(-1)).toBe(slow);
  }
});

test("of two contents that cannot be read, the failure of the first in order is reported, whichever ends first", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  const yaml = "notebooks: { /Shared/a: { source: n.py }, /Shared/b: { source: n.py } }\n";
  writeFileSync(join(site.folder, "n.py"), "print(1)\n");
  await site.drive(site.process().apply(await site.spec(yaml)));
  writeFileSync(join(site.folder, "n.py"), "print(2)\n");
  const spec = await site.spec(yaml);
  const state = await site.state();
  const { input } = await site.drive(site.process().look(spec, state));
  for (const slow of ["/Shared/a", "/Shared/b"]) {
    const ended: string[] = [];
    const gathered = gathering(
      input,
      failing(slow, ended, (_operation, { path }) => String(path)),
    );
    await expect(gathered).rejects.toThrow("no /Shared/a");
    expect(ended.at(-1)).toBe(slow);
  }
});

/** Refuses every request, and one of them only after the other. */
function failing(
  slow: string,
  ended: string[],
  nameOf = (operation: string, _input: { readonly path?: unknown }): string => operation,
): Reader {
  const other = Promise.withResolvers<void>();
  const read = async (operation: string, input: { readonly path?: unknown } = {}): Promise<never> => {
    const name = nameOf(operation, input);
    if (name === slow) await other.promise;
    else other.resolve();
    ended.push(name);
    throw new Error(`no ${name}`);
  };
  return { read } as Reader;
}
