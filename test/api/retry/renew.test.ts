// A token that the service refuses is replaced once, and the request is sent again with the new one.

import { expect, test } from "vitest";
import type { SignIn } from "../../../src/api/auth/sign-in.ts";
import type { RequestEvent } from "../../../src/api/retry/send.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { apiError, json } from "../answers.ts";
import { type Line, scripted } from "../scripted.ts";

const unauthenticated = apiError(401, "", "expired");

function signedIn(lines: readonly Line[]) {
  const renewed: (string | undefined)[] = [];
  const events: RequestEvent[] = [];
  let generation = 1;
  const signIn: SignIn = {
    headers: async () => ({ authorization: `Bearer token-${generation}` }),
    renew: async (refused) => {
      renewed.push(refused.authorization);
      generation += 1;
    },
    secrets: () => [],
  };
  const script = scripted(lines, { token: signIn, log: (event) => events.push(event) });
  return { ...script, renewed, events };
}

test("a refused token is replaced, and the request is sent again at once with the new one", async () => {
  const { client, sent, time, renewed, events } = signedIn([unauthenticated, json({ clusters: [] })]);
  expect(await client.reader.read("clusters/list")).toEqual({ clusters: [] });
  expect(renewed).toEqual(["Bearer token-1"]);
  expect(sent.map(({ headers }) => headers.authorization)).toEqual(["Bearer token-1", "Bearer token-2"]);
  expect(time.waits).toEqual([]);
  expect(events.map(({ status, attempt, waitMs }) => [status, attempt, waitMs])).toEqual([
    [401, 1, 0],
    [200, 2, undefined],
  ]);
});

test("a token that is refused again ends the request", async () => {
  const { client, sent, renewed } = signedIn([unauthenticated]);
  await expect(client.reader.read("clusters/list")).rejects.toMatchObject({
    diagnostic: { code: "API_UNAUTHENTICATED" },
  });
  expect(sent).toHaveLength(2);
  expect(renewed).toHaveLength(1);
});

test("only a refused token is replaced", async () => {
  const { client, renewed } = signedIn([apiError(403, "PERMISSION_DENIED", "no rights")]);
  await expect(client.reader.read("clusters/list")).rejects.toBeInstanceOf(Refused);
  expect(renewed).toEqual([]);
});

test("each request may replace a token once", async () => {
  const { client, renewed } = signedIn([unauthenticated, json({}), unauthenticated, json({})]);
  await client.reader.read("clusters/list");
  await client.reader.read("clusters/list");
  expect(renewed).toEqual(["Bearer token-1", "Bearer token-2"]);
});

test("nothing further is sent once the first answers refuse the token", async () => {
  const script = scripted([apiError(403, "", "Invalid access token.")]);
  for (const operation of ["clusters/list", "jobs/list"] as const)
    await expect(script.client.reader.read(operation)).rejects.toMatchObject({
      diagnostic: {
        code: "API_UNAUTHENTICATED",
        message: `${operation} was refused: the token is not valid (403)`,
      },
    });
  expect(script.sent).toHaveLength(1);
});

test("a token that is refused after it was accepted does not end other requests", async () => {
  const refusal = apiError(401, "", "expired");
  const script = scripted([json({ clusters: [] }), refusal, json({ jobs: [] })]);
  await script.client.reader.read("clusters/list");
  await expect(script.client.reader.read("jobs/list")).rejects.toBeInstanceOf(Refused);
  expect(await script.client.reader.read("jobs/list")).toEqual({ jobs: [] });
});
