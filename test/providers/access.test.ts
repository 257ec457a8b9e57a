import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Reader } from "../../src/api/contract/reader.ts";
import { remoteId } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import { Refused } from "../../src/core/request-failure.ts";
import { lookUp } from "../../src/engine/observe/list-kinds.ts";
import { draftPlan, missingFacts } from "../../src/planner/make-plan.ts";
import { readAccess } from "../../src/providers/access/access-list.ts";
import { catalogs, registry } from "../../src/providers/index.ts";
import type { Values } from "../../src/resource/field-schema.ts";
import { doing, results, Site } from "../engine/site.ts";

let site: Site;
beforeEach(async () => {
  site = await Site.start("azure");
  onTestFinished(() => site.close());
});

const JOB = `new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }, notebook_task: { notebook_path: /n }`;
const PEOPLE = "users: { ada@example.com: {}, bo@example.com: {} }\ngroups: { data: {} }\n";
const withJob = (access: string): string => `${PEOPLE}jobs: { nightly: { ${JOB}, ${access} } }\n`;

const apply = async (yaml: string) => {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
};
const plan = async (yaml: string) => site.drive(site.process().plan(await site.spec(yaml)));

async function idOf(address: string): Promise<string> {
  const record = [...(await site.state()).records.values()].find((one) => one.address === address);
  return String(record?.id);
}

async function listOf(address: string, type = "jobs"): Promise<Record<string, string>> {
  const { body } = await site.world.get(`permissions/${type}/${await idOf(address)}`);
  return Object.fromEntries(
    body.access_control_list.flatMap(
      (one: {
        user_name?: string;
        group_name?: string;
        all_permissions: { permission_level: string; inherited: boolean }[];
      }) =>
        one.all_permissions
          .filter(({ inherited }) => !inherited)
          .map(({ permission_level }) => [one.user_name ?? one.group_name, permission_level]),
    ),
  );
}

const grant = async (address: string, access_control_list: object[], type = "jobs") =>
  site.world.patch(`permissions/${type}/${await idOf(address)}`, { access_control_list });

describe("the access list of a job", () => {
  test("keeps the owner that the spec does not name, and has the entries of the spec", async () => {
    await apply(withJob("access: { data: CAN_MANAGE_RUN, ada@example.com: CAN_VIEW }"));
    expect(await listOf("jobs.nightly")).toEqual({
      "admin@example.com": "IS_OWNER",
      data: "CAN_MANAGE_RUN",
      "ada@example.com": "CAN_VIEW",
    });
  });

  test("shows an entry of others as drift of the severity security, and removes it entry by entry", async () => {
    const yaml = withJob("access: { data: CAN_VIEW }");
    await apply(yaml);
    await grant("jobs.nightly", [{ user_name: "bo@example.com", permission_level: "CAN_MANAGE" }]);
    const drifted = await plan(yaml);
    expect(drifted.drift.map(({ address, diffs }) => [address, diffs[0]?.path])).toEqual([
      ["jobs.nightly", ["access", "bo@example.com"]],
    ]);
    const [change] = drifted.changes.filter(({ action }) => action === "update");
    expect(change).toMatchObject({
      cause: "drift",
      diffs: [{ path: ["access", "bo@example.com"], before: "CAN_MANAGE", cause: "drift" }],
      steps: [{ operation: "access", detail: { names: ["bo@example.com"] } }],
    });
    await apply(yaml);
    expect(await listOf("jobs.nightly")).toEqual({ "admin@example.com": "IS_OWNER", data: "CAN_VIEW" });
  });

  test("is not written if an entry appears after the plan", async () => {
    await apply(withJob("access: { data: CAN_VIEW }"));
    const process = site.process({
      onPlan: () =>
        void grant("jobs.nightly", [{ user_name: "bo@example.com", permission_level: "CAN_VIEW" }]),
    });
    const spec = await site.spec(withJob("access: { data: CAN_MANAGE }"));
    const { outcome } = await site.drive(process.apply(spec));
    expect(results(outcome)).toEqual(["skipped update jobs.nightly"]);
    expect(await listOf("jobs.nightly")).toEqual({
      "admin@example.com": "IS_OWNER",
      data: "CAN_VIEW",
      "bo@example.com": "CAN_VIEW",
    });
  });

  test("leaves nothing to do if it gives the owner a level, or spells a user in another case", async () => {
    const yaml = withJob("access: { admin@example.com: CAN_VIEW, ADA@example.com: CAN_VIEW }");
    await apply(yaml);
    expect(await listOf("jobs.nightly")).toEqual({
      "admin@example.com": "IS_OWNER",
      "ada@example.com": "CAN_VIEW",
    });
    expect(doing(await plan(yaml))).toEqual([]);
  });

  test("passes the ownership on, and the caller keeps the right to manage the job", async () => {
    await apply(withJob("access: { data: CAN_VIEW }"));
    const yaml = withJob("owner: ada@example.com, access: { data: CAN_VIEW }");
    const [change] = (await plan(yaml)).changes.filter(({ action }) => action === "update");
    expect(change?.consequences).toContain("admin@example.com no longer owns the job");
    await apply(yaml);
    expect(await listOf("jobs.nightly")).toEqual({
      "ada@example.com": "IS_OWNER",
      data: "CAN_VIEW",
      "admin@example.com": "CAN_MANAGE",
    });
    const after = await plan(yaml);
    expect([doing(after), after.drift]).toEqual([[], []]);
  });

  test("is not read where the spec does not declare it", async () => {
    await apply(withJob("max_concurrent_runs: 2"));
    site.reads.length = 0;
    await plan(withJob("max_concurrent_runs: 2"));
    expect(site.reads.filter((read) => read.includes("permissions"))).toEqual([]);
  });

  test.each([
    ["access: { admins: CAN_VIEW }", "admins manage every object"],
    ["access: { ada@example.com: CAN_VIEW, Ada@example.com: CAN_MANAGE }", "are the same principal"],
    ["owner: ada@example.com, access: { ada@example.com: CAN_VIEW }", 'is the owner"'],
    ["owner: data", "a group cannot own an object"],
    ["access: { data: CAN_RESTART }", "CAN_RESTART"],
  ])("refuses %s", async (access, message) => {
    await expect(site.spec(withJob(access))).rejects.toThrow(message);
  });
});

const POOL = "node_type_id: Standard_DS3_v2";

test("a list that the caller may not read makes the object unmanageable, and none of its fields is known", async () => {
  const refused = new Refused(403, "PERMISSION_DENIED", error("API_FORBIDDEN", "no permission"));
  const api = { read: () => Promise.reject(refused) } as unknown as Reader;
  const live = { id: remoteId("7"), name: "w", values: { node_type_id: "n" }, facts: {} };
  const object = async () => ({ request_object_type: "instance-pools", request_object_id: "7" }) as never;
  expect(await readAccess(api, live, {}, object)).toEqual({
    ...live,
    unmanageable: "this caller cannot read its access list",
    unreadFields: ["access", "owner"],
  });
});

test("a replaced object gets the access list of the spec", async () => {
  const yaml = (type: string) =>
    `policy: { on_immutable_change: replace }\n${PEOPLE}pools: { warm: { node_type_id: ${type}, access: { data: CAN_ATTACH_TO } } }\n`;
  await apply(yaml("Standard_DS3_v2"));
  const next = yaml("Standard_DS4_v2");
  const [change] = (await plan(next)).changes.filter(({ action }) => action === "replace");
  expect(change?.consequences).toContain("the new instance pool gets the access list of the spec (1 entry)");
  await apply(next);
  expect(await listOf("pools.warm", "instance-pools")).toEqual({
    "admin@example.com": "CAN_MANAGE",
    data: "CAN_ATTACH_TO",
  });
});

test("the caller's own right never differs, and a plan that lowers it is blocked", async () => {
  const yaml = (access: string) => `pools: { warm: { ${POOL}, access: ${access} } }\n`;
  await apply(yaml("{}"));
  expect(await listOf("pools.warm", "instance-pools")).toEqual({ "admin@example.com": "CAN_MANAGE" });
  expect(doing(await plan(yaml("{}")))).toEqual([]);
  const lowering = await plan(yaml("{ admin@example.com: CAN_ATTACH_TO }"));
  expect(lowering.guards.map(({ diagnostic }) => diagnostic.code)).toEqual(["GUARD_LOCKOUT"]);
});

describe("a principal that does not exist", () => {
  const messages = async (yaml: string) => {
    const spec = await site.spec(yaml);
    const process = site.process();
    const { input } = await site.drive(process.look(spec, await site.state()));
    const { lookups: values } = missingFacts(draftPlan(input), input);
    const { reader } = process.client;
    const lookups = await site.drive(lookUp({ lookups: values, registry, catalogs, reader, objects: true }));
    const { diagnostics } = await site.drive(process.plan(spec, { lookups }));
    return diagnostics
      .filter(({ message }) => !message.includes("notebook_path"))
      .map(({ code, severity, message, hint = "" }) => [severity, code, message, hint]);
  };
  const exists = (program: string) =>
    site.world.post("preview/scim/v2/ServicePrincipals", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServicePrincipal"],
      displayName: program,
    });

  test("is an error of the plan, with the nearest name", async () => {
    await site.world.post("groups/create", { group_name: "analysts" });
    expect(await messages(`jobs: { j: { ${JOB}, access: { analyst: CAN_VIEW } } }\n`)).toEqual([
      [
        "error",
        "PLAN_UNKNOWN_NAME",
        'jobs.j: access "analyst" is not a group in the workspace',
        'did you mean "analysts"?',
      ],
    ]);
    expect(await messages(`jobs: { j: { ${JOB}, owner: admn@example.com } }\n`)).toEqual([
      [
        "error",
        "PLAN_UNKNOWN_NAME",
        'jobs.j: owner "admn@example.com" is not a user in the workspace',
        'did you mean "admin@example.com"?',
      ],
    ]);
  });

  test.each([
    ["a declared user", "ada@example.com: CAN_VIEW"],
    ["a user in another case", "ADMIN@example.com: CAN_MANAGE"],
    ["a group of the service", "users: CAN_VIEW"],
    ["a service principal by its display name", "sp:deployer: CAN_VIEW"],
  ])("is not %s", async (_what, entry) => {
    await exists("deployer");
    expect(await messages(withJob(`access: { ${entry} }`))).toEqual([]);
  });

  test("is not a group of the account, which a spec may name and cannot manage", async () => {
    await site.world.control("POST", "account-groups", { display_name: "all-analysts" });
    expect(await messages(withJob("access: { all-analysts: CAN_VIEW }"))).toEqual([]);
    await apply(withJob("access: { all-analysts: CAN_VIEW }"));
    expect(await listOf("jobs.nightly")).toMatchObject({ "all-analysts": "CAN_VIEW" });
  });

  test("is not a service principal by its application ID in another case", async () => {
    const { body } = await exists("deployer");
    const id = String(body.applicationId).toUpperCase();
    expect(await messages(withJob(`access: { "sp:${id}": CAN_VIEW }`))).toEqual([]);
  });

  test("is not reported for an entry that the service accepted before", async () => {
    await site.world.post("groups/create", { group_name: "analysts" });
    const yaml = `jobs: { j: { ${JOB}, access: { analysts: CAN_VIEW } } }\n`;
    await apply(yaml);
    const found = await messages(yaml.replace("CAN_VIEW", "CAN_VIEW, nobody: CAN_VIEW"));
    expect(found.map(([, , message]) => message)).toEqual([
      'jobs.j: access "nobody" is not a group in the workspace',
    ]);
  });
});

describe("authorizations of the workspace", () => {
  const LIST = "authorizations: { tokens: { access: { data: CAN_USE } } }\n";

  test("are created, written, and reset to admins when they leave the spec", async () => {
    await apply(`${PEOPLE}${LIST}`);
    const entries = async () => {
      const { body } = await site.world.get("permissions/authorization/tokens");
      return body.access_control_list.map((one: { group_name: string }) => one.group_name).sort();
    };
    expect(await entries()).toEqual(["admins", "data"]);
    expect(doing(await plan(`${PEOPLE}${LIST}`))).toEqual([]);
    await apply(PEOPLE);
    expect(await entries()).toEqual(["admins"]);
  });

  test("check the levels of each", async () => {
    const yaml = LIST.replace("tokens", "passwords").replace("CAN_USE", "CAN_MANAGE");
    await expect(site.spec(yaml)).rejects.toThrow("CAN_MANAGE is not a level of passwords");
  });

  test("have two names", async () => {
    await expect(site.spec(LIST.replace("tokens", "token"))).rejects.toThrow(
      "is not an authorization of the workspace",
    );
  });
});

test("another caller does not compare the right to manage of a creator, unless it is recorded, but compares their other rights", async () => {
  const yaml = `${PEOPLE}pools: { warm: { ${POOL}, access: { data: CAN_ATTACH_TO } } }\n`;
  await apply(yaml);
  const entries = [
    { user_name: "bo@example.com", permission_level: "CAN_MANAGE" },
    { user_name: "ada@example.com", permission_level: "CAN_ATTACH_TO" },
  ];
  await grant("pools.warm", entries, "instance-pools");
  const { operations } = registry.get("pools");
  const { reader } = site.process().client;
  const live = await operations.read(reader, remoteId(await idOf("pools.warm")));
  const access = async (creators: readonly string[], recorded?: Values) =>
    live &&
    (await operations.readDetails?.(reader, live, { access: {} }, { creators, recorded }))?.values.access;
  const others = { data: "CAN_ATTACH_TO", "ada@example.com": "CAN_ATTACH_TO" };
  expect(await access([])).toEqual({ ...others, "bo@example.com": "CAN_MANAGE" });
  expect(await access(["BO@example.com", "ada@example.com"])).toEqual(others);
  // The spec gave it before, so its removal is a change of the spec.
  const recorded = { access: { "bo@example.com": "CAN_MANAGE" } };
  expect(await access(["bo@example.com"], recorded)).toEqual({ ...others, ...recorded.access });
});
