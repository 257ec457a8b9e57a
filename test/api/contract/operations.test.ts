import { readFileSync } from "node:fs";
import { expect, expectTypeOf, test } from "vitest";
import { parse } from "yaml";
import type { ApiReader, ApiWriter } from "../../../src/api/client.ts";
import {
  OPERATIONS,
  type OperationFacts,
  type OperationName,
  type ReadName,
  repeatIsSafe,
  type WriteName,
} from "../../../src/api/contract/operations.ts";
import type { Reader, ReadOperation, WriteOperation, Writer } from "../../../src/api/contract/reader.ts";

const all = Object.entries(OPERATIONS) as [OperationName, OperationFacts][];

// The client's reader and writer are what providers receive. `npm run check` compares the types; nothing runs.
expectTypeOf<ReadName>().toEqualTypeOf<ReadOperation>();
expectTypeOf<WriteName>().toEqualTypeOf<WriteOperation>();
expectTypeOf<ApiReader>().toExtend<Reader>();
expectTypeOf<ApiWriter>().toExtend<Writer>();

test("the table and openapi.yaml name the same operations with the same method and path", () => {
  const contract = parse(readFileSync("schemas/openapi.yaml", "utf8")) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const described: Record<string, string> = {};
  for (const [path, methods] of Object.entries(contract.paths))
    for (const [method, { operationId }] of Object.entries(methods))
      if (operationId !== undefined) described[nameOf(operationId)] = `${method.toUpperCase()} ${path}`;
  const known = all.map(([name, { method, path }]) => [name, `${method} ${path}`] as const);
  expect(Object.fromEntries(known)).toEqual(described);
});

/** There is one operation on the caller, so its name may have no verb. */
function nameOf(operationId: string): string {
  return operationId === "scim/me/get" ? "scim/me" : operationId;
}

test("the contract's tables have 76 calls, and one more tells who we are", () => {
  expect(all).toHaveLength(77);
});

test("every read is safe to repeat, and every GET is a read", () => {
  for (const [name, { kind, method, repeat }] of all) {
    if (kind === "read") expect(repeat, name).toBe("safe");
    if (method === "GET") expect(kind, name).toBe("read");
  }
});

test("operations that create, append, or start are never retried blindly", () => {
  const unsafe = all.filter(([, { repeat }]) => repeat === "unsafe").map(([name]) => name);
  expect(unsafe.sort()).toEqual([
    "clusters/create",
    "clusters/restart",
    "fs/add-block",
    "fs/close",
    "fs/create",
    "fs/move",
    "groups/create",
    "instance-pools/create",
    "jobs/create",
    "jobs/run-now",
    "jobs/runs/submit",
    "scim/groups/create",
    "scim/users/create",
    "secrets/scopes/create",
  ]);
});

test("an import or a put may be repeated only when it overwrites", () => {
  for (const name of ["workspace/import", "fs/put"] as const) {
    expect(repeatIsSafe(OPERATIONS[name], { path: "/a", overwrite: true })).toBe(true);
    expect(repeatIsSafe(OPERATIONS[name], { path: "/a", overwrite: false })).toBe(false);
    expect(repeatIsSafe(OPERATIONS[name], { path: "/a" })).toBe(false);
  }
});

test("the retry rule of the jobs endpoints covers runs too, and nothing else", () => {
  const jobs = all.filter(([, facts]) => facts.jobs).map(([name]) => name);
  expect(jobs).toHaveLength(13);
  expect(jobs.every((name) => name.startsWith("jobs/"))).toBe(true);
});
