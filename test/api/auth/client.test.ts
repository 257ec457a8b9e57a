// A client that signs in, against the emulator: tokens that live for seconds, refusals, and everything that is said about them.

import { beforeEach, describe, expect, test } from "vitest";
import type { RenewableCredential } from "../../../src/api/auth/credential.ts";
import { createSignIn } from "../../../src/api/auth/sign-in.ts";
import { type Client, createClient } from "../../../src/api/client.ts";
import type { RequestEvent } from "../../../src/api/retry/send.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";
import { ADMIN, ADMIN_TOKEN, GROUP_SCHEMA } from "../../emulator/harness.ts";
import { apiError, raw, reset, thrown } from "../answers.ts";
import { type SentRequest, type SignInPlace, signInPlace, WORKSPACE } from "./place.ts";

const CLIENT: RenewableCredential = { method: "oauth-m2m", clientId: "app", clientSecret: ADMIN_TOKEN };

let place: SignInPlace;
let client: Client;
let events: RequestEvent[];
beforeEach(async () => {
  place = await signInPlace();
  events = [];
  client = createClient({
    transport: place.ports.transport,
    host: WORKSPACE,
    token: createSignIn(CLIENT, WORKSPACE, place.ports),
    clock: place.ports.clock,
    sleep: place.ports.pause,
    random: place.ports.random,
    parallelism: 20,
    log: (event) => events.push(event),
  });
});

const isToken = ({ path }: SentRequest) => path === "/oidc/v1/token";
const tokens = () => place.sent.filter(isToken).length;
const me = async (): Promise<unknown> => (await client.reader.read("scim/me")).userName;
const together = (count: number) => Promise.all(Array.from({ length: count }, me));

describe("a client that signs in", () => {
  test("asks for one token for all requests that begin together", async () => {
    expect(await together(12)).toEqual(Array.from({ length: 12 }, () => ADMIN));
    expect(tokens()).toBe(1);
  });

  test("renews a token of a few seconds before its end, so that no request is refused", async () => {
    await place.world.control("POST", "sign-in", { expires_in: 4 });
    for (let second = 0; second < 20; second++) {
      await together(3);
      await place.world.advance(1_000);
    }
    expect(tokens()).toBe(10);
    expect(events.every(({ status }) => status === 200)).toBe(true);
  });

  test.each([401, 403])("renews once for all requests that were refused with %d", async (status) => {
    await place.world.control("POST", "sign-in", { expires_in: 600, expired_status: status });
    await me();
    // The clock of this machine is slow: to the service the token has expired.
    const { clock } = place.ports;
    const slow = clock();
    const late = createClient({
      transport: place.ports.transport,
      host: WORKSPACE,
      token: createSignIn(CLIENT, WORKSPACE, { ...place.ports, clock: () => slow }),
      clock: () => slow,
      sleep: place.ports.pause,
      random: () => 0,
      parallelism: 20,
      log: (event) => events.push(event),
    });
    await late.reader.read("scim/me");
    await place.world.advance(600_000);
    const before = tokens();
    events = [];
    const answers = await Promise.all(Array.from({ length: 8 }, () => late.reader.read("scim/me")));
    expect(answers.map(({ userName }) => userName)).toEqual(Array.from({ length: 8 }, () => ADMIN));
    expect(tokens() - before).toBe(1);
    expect(events.map((event) => event.status).sort()).toEqual([
      ...Array.from({ length: 8 }, () => 200),
      ...Array.from({ length: 8 }, () => status),
    ]);
  });

  test("repeats a write that was refused for its token, exactly once", async () => {
    await me();
    place.instead.push(apiError(401, "UNAUTHENTICATED", "Invalid access token."));
    await client.writer.write("groups/create", { group_name: "one" });
    const made = place.sent.filter(({ path }) => path.endsWith("groups/create"));
    expect(made).toHaveLength(2);
    expect(made[0]?.headers.authorization).not.toBe(made[1]?.headers.authorization);
  });

  test("gives up at the second refusal", async () => {
    await me();
    const refuse = () => apiError(401, "UNAUTHENTICATED", "Invalid access token.");
    place.refuse = ({ path }) => (path.startsWith("/api/") ? refuse() : undefined);
    expect(await thrown(me())).toMatchObject({ status: 401, diagnostic: { code: "API_UNAUTHENTICATED" } });
    expect(events.map(({ status }) => status)).toEqual([200, 401, 401]);
    expect(tokens()).toBe(2);
  });

  test("does not renew for a missing permission", async () => {
    await me();
    place.instead.push(apiError(403, "PERMISSION_DENIED", "Only admins."));
    expect(await thrown(me())).toMatchObject({ diagnostic: { code: "API_FORBIDDEN" } });
    expect(tokens()).toBe(1);
  });

  test("reports the sign-in as the failure of a request that was never sent", async () => {
    place.instead.push(raw(404, "no"));
    const failure = await thrown(client.writer.write("groups/create", { group_name: "one" }));
    expect(failure).toBeInstanceOf(Refused);
    expect(failure).toMatchObject({ diagnostic: { code: "API_UNAUTHENTICATED" } });
    expect(events).toEqual([]);
  });

  test("keeps the outcome unknown when an earlier attempt may have acted and no token can be had", async () => {
    const { body } = await place.world.post("preview/scim/v2/Groups", {
      schemas: [GROUP_SCHEMA],
      displayName: "g",
    });
    await me();
    let attempts = 0;
    place.refuse = ({ path }) => {
      if (!path.startsWith("/api/")) return raw(400, "no");
      attempts += 1;
      return attempts === 1 ? reset() : apiError(401, "UNAUTHENTICATED", "Invalid access token.");
    };
    const failure = await thrown(client.writer.write("scim/groups/delete", { id: body.id }));
    expect(failure).toBeInstanceOf(UnknownOutcome);
    expect(attempts).toBe(2);
  });

  test("sends no credential but the bearer token to the workspace's API", async () => {
    await me();
    const api = place.sent.filter(({ path }) => path.startsWith("/api/"));
    expect(api.map(({ headers }) => Object.keys(headers).sort())).toEqual([
      ["accept", "authorization", "connection", "user-agent"],
    ]);
    expect(JSON.stringify(api)).not.toContain(ADMIN_TOKEN);
  });

  test("tells no token in events, and none that a service repeats in its refusal", async () => {
    await me();
    const bearer = place.sent.at(-1)?.headers.authorization?.slice(7) ?? "";
    expect(bearer).toMatch(/^oauth/);
    place.instead.push(apiError(400, "INVALID_PARAMETER_VALUE", `bad ${bearer} and ${ADMIN_TOKEN}`));
    const failure = await thrown(me());
    for (const text of [JSON.stringify(failure), JSON.stringify(events)]) {
      expect(text).not.toContain(bearer);
      expect(text).not.toContain(ADMIN_TOKEN);
    }
  });
});
