// Replaced objects that an apply could not delete: a later apply deletes them.

import { expect, onTestFinished, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../../src/api/http/transport.ts";
import type { Address } from "../../src/core/address.ts";
import { apiError } from "../api/answers.ts";
import { doing, results, type Send, Site } from "./site.ts";

const yamlOf = (userName: string): string =>
  `policy: { max_deletes: 100%, on_immutable_change: replace }\nusers: { u: { userName: ${userName} } }\n`;

/** A service that refuses deletions. */
async function refusing(request: HttpRequest, send: Send): Promise<HttpResponse> {
  return request.method === "DELETE" ? apiError(403, "PERMISSION_DENIED", "no") : send(request);
}

test("a replaced user that is inactive is deleted after its first deletion was refused", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  await site.drive(site.process().apply(await site.spec(yamlOf("ada@example.com"))));
  const record = async () => (await site.state()).records.get("users.u" as Address);
  const id = (await record())?.id;
  await site.world.patch(`preview/scim/v2/Users/${id}`, {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
    Operations: [{ op: "replace", path: "active", value: false }],
  });
  const spec = await site.spec(yamlOf("bo@example.com"));
  await site.drive(site.process({ transport: refusing }).apply(spec));
  expect((await record())?.deposed).toEqual([id]);
  expect(doing(await site.drive(site.process().plan(spec)))).toEqual(["delete users.u"]);
  const { outcome } = await site.drive(site.process().apply(spec));
  expect(results(outcome)).toContain("applied delete users.u");
  expect((await record())?.deposed).toBeUndefined();
  expect(doing(await site.drive(site.process().plan(spec)))).toEqual([]);
});

test("a replaced user that someone else deleted leaves its record with the next apply", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  await site.drive(site.process().apply(await site.spec(yamlOf("ada@example.com"))));
  const record = async () => (await site.state()).records.get("users.u" as Address);
  const id = (await record())?.id;
  const spec = await site.spec(yamlOf("bo@example.com"));
  await site.drive(site.process({ transport: refusing }).apply(spec));
  expect((await record())?.deposed).toEqual([id]);
  await site.world.delete(`preview/scim/v2/Users/${id}`);
  expect(doing(await site.drive(site.process().plan(spec)))).toEqual(["forget users.u"]);
  const { outcome } = await site.drive(site.process().apply(spec));
  expect(results(outcome)).toContain("applied forget users.u");
  expect((await record())?.name).toBe("bo@example.com");
  expect((await record())?.deposed).toBeUndefined();
  expect(doing(await site.drive(site.process().plan(spec)))).toEqual([]);
});

test("an update in place is planned and applied while the replaced object still has the same name", async () => {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  const destination = (fields: string) =>
    site.spec(
      `policy: { max_deletes: 100%, on_immutable_change: replace }\nnotification_destinations: { nd: { display_name: N, ${fields} } }\n`,
    );
  await site.drive(site.process().apply(await destination("destination_type: SLACK, channel_id: a")));
  const record = async () => (await site.state()).records.get("notification_destinations.nd" as Address);
  const id = (await record())?.id;
  const email = await destination("destination_type: EMAIL, addresses: [b@example.com]");
  await site.drive(site.process({ transport: refusing }).apply(email));
  expect((await record())?.deposed).toEqual([id]);
  const changed = await destination("destination_type: EMAIL, addresses: [c@example.com]");
  const plan = await site.drive(site.process().plan(changed));
  expect(plan.diagnostics).toEqual([]);
  expect(doing(plan).toSorted()).toEqual([
    "delete notification_destinations.nd",
    "update notification_destinations.nd",
  ]);
  const { outcome } = await site.drive(site.process({ transport: refusing }).apply(changed));
  expect(results(outcome)).toContain("applied update notification_destinations.nd");
  expect((await record())?.deposed).toEqual([id]);
  await site.drive(site.process().apply(changed));
  expect((await record())?.deposed).toBeUndefined();
  expect(doing(await site.drive(site.process().plan(changed)))).toEqual([]);
});
