// For each kind that can be replaced: the plan names the fields that this program does not know and the new object will lack.

import { expect, onTestFinished, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../../../src/api/http/transport.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { registry } from "../../../src/providers/index.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";
import { doing, type Send, Site } from "../../engine/site.ts";
import { POLICY } from "../sample-site.ts";

type World = Site["world"];
type Body = Readonly<Record<string, unknown>>;

interface Case {
  readonly cloud?: "azure" | "aws" | "gcp";
  readonly make: (world: World) => Promise<unknown>;
  /** What the service answers instead. */
  readonly answer?: (path: string, body: Body) => Body;
  readonly before: string;
  readonly after: string;
  /** The sentence of the plan; absent if the program knows all fields. */
  readonly told?: string;
  /** The sentence about known fields that the spec does not set. */
  readonly decided?: string;
}

const post = async (world: World, path: string, body: Body): Promise<void> => {
  const { status, body: answer } = await world.post(path, body);
  if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
};

const pool = (fields: Body) => (world: World) =>
  post(world, "instance-pools/create", {
    instance_pool_name: "warm",
    node_type_id: "Standard_DS3_v2",
    custom_tags: { team: "data" },
    ...fields,
  });
const poolSpec = (type: string): string =>
  `pools:\n  warm: { node_type_id: ${type}, custom_tags: { team: data }, lifecycle: { on_immutable_change: replace } }\n`;
const [before, after] = ["Standard_DS3_v2", "Standard_DS4_v2"].map(poolSpec) as [string, string];

const user = (world: World) =>
  post(world, "preview/scim/v2/Users", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    userName: "ada@example.com",
    displayName: "Countess",
    roles: [{ value: "arn:aws:iam::1:instance-profile/p" }],
  });
const userSpec = (name: string): string =>
  `users:\n  ada: { userName: ${name}, lifecycle: { on_immutable_change: replace } }\n`;
const users = {
  make: user,
  before: userSpec("ada@example.com"),
  after: userSpec("countess@example.com"),
  told: "the new user does not get fields that this program does not know: roles",
  decided: decided("user", "displayName"),
};

const groupSpec = (name: string): string =>
  `groups:\n  data: { displayName: ${name}, lifecycle: { on_immutable_change: replace } }\n`;
const scopeSpec = (fields: string): string =>
  `scopes:\n  etl: { ${fields}lifecycle: { on_immutable_change: replace } }\n`;

function decided(what: string, names: string): string {
  return `the service chooses new values for fields of the ${what} that the spec does not set: ${names}`;
}

const cases: Readonly<Record<string, Case>> = {
  "pools in databricks": {
    cloud: "azure",
    make: pool({
      preloaded_docker_images: [{ url: "registry.example.com/image", basic_auth: { password: "s3cret" } }],
      azure_attributes: {
        availability: "SPOT_AZURE",
        spot_bid_max_price: 1.5,
        log_analytics_info: { a: "b" },
      },
      some_list: [],
    }),
    before,
    after,
    told: "the new pool does not get fields that this program does not know: azure_attributes.log_analytics_info and preloaded_docker_images",
    decided: decided("pool", "azure_attributes"),
  },
  "pools in databricks with known fields": {
    cloud: "azure",
    make: pool({ disk_spec: { disk_count: 1 }, enable_elastic_disk: true }),
    before,
    after,
    decided: decided("pool", "disk_spec"),
  },
  "pools in databricks with fields that only the service has": {
    cloud: "azure",
    make: pool({ idle_instance_autotermination_minutes: 7, enable_elastic_disk: false }),
    before,
    after,
    decided: decided("pool", "idle_instance_autotermination_minutes and enable_elastic_disk"),
  },
  "pools in the contract": { make: pool({}), before, after },
  "users in databricks": { cloud: "aws", ...users },
  "users in the contract": users,
  "users with an unknown member of an address": {
    ...users,
    answer: (path, body) =>
      path.includes("scim/v2/Users") ? withDisplay(body, (one) => one.userName === "ada@example.com") : body,
    told: "the new user does not get fields that this program does not know: emails.display and roles",
  },
  "groups in the contract": {
    make: (world) =>
      post(world, "preview/scim/v2/Groups", {
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
        displayName: "data",
        externalId: "x-1",
        entitlements: [{ value: "allow-cluster-create" }],
        roles: [{ value: "arn:aws:iam::1:instance-profile/p" }],
      }),
    before: groupSpec("data"),
    after: groupSpec("data-2"),
    told: "the new group does not get fields that this program does not know: externalId and roles",
    decided: decided("group", "entitlements"),
  },
  "scopes in databricks": {
    cloud: "azure",
    make: (world) => post(world, "secrets/scopes/create", { scope: "etl" }),
    answer: (path, body) =>
      path.includes("secrets/scopes/list")
        ? { scopes: (body.scopes as readonly Body[]).map((one) => ({ ...one, network: { a: "b" } })) }
        : body,
    before: scopeSpec(""),
    after: scopeSpec("initial_manage_principal: users, "),
    told: "the new scope does not get fields that this program does not know: network",
  },
  "scopes in the contract": {
    make: (world) => post(world, "secrets/scopes/create", { scope: "etl" }),
    before: scopeSpec(""),
    after: scopeSpec("initial_manage_principal: users, "),
  },
};

/** A list of users in which the addresses of one have a field more. */
function withDisplay(body: Body, is: (user: Body) => boolean): Body {
  const shown = (one: Body): Body =>
    is(one) && Array.isArray(one.emails)
      ? { ...one, emails: one.emails.map((mail: Body) => ({ ...mail, display: "Ada" })) }
      : one;
  return Array.isArray(body.Resources) ? { ...body, Resources: body.Resources.map(shown) } : shown(body);
}

async function start({ cloud, make }: Case): Promise<Site> {
  const site = await Site.start(cloud);
  onTestFinished(() => site.close());
  await make(site.world);
  return site;
}

const through =
  ({ answer }: Case) =>
  async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    const response = await send(request);
    if (answer === undefined || response.status !== 200 || typeof response.body !== "string") return response;
    return { ...response, body: JSON.stringify(answer(request.path, JSON.parse(response.body))) };
  };

test.each(Object.entries(cases))(
  "a replacement names the fields that the new object lacks: %s",
  async (_name, one) => {
    const site = await start(one);
    const process = () => site.process({ transport: through(one) });
    await site.drive(process().apply(await site.spec(POLICY + one.before), { adopt: true }));
    const plan = await site.drive(process().plan(await site.spec(POLICY + one.after)));
    expect(doing(plan)).toEqual([expect.stringMatching(/^replace /)]);
    expect(toldOf(plan.changes)).toEqual([one.decided ?? [], one.told ?? []].flat());
    expect(JSON.stringify(plan)).not.toContain("s3cret");
  },
);

const toldOf = (changes: readonly Change[]): readonly string[] =>
  changes
    .flatMap(({ consequences }) => consequences)
    .filter((told) => /does not know|chooses new values/.test(told));

test("every kind of the contract with a field that replaces the object has a case in each dialect", () => {
  const covered = new Set(Object.keys(cases));
  const missing = (["contract", "databricks"] as const).flatMap((dialect) =>
    planningRegistryIn(registry, { dialect })
      .kinds.filter(({ dialect: only }) => only === undefined)
      .filter(({ fields }) => Object.values(fields).some(({ onChange }) => onChange === "replace"))
      .map(({ kind }) => `${kind} in ${dialect === "contract" ? "the contract" : dialect}`)
      .filter((name) => !covered.has(name)),
  );
  expect(missing).toEqual([]);
});

test("the names of unknown fields are in neither the state nor the drift of a plan", async () => {
  const one = cases["pools in databricks"] as Case;
  const site = await start(one);
  const spec = await site.spec(POLICY + one.before);
  await site.drive(site.process().apply(spec, { adopt: true }));
  const [live] = (await site.world.get("instance-pools/list")).body.instance_pools as readonly Body[];
  await post(site.world, "instance-pools/edit", { ...live, max_capacity: 9 });
  const plan = await site.drive(site.process().plan(spec));
  expect(plan.drift.map(({ address }) => address)).toEqual(["pools.warm"]);
  expect(JSON.stringify(plan)).not.toContain("preloaded_docker_images");
  expect(JSON.stringify([...(await site.state()).records.values()])).not.toContain("preloaded_docker_images");
});
