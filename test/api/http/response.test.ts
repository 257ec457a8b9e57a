import { expect, test } from "vitest";
import { parseAnswer } from "../../../src/api/http/response.ts";
import { apiError, json, raw, scimError } from "../answers.ts";

const read = (response: Parameters<typeof parseAnswer>[1], method = "GET") =>
  parseAnswer(method, response, 0);

test("200, 201 and any other status of success carry their body", () => {
  for (const status of [200, 201, 202])
    expect(read(json({ a: 1 }, status))).toEqual({ end: "ok", json: { a: 1 } });
});

test("204 to a write has no body and means an empty object", () => {
  expect(read(raw(204, ""), "DELETE")).toEqual({ end: "ok", json: {} });
});

test("204 to a read is an incomplete answer, so no list counts as empty", () => {
  expect(read(raw(204, ""))).toEqual({ end: "garbled", status: 204, what: "empty" });
});

test("integers beyond 2^53 keep every digit", () => {
  expect(read(raw(200, '{"spark_context_id":4020997813441462789}'))).toEqual({
    end: "ok",
    json: { spark_context_id: 4020997813441462789n },
  });
});

test("an INT64 sent as text stays text", () => {
  expect(read(raw(200, '{"at":"1602168336000"}'))).toEqual({ end: "ok", json: { at: "1602168336000" } });
});

test.each([
  ["empty", ""],
  ["empty", " \n"],
  ["HTML", "<!DOCTYPE html><html></html>"],
  ["not JSON", '{"jobs":[{"job_id":1'],
  ["not a JSON object", "[]"],
  ["not a JSON object", "null"],
  ["not a JSON object", '"ok"'],
  ["not UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d)],
] as const)("a success whose body is %s is garbled", (what, body) => {
  expect(read(raw(200, body))).toEqual({ end: "garbled", status: 200, what });
});

test("an error body is read, its code as text even where a gateway sends a number", () => {
  expect(read(apiError(400, "INVALID_STATE", "no"))).toEqual({
    end: "error",
    status: 400,
    form: "api",
    code: "INVALID_STATE",
    message: "no",
  });
  expect(read(apiError(401, 401, "Credential was not sent"))).toMatchObject({ form: "api", code: "401" });
});

test("a SCIM error body is read; the text null means nothing", () => {
  expect(read(scimError(409, "User exists", "uniqueness"))).toMatchObject({
    form: "scim",
    code: "uniqueness",
    message: "User exists",
  });
  expect(read(scimError(404, "null"))).toMatchObject({ form: "scim", code: "", message: "" });
});

test("the words of a long HTML error page end with a complete word", () => {
  const page = `<p>${"word ".repeat(3_998)}s3cret-token</p>`;
  expect(read(raw(502, page))).toMatchObject({ message: `${"word ".repeat(3_998)}…` });
});

test("an HTML error page is reduced to its words", () => {
  const page =
    "<html><head><style>p{}</style><title>Error 403</title></head><p>Invalid access token.</p></html>";
  expect(read(raw(403, page))).toMatchObject({
    form: "plain",
    code: "",
    message: "Error 403 Invalid access token.",
  });
});

test("an error object of another API is not an error of this API", () => {
  expect(read(json({ error: "Bad Target: /api/2.2/x" }, 404))).toMatchObject({
    form: "plain",
    message: "Bad Target: /api/2.2/x",
  });
});

test("a redirect keeps its location and the 3xx that is none stays an error", () => {
  expect(read(raw(302, "", { location: "/login" }))).toEqual({
    end: "redirect",
    status: 302,
    location: "/login",
  });
  expect(read(raw(304, ""))).toMatchObject({ end: "error", status: 304 });
});

test.each(["gzip", "BR", "identity, zstd", "x-gzip", "deflate"])(
  "a successful answer with the encoding %s is compressed, whatever its body",
  (encoding) => {
    const headers = { "content-encoding": encoding };
    expect(parseAnswer("GET", { status: 200, headers, body: "{}" }, 0)).toEqual({
      end: "garbled",
      status: 200,
      what: "compressed",
    });
    expect(parseAnswer("GET", { status: 503, headers, body: "" }, 0)).toMatchObject({ status: 503 });
  },
);

test.each(["identity", "", "utf-8"])("an answer with the encoding %j is not compressed", (encoding) => {
  const headers = { "content-encoding": encoding };
  expect(parseAnswer("GET", { status: 200, headers, body: "{}" }, 0)).toEqual({ end: "ok", json: {} });
});
