// Answers to creations with the ID of another object, as from a proxy that repeats an earlier answer.

import { expect, onTestFinished, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { ProcessOptions } from "./site.ts";
import { doing, results, Site } from "./site.ts";

const CLUSTER = "spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 1";
const KINDS = [
  ["jobs", `new_cluster: { ${CLUSTER} }, notebook_task: { notebook_path: /NAME }`],
  ["clusters", `${CLUSTER}, pinned: true, run_state: TERMINATED, custom_tags: { of: NAME }`],
  ["pools", "node_type_id: Standard_DS3_v2, access: { users: CAN_ATTACH_TO }"],
  ["warehouses", "cluster_size: Small, run_state: STOPPED"],
  ["global_init_scripts", "script: echo NAME"],
] as const;

test.each(KINDS)(
  "%s: neither a managed nor an unmanaged object with that ID is changed",
  async (kind, fields) => {
    const specOf = (...names: readonly string[]) =>
      `policy: { max_deletes: 100% }\n${kind}:\n${names.map((name) => `  ${name}: { ${fields.replace("NAME", name)} }\n`).join("")}`;
    for (const isManaged of [true, false]) {
      const site = await Site.start("azure");
      onTestFinished(() => site.close());
      const apply = async (yaml: string, transport?: ProcessOptions["transport"]) =>
        (await site.drive(site.process({ ...(transport && { transport }) }).apply(await site.spec(yaml))))
          .outcome;
      await apply(specOf("victim"));
      const id = String((await site.state()).records.get(`${kind}.victim` as Address)?.id);
      if (!isManaged) site.disk.names.clear();
      const before = site.writes.length;
      const wanted = isManaged ? specOf("victim", "other") : specOf("other");
      let answered = 0;
      await apply(wanted, async (request, send) => {
        const answer = await send(request);
        if (request.method !== "POST" || answered > 0) return answer;
        answered += 1;
        const body = new TextDecoder().decode(Buffer.from(answer.body));
        return {
          ...answer,
          body: body.replace(/("(?:\w+_)?id":\s*)(?:"[^"]*"|\d+)/, `$1${JSON.stringify(id)}`),
        };
      });
      expect(site.writes.slice(before)).toHaveLength(1);
      const next = await apply(wanted);
      expect(results(next).filter((result) => !result.startsWith("applied"))).toEqual([]);
      expect(doing(await site.drive(site.process().plan(await site.spec(wanted))))).toEqual([]);
      const ids = [...(await site.state()).records.values()].map((record) => String(record.id));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.includes(id)).toBe(isManaged);
    }
  },
);
