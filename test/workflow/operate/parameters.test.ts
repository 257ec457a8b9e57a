import { describe, expect, test } from "vitest";
import { hasParameters, type Parameters, parametersFor } from "../../../src/workflow/operate/parameters.ts";
import { thrownMessage } from "../../failures.ts";

const NONE: Parameters = { param: [], jarParam: [], pythonParam: [], submitParam: [] };
const NOTEBOOK = { notebook_task: { notebook_path: "/n" } };
const JAR = { spark_jar_task: {} };
const PYTHON = { spark_python_task: {} };
const SUBMIT = { spark_submit_task: {} };

describe("parameters of a start", () => {
  test("go into the field of the job's kind of task", () => {
    const param = ["a=1", "b=x=y"];
    expect(parametersFor("jobs.j", NOTEBOOK, { ...NONE, param })).toEqual({
      notebook_params: { a: "1", b: "x=y" },
    });
    expect(parametersFor("jobs.j", JAR, { ...NONE, param })).toEqual({ jar_params: param });
    expect(parametersFor("jobs.j", PYTHON, { ...NONE, param })).toEqual({ python_params: param });
    expect(parametersFor("jobs.j", SUBMIT, { ...NONE, param })).toEqual({ spark_submit_params: param });
  });

  test("under their own name stand behind those without one", () => {
    expect(parametersFor("jobs.j", JAR, { ...NONE, param: ["a"], jarParam: ["b", "c"] })).toEqual({
      jar_params: ["a", "b", "c"],
    });
  });

  test("without a value the field is absent, and the job's own count is used", () => {
    expect(hasParameters(NONE)).toBe(false);
    expect(parametersFor("jobs.j", NOTEBOOK, NONE)).toEqual({});
  });

  test.each([
    [
      "an option of another kind of task",
      JAR,
      { pythonParam: ["x"] },
      /runs a JAR, which does not support --python-param/,
    ],
    [
      "a notebook's parameter without a name",
      NOTEBOOK,
      { param: ["x"] },
      /--param x does not have the form name=value/,
    ],
    [
      "a notebook's parameter with an empty name",
      NOTEBOOK,
      { param: ["=x"] },
      /does not have the form name=value/,
    ],
    ["a name that is given twice", NOTEBOOK, { param: ["a=1", "a=2"] }, /duplicate parameter --param a/],
    ["a task that nobody knows", {}, { param: ["x"] }, /does not take parameters/],
    ["more than ASCII for Python", PYTHON, { param: ["é"] }, /characters outside ASCII/],
  ])("%s is refused", (_, settings, given, message) => {
    expect(thrownMessage(() => parametersFor("jobs.j", settings, { ...NONE, ...given }))).toMatch(message);
  });

  test("10,000 bytes as JSON are taken, one more is refused", () => {
    const fits = "x".repeat(10_000 - '[""]'.length);
    expect(parametersFor("jobs.j", JAR, { ...NONE, param: [fits] })).toEqual({ jar_params: [fits] });
    expect(thrownMessage(() => parametersFor("jobs.j", JAR, { ...NONE, param: [`${fits}x`] }))).toMatch(
      /are 10001 bytes as JSON/,
    );
  });

  test("a name from an object's prototype is a name like any other", () => {
    const found = parametersFor("jobs.j", NOTEBOOK, { ...NONE, param: ["__proto__=1"] });
    expect(Object.keys(found.notebook_params as object)).toEqual(["__proto__"]);
  });
});
