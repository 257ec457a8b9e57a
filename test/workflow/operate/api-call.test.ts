import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  findOperation,
  inputOf,
  inputProblems,
  type OperationCatalog,
  operationCatalog,
} from "../../../src/workflow/operate/api-call.ts";
import { rejectedDiagnostics, thrownDiagnostics } from "../../failures.ts";

let catalog: OperationCatalog;
beforeAll(() => {
  catalog = operationCatalog();
});

const FILES: Readonly<Record<string, Uint8Array>> = {
  "note.py": new TextEncoder().encode("print(1)\n"),
  "bytes.bin": Uint8Array.of(0, 255, 10),
  "task.json": new TextEncoder().encode('{"main_class_name": "A"}'),
  "-": new TextEncoder().encode("from a pipe"),
};
const read = async (path: string): Promise<Uint8Array> => FILES[path] ?? Promise.reject(new Error(path));

const input = (name: string, words: readonly string[], whole: JsonObject = {}) =>
  inputOf(catalog, findOperation(catalog, name), words, whole, read);

const problems = async (name: string, words: readonly string[]) =>
  inputProblems(catalog, findOperation(catalog, name), await input(name, words)).map((one) => one.message);

const refusal = async (work: Promise<unknown>) => (await rejectedDiagnostics(work))[0]?.message;

describe("fields on a line", () => {
  test("are read as the type that the contract gives them", async () => {
    expect(await input("jobs/runs/list", ["job_id=12", "active_only=true", "limit=3"])).toEqual({
      job_id: 12,
      active_only: true,
      limit: 3,
    });
    expect(await input("groups/create", ["group_name=12"])).toEqual({ group_name: "12" });
    expect(await input("groups/create", ["group_name="])).toEqual({ group_name: "" });
    expect(await input("groups/create", ["group_name=a=b"])).toEqual({ group_name: "a=b" });
  });

  test("an id beyond 2^53 loses no digit", async () => {
    expect(await input("jobs/get", ["job_id=9007199254740993"])).toEqual({ job_id: 9007199254740993n });
    expect(await problems("jobs/get", ["job_id=9007199254740993"])).toEqual([]);
  });

  test("a list gathers what is given one by one, or takes JSON", async () => {
    expect(
      await input("clusters/events", ["cluster_id=c", "event_types=RUNNING", "event_types=PINNED"]),
    ).toEqual({
      cluster_id: "c",
      event_types: ["RUNNING", "PINNED"],
    });
    expect(await input("clusters/events", ['event_types=["RUNNING"]'])).toEqual({ event_types: ["RUNNING"] });
    expect(await input("jobs/create", ['libraries={"jar":"a"}', 'libraries={"jar":"b"}'])).toEqual({
      libraries: [{ jar: "a" }, { jar: "b" }],
    });
  });

  test("a duplicate field is refused unless it is a list", async () => {
    const name = "duplicate field group_name";
    expect(await refusal(input("groups/create", ["group_name=a", "group_name=b"]))).toBe(name);
    expect(await refusal(input("groups/create", ["group_name=a", 'group_name:="b"']))).toBe(name);
    expect(await refusal(input("clusters/events", ["event_types=RUNNING", 'event_types:=["PINNED"]']))).toBe(
      "duplicate field event_types",
    );
    expect(await input("groups/create", ["group_name=line"], { group_name: "file" })).toEqual({
      group_name: "line",
    });
  });

  test("a dot leads into an object, and into a map whatever its key", async () => {
    expect(
      await input("clusters/create", [
        "autoscale.min_workers=1",
        "autoscale.max_workers=3",
        "spark_conf.spark.speculation=true",
        "spark_env_vars.A.B=1",
      ]),
    ).toEqual({
      autoscale: { min_workers: 1, max_workers: 3 },
      spark_conf: { "spark.speculation": "true" },
      spark_env_vars: { "A.B": "1" },
    });
    expect(await input("jobs/run-now", ["notebook_params.__proto__=x"])).toEqual(
      JSON.parse('{"notebook_params": {"__proto__": "x"}}'),
    );
  });

  test("JSON is sent unchanged, whatever the type", async () => {
    expect(await input("groups/create", ["group_name:=12"])).toEqual({ group_name: 12 });
    expect(await refusal(input("groups/create", ["group_name:=x"]))).toMatch(/is not JSON: x/);
  });

  test("a file's content is the value: text unchanged, bytes as base64, objects as JSON", async () => {
    expect(await input("workspace/import", ["content=@bytes.bin", "path=@note.py"])).toEqual({
      content: "AP8K",
      path: "print(1)\n",
    });
    expect(await input("jobs/create", ["spark_jar_task=@task.json"])).toEqual({
      spark_jar_task: { main_class_name: "A" },
    });
    expect(await input("secrets/put", ["string_value=@-"])).toEqual({ string_value: "from a pipe" });
    expect(await refusal(input("groups/create", ["group_name=@bytes.bin"]))).toMatch(/not UTF-8/);
  });

  test("win over the same fields of a body", async () => {
    const body = { cluster_name: "a", autoscale: { min_workers: 1, max_workers: 2 } };
    expect(await input("clusters/create", ["cluster_name=b", "autoscale.max_workers=9"], body)).toEqual({
      cluster_name: "b",
      autoscale: { min_workers: 1, max_workers: 9 },
    });
  });

  test.each(["x", "=x", ":=x"])("%j is not a field", async (word) => {
    expect(await refusal(input("groups/create", [word]))).toMatch(/is not field=value/);
  });
});

describe("the check", () => {
  test("finds everything that does not fit, at once", async () => {
    expect(await problems("secrets/acls/put", ["scop=etl", "permission=ALL"])).toEqual([
      'secrets/acls/put requires the field "scope"',
      'secrets/acls/put requires the field "principal"',
      'secrets/acls/put has no field "scop"',
      'secrets/acls/put: permission must be one of READ, WRITE or MANAGE, not "ALL"',
    ]);
  });

  test("looks into objects that schemas refer to", async () => {
    expect(
      await problems("clusters/resize", ["cluster_id=c", "autoscale.min=1", "autoscale.max_workers=x"]),
    ).toEqual([
      'clusters/resize requires the field "autoscale.min_workers"',
      'clusters/resize has no field "autoscale.min"',
      'clusters/resize: autoscale.max_workers must be an integer, not the string "x"',
    ]);
  });

  test("refuses invalid base64 and numbers that are too large", async () => {
    expect(await problems("fs/add-block", ["handle=1", "data=???"])).toHaveLength(1);
    expect(await problems("clusters/resize", ["cluster_id=c", "num_workers=3000000000"])).toHaveLength(1);
    expect(await problems("jobs/get", ["job_id=99999999999999999999"])).toHaveLength(1);
  });

  test("lets the fields of every operation pass that their own schemas allow", () => {
    for (const operation of catalog.operations)
      expect(() => inputProblems(catalog, operation, {}), operation.id).not.toThrow();
  });
});

describe("operations", () => {
  test("each one of the contract can be called, under its name there", () => {
    expect(catalog.operations.length).toBeGreaterThan(70);
    expect(findOperation(catalog, "scim/me/get").name).toBe("scim/me");
    expect(findOperation(catalog, "scim/me").id).toBe("scim/me/get");
  });

  test.each([
    ["clusters/lst", 'did you mean "clusters/list"?'],
    ["events", "did you mean clusters/events?"],
    ["fly", "to list operations, run `workspace api --list`"],
  ])("for %s the hint is %s", (name, hint) => {
    expect(thrownDiagnostics(() => findOperation(catalog, name))[0]?.hint).toBe(hint);
  });
});
