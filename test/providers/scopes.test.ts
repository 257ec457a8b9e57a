// Secret scopes with their secrets and access lists: writes, reads that cannot show values, guards.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { Sensitive } from "../../src/core/sensitive/texts.ts";
import { acls } from "../../src/providers/acls.ts";
import { groups } from "../../src/providers/groups.ts";
import { scopes } from "../../src/providers/scopes.ts";
import { secrets } from "../../src/providers/secrets.ts";
import type { Payload } from "../../src/resource/operations.ts";
import { ADMIN } from "../emulator/harness.ts";
import {
  create,
  diffs,
  diffsAfter,
  listed,
  liveObject,
  lookAt,
  only,
  planned,
  remove,
  scripted,
  startWorkspace,
  update,
} from "./workspace.ts";

const payload = (value: string | Uint8Array): Payload => {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return { digest: "d", bytes: () => bytes, secret: new Sensitive(bytes) };
};

describe("scopes", () => {
  test("a created scope reads back as requested, also later", async () => {
    const { api } = await startWorkspace();
    for (const [name, values] of [
      ["plain", {}],
      ["shared", { initial_manage_principal: "users" }],
      [
        "vault",
        { backend_type: "CLOUD_KEYVAULT", keyvault_metadata: { resource_id: "/v", dns_name: "https://v" } },
      ],
    ] as const) {
      const live = await only(scopes, api, await create(scopes, api, name, values));
      expect(diffsAfter(scopes, live, name, values, { applied: values })).toEqual([]);
    }
  });

  test("another first manager, or another backend, needs another scope", async () => {
    const { api } = await startWorkspace();
    const live = await only(scopes, api, await create(scopes, api, "s", {}));
    const moved = diffsAfter(scopes, live, "s", { initial_manage_principal: "users" }, { applied: {} });
    expect(moved.map((diff) => diff.replaces)).toEqual([true]);
    expect(diffs(scopes, live, "s", { backend_type: "CLOUD_KEYVAULT" })[0]?.replaces).toBe(true);
  });

  test("names are checked by the contract's alphabet and length", () => {
    for (const name of ["a", "A-b_c.9", "x".repeat(128)])
      expect(scopes.planning.validateIn?.contract?.({}, name)).toEqual([]);
    for (const name of ["", "a b", "a/b", "ä", "x".repeat(129)])
      expect(scopes.planning.validateIn?.contract?.({}, name)?.[0]?.code).toBe("SPEC_VALUE");
  });

  test("a vault and its backend require each other", () => {
    const vault = { resource_id: "/v", dns_name: "https://v" };
    expect(scopes.planning.validate?.({ backend_type: "CLOUD_KEYVAULT" }, "s")?.[0]?.code).toBe(
      "SPEC_COMBINATION",
    );
    expect(scopes.planning.validate?.({ keyvault_metadata: vault }, "s")?.[0]?.code).toBe("SPEC_COMBINATION");
    expect(
      scopes.planning.validate?.({ backend_type: "CLOUD_KEYVAULT", keyvault_metadata: vault }, "s"),
    ).toEqual([]);
  });

  const live = liveObject("etl", { backend_type: "PLATFORM" });
  const world = {
    live: {
      secrets: [liveObject("etl/ours", {}), liveObject("etl/theirs", {}), liveObject("etlx/other", {})],
      acls: [liveObject("etl/ops", { permission: "MANAGE" })],
    },
  };

  test("losing a secret that the spec does not have is objected to, by name", () => {
    const change = planned(scopes, "replace", live, {});
    const declared = ["secrets.etl/ours"];
    const [found, ...more] = scopes.planning.objections?.(change, lookAt({ ...world, declared })) ?? [];
    expect(more).toEqual([]);
    expect(found?.code).toBe("GUARD_DATA_LOSS");
    expect(found?.message).toMatch(/: theirs$/);
    const gone = [...declared, "secrets.etl/theirs"];
    expect(scopes.planning.objections?.(change, lookAt({ ...world, declared: gone }))).toEqual([]);
    expect(
      scopes.planning.objections?.(planned(scopes, "delete", live), lookAt({ ...world, goes: gone })),
    ).toEqual([]);
  });

  test("deleting a scope reports the secrets and the access list that are deleted with it", () => {
    const told = scopes.planning.consequences?.(planned(scopes, "delete", live), lookAt(world));
    expect(told).toEqual([
      "it contains 2 secrets that the API cannot read back: ours and theirs",
      "its access list is deleted too: ops",
    ]);
    expect(scopes.planning.consequences?.(planned(scopes, "update", live, {}), lookAt(world))).toEqual([]);
  });
});

describe("secrets", () => {
  test("text goes as text, other bytes as bytes, and the value is never read back", async () => {
    const { api, sent } = await startWorkspace();
    await create(scopes, api, "etl", {});
    await create(secrets, api, "etl/text", { value: "d" }, payload("grüße"));
    await create(secrets, api, "etl/bytes", { value: "d" }, payload(new Uint8Array([0xff, 0, 1])));
    expect(sent.slice(1).map(({ input }) => Object.keys(input).at(-1))).toEqual([
      "string_value",
      "bytes_value",
    ]);
    const live = await listed(secrets, api, ["etl"]);
    expect(live.map((one) => one.name)).toEqual(["etl/text", "etl/bytes"]);
    expect(live.every((one) => Object.keys(one.values).length === 0)).toBe(true);
    expect(JSON.stringify(sent)).not.toContain("gr");
  });

  test("a write outside the spec is detected by its time, a change in the spec by its digest", async () => {
    const { world, api } = await startWorkspace();
    await create(scopes, api, "etl", {});
    const id = await create(secrets, api, "etl/k", { value: "one" }, payload("1"));
    const before = await only(secrets, api, id, ["etl"]);
    const seen = { last_updated_timestamp: before.facts.last_updated_timestamp ?? "" };
    const recorded = { applied: { value: "one" }, seen };
    expect(diffsAfter(secrets, before, "etl/k", { value: "one" }, recorded)).toEqual([]);
    expect(diffsAfter(secrets, before, "etl/k", { value: "two" }, recorded)[0]?.cause).toBe("spec");
    await world.advance(1000);
    await world.post("secrets/put", { scope: "etl", key: "k", string_value: "x" });
    const after = await only(secrets, api, id, ["etl"]);
    expect(diffsAfter(secrets, after, "etl/k", { value: "one" }, recorded)[0]?.cause).toBe("drift");
  });

  test("a value beyond 128 KB is refused before it is sent", async () => {
    const { api, sent } = scripted({});
    const big = payload(new Uint8Array(128 * 1024 + 1));
    await expect(create(secrets, api, "etl/k", { value: "d" }, big)).rejects.toThrow("the limit is 131072");
    expect(sent).toEqual([]);
  });

  test("a secret without its source is a failure, not an empty secret", async () => {
    const { api } = scripted({});
    await expect(create(secrets, api, "etl/k", { value: "d" })).rejects.toThrow("SPEC_SECRET_SOURCE");
  });

  test("keys are checked, and deleting twice is fine", async () => {
    expect(secrets.planning.validate?.({}, "etl/db-password")).toEqual([]);
    expect(secrets.planning.validate?.({}, "etl/db password")).toHaveLength(1);
    const { api } = await startWorkspace();
    await create(scopes, api, "etl", {});
    const id = await create(secrets, api, "etl/k", { value: "d" }, payload("1"));
    const live = await only(secrets, api, id, ["etl"]);
    await remove(secrets, api, live);
    await remove(secrets, api, live);
    expect(await secrets.operations.read(api, id)).toBeUndefined();
  });

  test("the secrets of a deleted scope are missing, not unreadable", async () => {
    const { api } = await startWorkspace();
    expect(await secrets.operations.read(api, liveObject("no/k", {}).id)).toBeUndefined();
    await expect(listed(secrets, api, ["no"])).rejects.toThrow();
  });
});

describe("access lists", () => {
  test("an entry is written over, never deleted and put again", async () => {
    const { api, sent } = await startWorkspace();
    await create(scopes, api, "etl", {});
    await create(groups, api, "ops", {});
    const id = await create(acls, api, "etl/ops", { permission: "READ" });
    const live = await only(acls, api, id, ["etl"]);
    expect(diffs(acls, live, "etl/ops", { permission: "READ" })).toEqual([]);
    sent.length = 0;
    expect(await update(acls, api, live, "etl/ops", { permission: "MANAGE" })).toEqual(["put"]);
    expect(sent.map((one) => one.operation)).toEqual(["secrets/acls/put"]);
    expect((await acls.operations.read(api, id))?.values.permission).toBe("MANAGE");
    await remove(acls, api, live);
    await remove(acls, api, live);
    expect(await acls.operations.read(api, id)).toBeUndefined();
  });

  test("the list is read under either of its names, and an absent one is empty", async () => {
    const item = { principal: "ops", permission: "READ" };
    for (const answer of [{ items: [item] }, { acls: [item] }] as JsonObject[]) {
      const { api } = scripted({ "secrets/acls/list": answer });
      expect((await listed(acls, api, ["etl"])).map((one) => one.name)).toEqual(["etl/ops"]);
    }
    expect(await listed(acls, scripted({ "secrets/acls/list": {} }).api, ["etl"])).toEqual([]);
  });

  test("user names in another case are the same entry", async () => {
    const { api } = await startWorkspace();
    await create(scopes, api, "etl", {});
    const id = await create(acls, api, `etl/${ADMIN.toUpperCase()}`, { permission: "MANAGE" });
    expect((await only(acls, api, id, ["etl"])).name).toBe(`etl/${ADMIN}`);
  });

  const mine = liveObject("etl/ada@x", { permission: "MANAGE" });

  test("the caller's MANAGE is kept if the spec does not name it, that of others is not", () => {
    expect(acls.planning.isImplicit?.(mine, "ADA@x", {})).toBe(true);
    expect(acls.planning.isImplicit?.(mine, "bo@x", {})).toBe(false);
    expect(acls.planning.isImplicit?.(mine, undefined, {})).toBe(false);
    const everyone = liveObject("etl/users", { permission: "MANAGE" });
    expect(acls.planning.isImplicit?.(everyone, undefined, { initial_manage_principal: "users" })).toBe(true);
    expect(acls.planning.isImplicit?.(everyone, undefined, {})).toBe(false);
    expect(acls.planning.isImplicit?.(liveObject("etl/ada@x", { permission: "READ" }), "ada@x", {})).toBe(
      false,
    );
  });

  test("lowering or removing the caller's MANAGE is objected to", () => {
    for (const change of [
      planned(acls, "delete", mine),
      planned(acls, "update", mine, { permission: "READ" }),
    ]) {
      expect(acls.planning.neededFacts?.(change, lookAt({}))).toEqual(["caller"]);
      expect(acls.planning.objections?.(change, lookAt({ caller: "ada@x" }))?.[0]?.code).toBe(
        "GUARD_LOCKOUT",
      );
      expect(acls.planning.objections?.(change, lookAt({ caller: "bo@x" }))).toEqual([]);
    }
  });

  test("while the caller is unknown, a user's MANAGE is not removed; a group's may be", () => {
    expect(acls.planning.objections?.(planned(acls, "delete", mine), lookAt({}))?.[0]?.hint).toContain(
      "WORKSPACE_USER",
    );
    const ops = liveObject("etl/ops", { permission: "MANAGE" });
    const world = { live: { groups: [liveObject("ops", {})] } };
    expect(acls.planning.objections?.(planned(acls, "delete", ops), lookAt(world))).toEqual([]);
  });

  test("an entry needs the user or group that it names", () => {
    expect(acls.planning.dependencies?.("etl/ops", {})).toEqual([
      { kind: "users", name: "ops" },
      { kind: "groups", name: "ops" },
    ]);
  });
});
