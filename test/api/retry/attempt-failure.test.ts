// How a request that failed is reported: the code, the sentence, the hint, and whether it may have taken effect.

import { describe, expect, test } from "vitest";
import type { TransportFailureReason } from "../../../src/api/http/transport-failure.ts";
import type { FailedAttempt } from "../../../src/api/retry/retry-policy.ts";
import { type AttemptEnd, attemptFailure, isUnauthenticated } from "../../../src/api/retry/send.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";

const ending = (bad: FailedAttempt, over: Partial<AttemptEnd> = {}): AttemptEnd => ({
  operation: "clusters/list",
  origin: "https://ws.example.com",
  bad,
  writes: false,
  earlierMayHaveActed: false,
  attempts: 1,
  elapsedMs: 0,
  redact: (text) => text.replaceAll("s3cret", "(hidden)"),
  ...over,
});
const answered = (status: number, over: Record<string, unknown> = {}): FailedAttempt =>
  ({
    end: "error",
    status,
    code: "SOME_CODE",
    message: "s3cret text",
    form: "api",
    ...over,
  }) as FailedAttempt;
const broken = (why: TransportFailureReason): FailedAttempt =>
  ({ end: "broken", broken: { why, sent: why === "lost", text: "s3cret reason" } }) as FailedAttempt;
const reported = (bad: FailedAttempt, over: Partial<AttemptEnd> = {}) => {
  const { code, message, hint, cause } = attemptFailure(ending(bad, over)).diagnostic;
  return { code, message, hint, cause };
};

const ADDRESS = "check the host URL and any proxy in between";
const LATER = "try again later";

test.each([
  [403, {}, "API_FORBIDDEN", "is not allowed for this caller (403 SOME_CODE)", /workspace administrator$/],
  [
    429,
    {},
    "API_REFUSED",
    "was refused: too many requests (429 SOME_CODE)",
    /^try again later, or lower --parallelism$/,
  ],
  [500, {}, "API_REFUSED", "failed in the service (500 SOME_CODE)", /^try again later$/],
  [502, { code: "" }, "API_REFUSED", "failed in the service (502)", /^try again later$/],
  [501, {}, "API_REFUSED", "was refused (501 SOME_CODE)", undefined],
  [
    501,
    { form: "plain" },
    "API_PROTOCOL",
    "was answered by a server that is not this API (501 SOME_CODE)",
    /^check the host URL/,
  ],
  [
    404,
    { code: "ENDPOINT_NOT_FOUND" },
    "API_PROTOCOL",
    "was answered by a server that is not this API (404 ENDPOINT_NOT_FOUND)",
    /^check the host URL/,
  ],
  [404, { code: "404" }, "API_REFUSED", "was refused (404)", undefined],
  [
    400,
    { code: "INVALID_PARAMETER_VALUE" },
    "API_REFUSED",
    "was refused (400 INVALID_PARAMETER_VALUE)",
    undefined,
  ],
])("an answer with status %d and %o is reported as %s", (status, over, code, sentence, hint) => {
  const found = reported(answered(status, over));
  expect(found).toMatchObject({ code, message: `clusters/list ${sentence}`, cause: "(hidden) text" });
  if (hint === undefined)
    expect(attemptFailure(ending(answered(status, over))).diagnostic?.hint).toBeUndefined();
  else expect(found.hint).toMatch(hint);
});

test("a refused token is reported with a hint about the token", () => {
  const found = reported(answered(401, { code: "" }));
  expect(found).toMatchObject({
    code: "API_UNAUTHENTICATED",
    message: "clusters/list was refused: the token is not valid (401)",
  });
  expect(found.hint).toMatch(/token/);
});

test("an error without a message has no cause", () => {
  expect(attemptFailure(ending(answered(400, { message: "" }))).diagnostic?.cause).toBeUndefined();
});

test.each([
  [answered(401, { message: "" }), true],
  [answered(403, { message: "Invalid access token." }), true],
  [answered(403, { message: "no rights" }), false],
  [answered(400, { message: "Invalid access token." }), false],
  [broken("lost"), false],
  [{ end: "redirect", status: 401, location: "" } as FailedAttempt, false],
])("%o is refused for its token: %s", (bad, expected) => {
  expect(isUnauthenticated(bad)).toBe(expected);
});

test.each([
  ["empty", "an empty body"],
  ["not JSON", "a body that is not JSON"],
])("an answer with a body that is %s is refused", (what, phrase) => {
  const bad = { end: "garbled", status: 200, what } as FailedAttempt;
  expect(reported(bad, { attempts: 3, elapsedMs: 4_600 })).toEqual({
    code: "API_PROTOCOL",
    message: `clusters/list was answered 200 with ${phrase}, 3 attempts in 5 s`,
    hint: ADDRESS,
    cause: undefined,
  });
  expect(attemptFailure(ending(bad))).toMatchObject({ status: 200, code: "" });
});

test("a redirect names its target, shortened and without secrets", () => {
  const location = `https://other.example.com/s3cret/${"x".repeat(600)}`;
  const bad = { end: "redirect", status: 302, location } as FailedAttempt;
  const found = reported(bad);
  expect(found).toEqual({
    code: "API_REDIRECT",
    message: "clusters/list was redirected (302); the token was not sent there",
    hint: "if the workspace has moved, set the host to its new address instead of https://ws.example.com",
    cause: `Location: ${location.replace("s3cret", "(hidden)").slice(0, 500)}…`,
  });
  expect(attemptFailure(ending(bad))).toMatchObject({ status: 302, code: "" });
  const nowhere = attemptFailure(ending({ ...bad, location: "" } as FailedAttempt)).diagnostic;
  expect(nowhere?.cause).toBeUndefined();
});

describe("a connection that failed", () => {
  test.each<[TransportFailureReason, string, string, string]>([
    ["no-files", "CLI_FILE", "too many open files", "raise the limit, for example with `ulimit -n 1024`"],
    [
      "refused",
      "API_UNREACHABLE",
      "https://ws.example.com cannot be reached",
      "check the host, the network, and any firewall in between",
    ],
    [
      "unknown-host",
      "API_UNREACHABLE",
      "the host name of https://ws.example.com cannot be resolved",
      "check the spelling of the host name",
    ],
    [
      "untrusted",
      "API_UNREACHABLE",
      "the certificate of https://ws.example.com is not trusted",
      "pass the CA certificate that signed it with --ca-file or WORKSPACE_CA_FILE",
    ],
    [
      "proxy",
      "API_UNREACHABLE",
      "the proxy cannot connect to https://ws.example.com",
      "check HTTPS_PROXY (or HTTP_PROXY), its user name and password, and NO_PROXY",
    ],
    [
      "invalid",
      "API_UNREACHABLE",
      "the request to https://ws.example.com is not valid",
      "check the host and the token",
    ],
    ["timeout", "API_TIMEOUT", "https://ws.example.com did not answer in time", LATER],
    [
      "lost",
      "API_UNREACHABLE",
      "https://ws.example.com closed the connection before its answer was complete",
      "check the host, the network, and any firewall in between",
    ],
    ["too-large", "API_PROTOCOL", "the answer of https://ws.example.com exceeds the size limit", ADDRESS],
    [
      "protocol",
      "API_PROTOCOL",
      "https://ws.example.com does not use the protocol of its URL",
      "check the scheme (http:// or https://) and the port",
    ],
  ])("because of %s is reported as %s", (why, code, message, hint) => {
    expect(reported(broken(why))).toEqual({ code, message, hint, cause: "(hidden) reason" });
    expect(attemptFailure(ending(broken(why)))).toMatchObject({ status: 0, code: "" });
  });
});

describe("a write", () => {
  const write = { operation: "clusters/create", writes: true };

  test("that was refused had no effect", () => {
    expect(attemptFailure(ending(answered(400), write))).toBeInstanceOf(Refused);
  });

  test("whose answer was lost may have had its effect", () => {
    const failure = attemptFailure(ending(broken("lost"), write));
    expect(failure).toBeInstanceOf(UnknownOutcome);
    expect(failure.diagnostic).toMatchObject({
      code: "API_UNKNOWN_OUTCOME",
      message: "the outcome of clusters/create is unknown",
      hint: "run the command again; it first checks whether this request succeeded",
      cause: "https://ws.example.com closed the connection before its answer was complete: (hidden) reason",
    });
  });

  test("that was refused after an attempt without an answer may have had its effect", () => {
    const over = { ...write, earlierMayHaveActed: true };
    const failure = attemptFailure(ending(answered(400, { message: "" }), over));
    expect(failure).toBeInstanceOf(UnknownOutcome);
    expect(failure.diagnostic.cause).toBe("clusters/create was refused (400 SOME_CODE)");
  });

  test("that no longer finds its object had no other effect than the earlier attempt's", () => {
    const missing = answered(404, { code: "RESOURCE_DOES_NOT_EXIST" });
    expect(attemptFailure(ending(missing, { ...write, earlierMayHaveActed: true }))).toBeInstanceOf(Refused);
  });
});

test.each([1_995, 1_998, 1_999])(
  "a token after %i characters of a message is hidden before the cut",
  (length) => {
    const { cause } = reported(answered(400, { message: `${"x".repeat(length)}s3cret ${"y".repeat(99)}` }));
    expect(cause).toMatch(/^x+\(h?i?d?d?…$/);
    expect(cause).toHaveLength(2_001);
  },
);

test("a read that got no answer is refused, because it has no effect", () => {
  expect(attemptFailure(ending(broken("lost"), { earlierMayHaveActed: true }))).toBeInstanceOf(Refused);
});
