// Nestings of groups in the workspace that oppose declared ones: ended first where the spec ends them, else an error of the plan.

import { expect, onTestFinished, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { doing, results, Site } from "../../engine/site.ts";

/** A site with these groups, and the IDs of the groups. */
async function siteWith(groups: string) {
  const site = await Site.start();
  onTestFinished(() => site.close());
  const spec = (yaml: string) => site.spec(`policy: { on_immutable_change: replace }\ngroups: { ${yaml} }\n`);
  await site.drive(site.process().apply(await spec(groups)));
  const { records } = await site.state();
  return {
    site,
    spec,
    idOf: (key: string) => records.get(`groups.${key}` as Address)?.id,
    nest: async (inner: string, outer: string) => {
      const { status } = await site.world.post("groups/add-member", {
        group_name: inner,
        parent_name: outer,
      });
      expect(status).toBe(200);
    },
    planOf: async (groups: string) => site.drive(site.process().plan(await spec(groups))),
  };
}

const contains = (...names: string[]): string => `{ members: { groups: [${names.join(", ")}] } }`;

test("a nesting is added after the update that ends the opposite one, also through unchanged groups", async () => {
  const { site, spec, idOf } = await siteWith(
    `a: ${contains("m")}, m: ${contains("x")}, x: ${contains("b")}, b: ${contains()}`,
  );
  const slow = site.process({
    transport: async (request, send) => {
      if (request.method === "PATCH" && request.path.endsWith(`/${idOf("x")}`)) await site.clock.sleep(1000);
      return send(request);
    },
  });
  const { outcome } = await site.drive(
    slow.apply(await spec(`a: ${contains("m")}, m: ${contains("x")}, x: ${contains()}, b: ${contains("a")}`)),
  );
  expect(results(outcome)).toEqual(["applied update groups.x", "applied update groups.b"]);
});

test("a nesting that the spec does not end is an error with the whole chain", async () => {
  const { site, nest, planOf } = await siteWith("a: {}, b: {}");
  await site.world.post("groups/create", { group_name: "Other" });
  await nest("Other", "a");
  await nest("b", "Other");
  const { diagnostics } = await planOf(`a: {}, b: ${contains("a")}`);
  expect(diagnostics).toMatchObject([
    {
      severity: "error",
      code: "SPEC_CYCLE",
      message: 'groups.b cannot contain the group "a", which contains it in the workspace: a -> Other -> b',
      address: "groups.b",
      at: { line: 2 },
      hint: "remove one of these memberships from the workspace or the spec",
    },
  ]);
});

test("a nesting is an error if the list of groups is not declared, and none if it is", async () => {
  const { nest, planOf } = await siteWith("a: {}, b: {}");
  await nest("b", "a");
  const codes = async (groups: string) => (await planOf(groups)).diagnostics.map(({ code }) => code);
  expect(await codes(`a: { members: { users: [] } }, b: ${contains("a")}`)).toEqual(["SPEC_CYCLE"]);
  expect(await codes(`a: { entitlements: [] }, b: ${contains("a")}`)).toEqual(["SPEC_CYCLE"]);
  const ending = `a: ${contains()}, b: ${contains("a")}`;
  expect(await codes(ending)).toEqual([]);
  expect(doing(await planOf(ending))).toEqual(["update groups.a", "update groups.b"]);
});

test("a group that the spec removes from the state keeps its nestings", async () => {
  const { site, nest } = await siteWith("a: {}, b: {}");
  await nest("b", "a");
  const planned = await site.drive(
    site
      .process()
      .plan(
        await site.spec(
          `removed: [{ address: groups.a, destroy: false }]\ngroups: { b: ${contains("a")} }\n`,
        ),
      ),
  );
  expect(planned.diagnostics.map(({ code }) => code)).toEqual(["SPEC_CYCLE"]);
});

test("a replaced or deleted group has no nesting that a plan must fear", async () => {
  const { nest, planOf } = await siteWith("a: {}, b: {}, c: {}");
  await nest("b", "a");
  await nest("b", "c");
  const replaced = await planOf(`a: { displayName: a2 }, b: ${contains("a2")}, c: {}`);
  expect(replaced.diagnostics).toEqual([]);
  const created = await planOf(`a: {}, b: {}, c: {}, new: ${contains("a", "b")}`);
  expect(created.diagnostics).toEqual([]);
});

test.each([
  { ends: "deletion", upper: "a group without declared members", group: "a", e: "", verb: "DELETE" },
  { ends: "deletion", upper: "an unmanaged group", group: "Other", e: "", verb: "DELETE" },
  {
    ends: "update",
    upper: "a group without declared members",
    group: "a",
    e: `, e: ${contains()}`,
    verb: "PATCH",
  },
])(
  "a nesting is added after the $ends that ends the opposite one below $upper",
  async ({ group, e, verb }) => {
    const { site, spec, idOf, nest } = await siteWith(`a: {}, e: ${contains("b")}, b: ${contains()}`);
    await site.world.post("groups/create", { group_name: "Other" });
    await nest("e", group);
    const slow = site.process({
      transport: async (request, send) => {
        if (request.method === verb && request.path.endsWith(`/${idOf("e")}`)) await site.clock.sleep(1000);
        return send(request);
      },
    });
    const { outcome } = await site.drive(slow.apply(await spec(`a: {}, b: ${contains(group)}${e}`)));
    const ended = verb === "DELETE" ? "applied delete groups.e" : "applied update groups.e";
    expect(results(outcome)).toEqual([ended, "applied update groups.b"]);
  },
);

test("a deletion that waits for a new nesting itself does not delay it", async () => {
  const { nest, planOf } = await siteWith(
    `w: {}, h: ${contains("e")}, e: ${contains("z")}, z: ${contains()}, a: ${contains()}, b: ${contains()}`,
  );
  await nest("e", "w");
  const planned = await planOf(
    `w: {}, h: ${contains("b")}, b: ${contains("a")}, a: ${contains("z")}, z: ${contains("w")}`,
  );
  expect(planned.diagnostics).toEqual([]);
  expect(doing(planned)).toEqual([
    "update groups.z",
    "update groups.a",
    "update groups.b",
    "update groups.h",
    "delete groups.e",
  ]);
});
