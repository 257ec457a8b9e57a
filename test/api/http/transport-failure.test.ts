import { expect, test } from "vitest";
import { transportFailure } from "../../../src/api/http/transport-failure.ts";

const systemError = (code: string, over: object = {}) =>
  Object.assign(new Error(`it says ${code}`), { code, ...over });

test.each([
  ["a refused connection", systemError("ECONNREFUSED", { syscall: "connect" }), "refused", false],
  ["no file descriptor for a connection", systemError("EMFILE", { syscall: "connect" }), "no-files", false],
  [
    "no file descriptor for any address of a name",
    new AggregateError([systemError("ENFILE", { syscall: "connect" })]),
    "no-files",
    false,
  ],
  ["an unroutable host", systemError("EHOSTUNREACH", { syscall: "connect" }), "refused", false],
  [
    "a connection that times out while it is made",
    systemError("ETIMEDOUT", { syscall: "connect" }),
    "refused",
    false,
  ],
  ["undici's own connect time-out", systemError("UND_ERR_CONNECT_TIMEOUT"), "refused", false],
  ["an unknown name", systemError("ENOTFOUND", { syscall: "getaddrinfo" }), "unknown-host", false],
  ["a resolver that is down", systemError("EAI_AGAIN", { syscall: "getaddrinfo" }), "refused", false],
  ["a self-signed certificate", systemError("DEPTH_ZERO_SELF_SIGNED_CERT"), "untrusted", false],
  ["a certificate for another name", systemError("ERR_TLS_CERT_ALTNAME_INVALID"), "untrusted", false],
  ["an expired certificate", systemError("CERT_HAS_EXPIRED"), "untrusted", false],
  ["TLS spoken to a plain port", systemError("ERR_SSL_WRONG_VERSION_NUMBER"), "protocol", false],
  ["a header that cannot be sent", systemError("UND_ERR_INVALID_ARG"), "invalid", false],
  ["a reset", systemError("ECONNRESET", { syscall: "read" }), "lost", true],
  ["a close in the middle", systemError("UND_ERR_SOCKET"), "lost", true],
  ["a broken pipe", systemError("EPIPE", { syscall: "write" }), "lost", true],
  ["a route lost on an open connection", systemError("EHOSTUNREACH", { syscall: "read" }), "lost", true],
  ["our own time-out", new DOMException("late", "TimeoutError"), "timeout", true],
  ["undici's time-out for headers", systemError("UND_ERR_HEADERS_TIMEOUT"), "timeout", true],
  ["an endless body", systemError("UND_ERR_RES_EXCEEDED_MAX_SIZE"), "too-large", true],
  ["an answer that is not HTTP", systemError("HPE_INVALID_CONSTANT"), "protocol", true],
  ["the same without a code", Object.assign(new Error("?"), { name: "HTTPParserError" }), "protocol", true],
  [
    "a mismatch of TLS records later on",
    systemError("ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC"),
    "lost",
    true,
  ],
  ["an error that nobody foresaw", new Error("?"), "lost", true],
  ["something that is no error", undefined, "lost", true],
])("%s", (_claim, problem, why, sent) => {
  expect(transportFailure(problem)).toMatchObject({ why, sent });
});

test("a name with several addresses was never reached only if none of them was", () => {
  const each = [
    systemError("ECONNREFUSED", { syscall: "connect" }),
    systemError("ENETUNREACH", { syscall: "connect" }),
  ];
  expect(transportFailure(Object.assign(new AggregateError(each), { code: "ECONNREFUSED" }))).toMatchObject({
    sent: false,
  });
  const mixed = [...each, systemError("ECONNRESET", { syscall: "read" })];
  expect(transportFailure(new AggregateError(mixed))).toMatchObject({ sent: true });
});
