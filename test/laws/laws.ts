// The laws: rules for every kind in the registry, from the first apply to the last destroy, in each dialect.

import { describe, expect, test } from "vitest";
import type { WriteOperation } from "../../src/api/contract/operations.ts";
import type { WriteInput } from "../../src/api/contract/reader.ts";
import { canonicalJson } from "../../src/core/digest.ts";
import { stringifyJson } from "../../src/core/exact-json.ts";
import { makePlan } from "../../src/planner/make-plan.ts";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import { crashingProcess } from "../engine/crashing.ts";
import { doing, type ProcessOptions, results, type Site } from "../engine/site.ts";
import { sampleFrom } from "../sample-size.ts";
import { databricksSamples } from "./databricks-samples.ts";
import { POLICY, siteOf } from "./sample-site.ts";
import { type Sample, samples } from "./samples.ts";

const SECRETS = { DB_PASSWORD: "canary-db-71c9", OTHER_PASSWORD: "canary-other-2f80" };

const EMPTY_ID = /"(?:\w+_)?id":\s*""/;

async function apply(site: Site, yaml: string): Promise<readonly string[]> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(POLICY + yaml)));
  expect(outcome.diagnostics).toEqual([]);
  return results(outcome);
}

async function planned(site: Site, yaml: string) {
  return site.drive(site.process().plan(await site.spec(POLICY + yaml)));
}

async function changeOutside(site: Site, sample: Sample): Promise<void> {
  const { outsideChange } = sample;
  if (outsideChange === undefined) throw new Error("no outsideChange in this sample");
  const { records } = await site.state();
  const find = (kind: string, name: string): string => {
    const found = [...records.values()].find(
      (one) => one.address.startsWith(`${kind}.`) && one.name === name,
    );
    if (found === undefined) throw new Error(`no record of ${kind}.${name}`);
    return found.id;
  };
  // A later moment than that of the last apply.
  await site.world.advance(60_000);
  const body = outsideChange.body(find) as WriteInput;
  await site.drive(site.process().client.writer.write(outsideChange.operation as WriteOperation, body));
}

/** The contents of the state's disk as one string. */
function kept(site: Site): string {
  const files = [...site.disk.names.keys()].map((path) => [path, site.disk.text(path)]);
  return JSON.stringify(files);
}

/** Declares the tests. `cloud`: a sample of them in the Databricks dialect on that cloud; `own`: only of kinds that no other cloud has. */
export function testLaws(cloud?: FieldDialect["cloud"], own = false): void {
  const all = cloud === undefined ? samples : [...sampleFrom(samples), ...sampleFrom(databricksSamples)];
  const here = all.filter((sample) => (own ? sample.cloud : (sample.cloud ?? cloud)) === cloud);
  describe.each(here.map((sample) => [sample.title ?? sample.kind, sample] as const))(
    "%s",
    (_title, sample) => {
      test("after an apply, plan and drift are empty and another apply sends no write", async () => {
        const site = await siteOf(sample, SECRETS, cloud);
        const done = await apply(site, sample.spec);
        expect(done.some((one) => one.startsWith(`applied create ${sample.kind}.`))).toBe(true);
        const plan = await planned(site, sample.spec);
        expect(doing(plan)).toEqual([]);
        expect(plan.drift).toEqual([]);
        const before = site.writes.length;
        await apply(site, sample.spec);
        expect(site.writes.slice(before)).toEqual([]);
      });

      test("answers to creations with empty IDs cause no request with one, and the next apply finds the objects", async () => {
        const site = await siteOf(sample, SECRETS, cloud);
        const spec = await site.spec(POLICY + sample.spec);
        const without: string[] = [];
        const transport: ProcessOptions["transport"] = async (request, send) => {
          const sent = new TextDecoder().decode(Buffer.from(request.body ?? ""));
          if (EMPTY_ID.test(sent) || /[?&]\w*id=(&|$)|\/(?=[/?]|$)/.test(request.path))
            without.push(`${request.method} ${request.path} ${sent}`);
          const answer = await send(request);
          if (request.method !== "POST") return answer;
          const body = new TextDecoder().decode(Buffer.from(answer.body));
          return { ...answer, body: body.replace(/("(?:\w+_)?id":\s*)(?:"[^"]*"|\d+)/g, '$1""') };
        };
        await site.drive(site.process({ transport }).apply(spec));
        expect(without).toEqual([]);
        // The kinds that others need come first.
        for (let round = 0; round < 2; round += 1) await site.drive(site.process().apply(spec));
        const plan = await planned(site, sample.spec);
        expect([doing(plan), plan.drift]).toEqual([[], []]);
      });

      test("a changed spec is applied in place and leaves nothing to do", async () => {
        const site = await siteOf(sample, SECRETS, cloud);
        await apply(site, sample.spec);
        const plan = await planned(site, sample.changed);
        expect(doing(plan)).not.toEqual([]);
        expect(plan.changes.filter((change) => change.action === "replace")).toEqual([]);
        await apply(site, sample.changed);
        expect(doing(await planned(site, sample.changed))).toEqual([]);
        await apply(site, sample.spec);
        expect(doing(await planned(site, sample.spec))).toEqual([]);
      });

      test.skipIf(sample.outsideChange === undefined)(
        "a change outside the spec is drift, and the next apply reverts it",
        async () => {
          const site = await siteOf(sample, SECRETS, cloud);
          await apply(site, sample.spec);
          await changeOutside(site, sample);
          const plan = await planned(site, sample.spec);
          expect(plan.drift.map((one) => one.kind)).toContain(sample.kind);
          expect(doing(plan)).not.toEqual([]);
          for (const change of plan.changes)
            if (change.action === "update") expect(change.cause).toBe("drift");
          await apply(site, sample.spec);
          const after = await planned(site, sample.spec);
          expect(doing(after)).toEqual([]);
          expect(after.drift).toEqual([]);
        },
      );

      test("the same input gives the same plan, byte for byte, whatever the order of what was read", async () => {
        const site = await siteOf(sample, SECRETS, cloud);
        await apply(site, sample.spec);
        const spec = await site.spec(POLICY + sample.changed);
        const { input } = await site.drive(site.process().look(spec, await site.state()));
        const turned = new Map(
          [...input.live]
            .reverse()
            .map(
              ([kind, found]) =>
                [kind, found.readable ? { ...found, objects: [...found.objects].reverse() } : found] as const,
            ),
        );
        const again = makePlan({ ...input, live: turned });
        expect(stringifyJson(makePlan(input))).toBe(stringifyJson(makePlan(input)));
        expect(stringifyJson(again.changes)).toBe(stringifyJson(makePlan(input).changes));
      });

      test("undeclared objects do not change by a byte", async () => {
        const site = await siteOf(sample, SECRETS, cloud);
        const strangers = await stranded(site);
        const before = await strangers();
        await apply(site, sample.spec);
        await apply(site, sample.changed);
        await apply(site, "users: {}\n");
        expect(await strangers()).toBe(before);
      });

      test("applying an empty spec leaves no record and no managed object", async () => {
        const site = await siteOf(sample, SECRETS, cloud);
        await apply(site, sample.spec);
        await apply(site, "users: {}\n");
        expect([...(await site.state()).records.keys()]).toEqual([]);
        const again = await planned(site, sample.spec);
        expect(doing(again).filter((one) => !one.startsWith("create "))).toEqual([]);
      });

      test("no secret is on the disk or in a plan, in any encoding", async () => {
        const site = await siteOf(sample, SECRETS, cloud);
        const plan = await planned(site, sample.spec);
        await apply(site, sample.spec);
        const changed = await planned(site, sample.changed);
        await apply(site, sample.changed);
        const text = [kept(site), stringifyJson(plan), stringifyJson(changed)].join("\n");
        for (const canary of [...Object.values(SECRETS), ...(sample.secretFiles ?? [])]) {
          for (const form of ["utf8", "base64", "base64url", "hex"] as const) {
            expect(text).not.toContain(form === "utf8" ? canary.trim() : Buffer.from(canary).toString(form));
          }
        }
      });

      test("a stop at any step, then another apply: the same world, without duplicates or open intents", async () => {
        const calm = await siteOf(sample, SECRETS, cloud);
        const whole = crashingProcess();
        await calm.drive(
          calm.process({ ...whole.options, parallelism: 1 }).apply(await calm.spec(POLICY + sample.spec)),
        );
        const wanted = await world(calm);
        const points = whole.points.length;
        expect(points).toBeGreaterThan(4);
        const step = Math.max(1, Math.floor(points / 12));
        for (let at = 0; at < points; at += step) {
          const site = await siteOf(sample, SECRETS, cloud);
          const dying = crashingProcess(at);
          const run = site
            .process({ ...dying.options, parallelism: 1, pid: 2 })
            .apply(await site.spec(POLICY + sample.spec));
          run.catch(() => undefined);
          await site.drive(Promise.race([run, dying.stopped]));
          await apply(site, sample.spec);
          expect(doing(await planned(site, sample.spec)), `stopped at ${whole.points[at]}`).toEqual([]);
          expect((await site.state()).open).toEqual([]);
          expect(await world(site), `stopped at ${whole.points[at]}`).toBe(wanted);
        }
      });
    },
  );
}

/** The number of live objects of each kind, by name; IDs and times differ from run to run. */
async function world(site: Site): Promise<string> {
  await site.world.advance(600_000);
  const spec = await site.spec(`${POLICY}users: {}\n`);
  const { live } = await site.drive(site.process().look(spec, await site.state()));
  const names = [...live].map(
    ([kind, found]) =>
      [kind, found.readable ? found.objects.map((one) => one.name).sort() : "unreadable"] as const,
  );
  return canonicalJson(Object.fromEntries(names));
}

/** Creates unmanaged objects of several kinds; returns a function that reads them completely. */
async function stranded(site: Site): Promise<() => Promise<string>> {
  const { world: w } = site;
  await w.post("preview/scim/v2/Users", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    userName: "stranger@example.com",
  });
  await w.post("groups/create", { group_name: "strangers" });
  await w.post("secrets/scopes/create", { scope: "foreign" });
  await w.post("secrets/put", { scope: "foreign", key: "k", string_value: "v" });
  await w.post("instance-pools/create", { instance_pool_name: "foreign", node_type_id: "Standard_DS3_v2" });
  await w.post("jobs/create", {
    name: "foreign",
    existing_cluster_id: "x",
    notebook_task: { notebook_path: "/Shared/x" },
  });
  const parts: readonly [
    string,
    Record<string, string>,
    string,
    (one: Record<string, unknown>) => boolean,
  ][] = [
    ["preview/scim/v2/Users", {}, "Resources", (one) => one.userName === "stranger@example.com"],
    ["preview/scim/v2/Groups", {}, "Resources", (one) => one.displayName === "strangers"],
    ["secrets/list", { scope: "foreign" }, "secrets", () => true],
    ["secrets/acls/list", { scope: "foreign" }, "items", () => true],
    ["instance-pools/list", {}, "instance_pools", (one) => one.instance_pool_name === "foreign"],
    ["jobs/list", {}, "jobs", (one) => (one.settings as { name?: string }).name === "foreign"],
  ];
  return async () => {
    const found: unknown[] = [];
    for (const [path, query, key, ours] of parts) {
      const { body } = await w.get(path, query);
      found.push([
        path,
        (body[key] ?? []).filter(ours).map(({ stats: _, ...rest }: Record<string, unknown>) => rest),
      ]);
    }
    return stringifyJson(found);
  };
}
