// Names of users and groups that pass from one address to another while groups list them.

import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { doing, results, Site } from "../../engine/site.ts";
import { sampleOf } from "../../sample-size.ts";

const POLICY = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
const NAMES = ["a", "b", "c"] as const;

/** The name of each address, and the names that each list contains. */
interface Names {
  readonly users: readonly (string | undefined)[];
  readonly inner: readonly (string | undefined)[];
  readonly lists: readonly (readonly string[])[];
}

function yamlOf({ users, inner, lists }: Names): string {
  const user = (name: string): string => `${name}@example.com`;
  const section = (kind: string, lines: readonly string[]): string =>
    lines.length === 0 ? "" : `${kind}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const declared = (all: readonly (string | undefined)[]) =>
    all.flatMap((name, at) => (name === undefined ? [] : [{ name, at }]));
  const listed = (all: readonly (string | undefined)[], list: readonly string[]) =>
    list.filter((name) => all.includes(name));
  return [
    POLICY,
    section(
      "users",
      declared(users).map(({ name, at }) => `u${at}: { userName: ${user(name)} }`),
    ),
    section("groups", [
      ...declared(inner).map(({ name, at }) => `i${at}: { displayName: ${name} }`),
      ...lists.map((list, at) => {
        const members = `users: [${listed(users, list).map(user).join(", ")}], groups: [${listed(inner, list).join(", ")}]`;
        return `list${at}: { members: { ${members} } }`;
      }),
    ]),
  ].join("");
}

async function apply(site: Site, names: Names): Promise<void> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yamlOf(names))));
  expect(outcome.diagnostics).toEqual([]);
  expect(results(outcome).filter((one) => !one.startsWith("applied "))).toEqual([]);
}

/** Applies once; afterwards the next plan is empty without drift. */
async function converges(site: Site, names: Names): Promise<void> {
  await apply(site, names);
  const plan = await site.drive(site.process().plan(await site.spec(yamlOf(names))));
  expect(doing(plan)).toEqual([]);
  expect(plan.drift).toEqual([]);
}

test.each<readonly [string, Names, Names, string]>([
  [
    "deleted",
    { users: ["a", "b"], inner: [], lists: [["a"]] },
    { users: [undefined, "a"], inner: [], lists: [["a"]] },
    "groups.list0 lists it, and would lose it with the user of users.u0",
  ],
  [
    "replaced",
    { users: ["a", "b"], inner: [], lists: [["a"]] },
    { users: ["c", "a"], inner: [], lists: [["a"]] },
    "groups.list0 lists it, and would lose it with the user of users.u0",
  ],
  [
    "replaced, and the group lists its new name too",
    { users: ["a", "b"], inner: [], lists: [["a", "b"]] },
    { users: ["c", "a"], inner: [], lists: [["a", "c"]] },
    "users.u0 frees the name only after users.u1 has taken it",
  ],
])(
  "a name that a group lists before and after cannot pass to another user when its user is %s",
  async (_name, before, after, why) => {
    const site = await Site.start();
    onTestFinished(() => site.close());
    await apply(site, before);
    const spec = await site.spec(yamlOf(after));
    // A group that the plan leaves out would lose the member as well.
    for (const more of [{}, { only: (address: Address) => address.startsWith("users.") }]) {
      const plan = await site.drive(site.process().plan(spec, more));
      expect(plan.diagnostics).toMatchObject([
        {
          code: "PLAN_ALREADY_EXISTS",
          address: "users.u1",
          message: `user "a@example.com" already exists: ${why}`,
          hint: "choose another name for users.u1 first, and apply in two steps",
        },
      ]);
    }
    const [u0, u1] = after.users;
    const between = after.lists.map((list) => list.map((name) => (name === u1 ? "x" : name)));
    await converges(site, { users: [u0, "x"], inner: [], lists: between });
    await converges(site, after);
  },
);

const names = fc
  .shuffledSubarray([...NAMES, undefined], { minLength: 3, maxLength: 3 })
  .map((all): readonly (string | undefined)[] => all);
const worlds: fc.Arbitrary<Names> = fc.record({
  users: names,
  inner: names,
  lists: fc.array(fc.subarray([...NAMES]), { minLength: 2, maxLength: 2 }),
});

test("in one apply, any names of users and groups become any others, or the plan says that they cannot", async () => {
  await fc.assert(
    fc.asyncProperty(worlds, worlds, async (before, after) => {
      const site = await Site.start();
      try {
        await apply(site, before);
        const plan = await site.drive(site.process().plan(await site.spec(yamlOf(after))));
        const codes = new Set(plan.diagnostics.map(({ code }) => code));
        if (codes.size === 0) await converges(site, after);
        else expect([...codes]).toEqual(["PLAN_ALREADY_EXISTS"]);
      } finally {
        site.close();
      }
    }),
    { numRuns: sampleOf(60) },
  );
});

test("a group whose members left the spec has no drift after an apply of a user that joins it", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  const before = "groups: { g: { members: { users: [ada@x] } } }\nusers: { ada@x: {}, bo@x: {} }\n";
  await site.drive(site.process().apply(await site.spec(before)));
  const spec = await site.spec("groups: { g: {} }\nusers: { ada@x: {}, bo@x: { groups: [g] } }\n");
  const only = (address: Address): boolean => address === "users.bo@x";
  const { outcome } = await site.drive(site.process().apply(spec, { only }));
  expect(results(outcome)).toEqual(["applied update users.bo@x"]);
  const plan = await site.drive(site.process().plan(spec));
  expect([doing(plan), plan.drift]).toEqual([[], []]);
});
