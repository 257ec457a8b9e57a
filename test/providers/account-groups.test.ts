// Users in groups of the account: the plan refuses a new membership, and leaves the ones that exist alone.

import { expect, onTestFinished, test } from "vitest";
import { Failure } from "../../src/core/diagnostic.ts";
import { doing, Site } from "../engine/site.ts";

const SCIM = "preview/scim/v2";
const ADOPT = { adopt: true };

interface Start {
  readonly site: Site;
  readonly company: string;
  /** The names of the user's groups in the workspace. */
  readonly groupsOf: (user: string) => Promise<readonly string[]>;
}

/** A workspace with the group `company` of the account. */
async function start(): Promise<Start> {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  const { body } = await site.world.control("POST", "account-groups", { display_name: "company" });
  const groupsOf = async (user: string): Promise<readonly string[]> => {
    const all = (await site.world.get(`${SCIM}/Users`)).body.Resources as readonly Body[];
    const groups = all.find(({ userName }) => userName === user)?.groups ?? [];
    return groups.map(({ display }) => display).toSorted();
  };
  return { site, company: String((body as { readonly id: unknown }).id), groupsOf };
}

interface Body {
  readonly userName: string;
  readonly groups?: readonly { readonly display: string }[];
}

async function makeUser({ site }: Start, groups: readonly { readonly value: string }[] = []) {
  const user = { schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"], userName: "ada@example.com" };
  expect((await site.world.post(`${SCIM}/Users`, { ...user, groups })).status).toBe(201);
}

async function refusal({ site }: Start, spec: string) {
  const failure = await site
    .drive(site.process().apply(await site.spec(spec), ADOPT))
    .catch((problem: unknown) => problem);
  if (!(failure instanceof Failure)) throw new Error("the apply was not refused");
  return failure.diagnostics.map(({ code, message, at }) => ({ code, message, line: at?.line }));
}

const REFUSED = {
  code: "PLAN_UNMANAGEABLE",
  message: 'users.ada@example.com cannot be added to the group "company": it belongs to the account',
  line: 4,
};

test("a plan that creates a user in a group of the account is refused and creates nothing", async () => {
  const workspace = await start();
  const spec = "groups: { a: {} }\nusers:\n  ada@example.com:\n    groups: [a, company]\n";
  expect(await refusal(workspace, spec)).toEqual([REFUSED]);
  expect(workspace.site.writes).toEqual([]);
});

test("a plan that adds an existing user to a group of the account is refused and sends no write", async () => {
  const workspace = await start();
  await makeUser(workspace);
  const spec = "groups: { a: {} }\nusers:\n  ada@example.com:\n    groups: [a, company]\n";
  expect(await refusal(workspace, spec)).toEqual([REFUSED]);
  expect(workspace.site.writes).toEqual([]);
});

test("a user whose declared groups lack a group of the account stays in that group", async () => {
  const workspace = await start();
  const { site, groupsOf } = workspace;
  await makeUser(workspace, [{ value: workspace.company }]);
  const apply = async (groups: string) => {
    const spec = await site.spec(
      `groups: { a: {}, b: {} }\nusers: { ada@example.com: { groups: ${groups} } }\n`,
    );
    await site.drive(site.process().apply(spec, ADOPT));
    expect(doing(await site.drive(site.process().plan(spec)))).toEqual([]);
    return groupsOf("ada@example.com");
  };
  expect(await apply("[a]")).toEqual(["a", "company"]);
  expect(await apply("[b]")).toEqual(["b", "company"]);
  expect(await apply("[]")).toEqual(["company"]);
});
