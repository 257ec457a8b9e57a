import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import {
  OPERATIONS,
  type OperationFacts,
  type OperationName,
  repeatIsSafe,
} from "../../../src/api/contract/operations.ts";
import { omit } from "../../../src/core/json.ts";

const all = Object.entries(OPERATIONS) as [OperationName, OperationFacts][];

test("the table has each operation of openapi.yaml, and of the dialect those that the contract lacks, with method and path", () => {
  const described = operationsIn("schemas/openapi.yaml");
  const inDialect = new Set(Object.values(operationsIn("schemas/openapi-databricks.yaml")).map(withoutNames));
  const table = Object.fromEntries(all.map(([name, { method, path }]) => [name, `${method} ${path}`]));
  const added = Object.keys(table).filter((name) => !Object.hasOwn(described, name));
  expect(omit(table, added)).toEqual(described);
  expect(added.filter((name) => !inDialect.has(withoutNames(table[name] ?? "")))).toEqual([]);
});

function operationsIn(file: string): Readonly<Record<string, string>> {
  const { paths } = parse(readFileSync(file, "utf8")) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const operations: Record<string, string> = {};
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId }] of Object.entries(methods))
      if (operationId !== undefined) operations[nameOf(operationId)] = `${method.toUpperCase()} ${path}`;
  return operations;
}

/** The descriptions name the parameters of a path differently. */
const withoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, "{}");

/** There is one operation on the caller, so its name may have no verb. */
function nameOf(operationId: string): string {
  return operationId === "scim/me/get" ? "scim/me" : operationId;
}

test("every read is safe to repeat, and every GET is a read", () => {
  for (const [name, { kind, method, repeat }] of all) {
    if (kind === "read") expect(repeat, name).toBe("safe");
    if (method === "GET") expect(kind, name).toBe("read");
  }
});

test("operations that create, append, or start are never retried blindly", () => {
  const isCreate = (name: string) => name.endsWith("/create");
  for (const [name, { repeat }] of all) if (isCreate(name)) expect(repeat, name).toBe("unsafe");
  const others = all.filter(([name, { repeat }]) => repeat === "unsafe" && !isCreate(name));
  expect(others.map(([name]) => name).sort()).toEqual([
    "clusters/restart",
    "fs/add-block",
    "fs/close",
    "fs/move",
    "instance-profiles/add",
    "jobs/run-now",
    "jobs/runs/submit",
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
