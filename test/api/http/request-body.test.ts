import { expect, test } from "vitest";
import { OPERATIONS } from "../../../src/api/contract/operations.ts";
import { prepareRequest } from "../../../src/api/http/request-body.ts";
import { Sensitive } from "../../../src/core/sensitive/texts.ts";

const utf8 = new TextEncoder();

test("the fields of a GET are in the query, with spaces as + and without absent fields", () => {
  const filter = 'userName eq "ada+b@example.com"';
  expect(prepareRequest(OPERATIONS["scim/users/list"], { filter, count: 10, startIndex: null })).toEqual({
    method: "GET",
    path: "/api/2.0/preview/scim/v2/Users?filter=userName+eq+%22ada%2Bb%40example.com%22&count=10",
    secrets: [],
  });
});

test("an id beyond 2^53 keeps its digits in a query and in a body", () => {
  const id = 4020997813441462789n;
  expect(prepareRequest(OPERATIONS["jobs/get"], { job_id: id }).path).toBe(
    "/api/2.0/jobs/get?job_id=4020997813441462789",
  );
  expect(prepareRequest(OPERATIONS["jobs/delete"], { job_id: id }).body).toBe(
    '{"job_id":4020997813441462789}',
  );
});

test("a path parameter is encoded and leaves the body", () => {
  const prepared = prepareRequest(OPERATIONS["scim/users/patch"], { id: "a/b?c#d ü", Operations: [] });
  expect(prepared.path).toBe("/api/2.0/preview/scim/v2/Users/a%2Fb%3Fc%23d%20%C3%BC");
  expect(prepared.body).toBe('{"Operations":[]}');
});

test("a path parameter that would change the path's shape is a bug, not a request", () => {
  for (const id of ["", ".", "..", null, undefined as unknown as null, {}])
    expect(() => prepareRequest(OPERATIONS["scim/users/delete"], { id })).toThrow("path parameter id");
});

test("a DELETE has no body", () => {
  expect(prepareRequest(OPERATIONS["scim/users/delete"], { id: "7" })).not.toHaveProperty("body");
});

test("bytes are base64", () => {
  const prepared = prepareRequest(OPERATIONS["fs/put"], { path: "/a", contents: Uint8Array.of(0, 255, 16) });
  expect(prepared.body).toBe('{"path":"/a","contents":"AP8Q"}');
});

test("a secret is text in a field of text, base64 in a field of bytes, and is remembered for redaction", () => {
  const secret = new Sensitive(utf8.encode("pä$$"));
  const text = prepareRequest(OPERATIONS["secrets/put"], { scope: "s", key: "k", string_value: secret });
  expect(text.body).toBe('{"scope":"s","key":"k","string_value":"pä$$"}');
  expect(text.secrets).toEqual([secret.reveal()]);
  const bytes = prepareRequest(OPERATIONS["secrets/put"], { scope: "s", key: "k", bytes_value: secret });
  expect(JSON.parse(String(bytes.body))).toMatchObject({ bytes_value: btoa("pÃ¤$$") });
});

test("a byte order mark that belongs to a secret is kept", () => {
  const secret = new Sensitive(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61));
  const { body } = prepareRequest(OPERATIONS["secrets/put"], { string_value: secret });
  expect(body).toBe('{"string_value":"\ufeffa"}');
});

test("a secret that is not UTF-8 is refused for a field of text without being shown", () => {
  const secret = new Sensitive(Uint8Array.of(0x73, 0xff));
  expect(() => prepareRequest(OPERATIONS["secrets/put"], { string_value: secret })).toThrow(
    /^the secret for string_value is not UTF-8/,
  );
});

test("a field named __proto__ is sent like any other", () => {
  const conf = JSON.parse('{"__proto__":"x"}');
  expect(prepareRequest(OPERATIONS["clusters/create"], { spark_conf: conf }).body).toBe(
    '{"spark_conf":{"__proto__":"x"}}',
  );
});

test("an import that base64 would make larger than a request may be goes as a form", () => {
  const content = new Uint8Array(8_000_000).fill(0x61);
  const input = { path: "/a", format: "SOURCE", language: "SQL", overwrite: true, content };
  const { contentType, body } = prepareRequest(OPERATIONS["workspace/import"], input);
  expect(contentType).toBe("multipart/form-data; boundary=workspace-form-0");
  expect(body?.length).toBeLessThan(8_001_000);
  const small = prepareRequest(OPERATIONS["workspace/import"], {
    ...input,
    content: content.subarray(0, 1_000),
  });
  expect(small.body).toContain('"content":"YWFh');
});
