// `explain` describes every field of a spec, and an error about an unknown field names the permitted ones.

import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";

async function told(what: string): Promise<string> {
  const context = contextWith();
  await runProgram(context, ["explain", what]);
  return context.out() + context.err();
}

test.each([
  ["scopes", "Other keys of a resource:\n  acls, secrets, lifecycle"],
  ["scopes.acls", "  scopes:\n    PARENT:\n      acls:\n        KEY:\n          permission: <string>"],
  ["scopes.acls.permission", "MANAGE also changes this list"],
  ["scopes.secrets.env", "Environment variable that contains the value."],
  ["pools.lifecycle", "prevent_destroy "],
  ["pools.lifecycle.ignore_changes", "never updated"],
  ["lifecycle", "How a plan treats changes of this resource."],
  ["policy", "max_deletes "],
  ["policy.max_deletes", 'Unset: "30%".'],
  ["variables", "--var-file"],
  ["targets", "Named variants of the spec."],
  ["targets", "\n  protected    Require a saved plan"],
  ["modules", "\n  source*      The folder of the module"],
  ["modules.team.for_each", "each.key"],
  ["inputs", "Inputs of the module"],
  ["outputs", "modules.NAME.OUTPUT"],
  ["locals", "Named values"],
  ["locals", '\nExample:\n  { prefix: "${var.team.lowerAscii()}-${target.name}" }\n'],
  ["moved", "\nExample:\n  [{ from: pools.a, to: pools.b }]\n"],
  ["moved", "\n  from*  The previous address"],
  ["removed", "\n  address*  "],
  ["import", "\n  to*  "],
  ["include", "More files of this spec"],
  ["scopes.nope", "known: lifecycle, for_each, when, acls, secrets, "],
  ["pools.__proto__", 'unknown field of pools: "__proto__"'],
  ["pools.disk_spec.constructor", 'unknown field of pools: "constructor"'],
  ["clusters.autoscale.min_workers.x", "the part before it has no fields"],
  ["polcy", 'did you mean "policy"?'],
  ["jobs", "The dialect databricks has more fields: pass --dialect databricks."],
  ["jobs.tasks.notebook_task", "exists only in the dialect databricks: pass --dialect databricks,"],
  ["instance_profiles", "instance_profiles exist only in the dialect databricks on aws"],
  ["instance_profiles", "pass --dialect databricks --cloud aws,"],
])("%s", async (what, words) => {
  expect(await told(what)).toContain(words);
});

test("schema prints one schema at a time", async () => {
  const context = contextWith();
  expect(await runProgram(context, ["schema", "--plan", "--drift"])).toBe(1);
  expect(context.out()).toBe("");
  expect(context.err()).toContain("error CLI_USAGE: only one schema can be printed at a time");
});

test("no explanation cites a rule of the contract that its reader does not have", async () => {
  for (const kind of ["users", "groups", "scopes", "pools", "clusters", "jobs", "notebooks", "files"])
    expect(await told(kind)).not.toMatch(/part [AB], /);
});
