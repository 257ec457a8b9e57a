// Deprecated fields, variables, and inputs: a warning where a spec sets them, and none for a default.

import { describe, expect, it } from "vitest";
import { registry as realKinds } from "../../../src/providers/index.ts";
import { load } from "../folder.ts";

describe("a deprecated parameter", () => {
  const declared = "{ type: integer, default: 1, deprecated: true, description: use capacity }";
  const variables = `variables: { size: ${declared} }\npools: { p: { node_type_id: n, max_capacity: "\${var.size}" } }`;

  it("is a warning at the value that sets the variable, with the description as its hint", async () => {
    const { told, diagnostics } = await load(variables, { vars: ["size=2"] });
    expect(told).toEqual([expect.stringMatching(/^SPEC_DEPRECATED .*the variable size is deprecated$/)]);
    expect(diagnostics).toMatchObject([{ severity: "warning", hint: "use capacity" }]);
  });

  it("has no warning for its default", async () => {
    expect((await load(variables)).told).toEqual([]);
  });

  it("is a warning at the input that a module gets", async () => {
    const team = `inputs:\n  size: ${declared}\npools:\n  p: { node_type_id: n, max_capacity: "\${input.size}" }\n`;
    const spec = (input: string) => ({
      "workspace.yaml": `modules:\n  team:\n    source: ./team\n    with: ${input}\n`,
      "team/workspace.yaml": team,
    });
    expect((await load(spec("{}"))).told).toEqual([]);
    const { told } = await load(spec("{ size: 3 }"));
    expect(told).toEqual(["SPEC_DEPRECATED 4:19 modules.team: size is deprecated"]);
  });
});

it("a deprecated field is a warning at its key, with the command that describes it", async () => {
  const job = (more: string) =>
    `jobs:\n  j:\n    existing_cluster_id: c\n    spark_jar_task: { main_class_name: a.B${more} }\n`;
  expect((await load(job(""), { registry: realKinds })).told).toEqual([]);
  const { told, diagnostics } = await load(job(", jar_uri: fs:/a.jar"), { registry: realKinds });
  expect(told).toEqual(["SPEC_DEPRECATED 4:45 jobs.j: spark_jar_task.jar_uri is deprecated"]);
  expect(diagnostics).toMatchObject([
    { severity: "warning", address: "jobs.j", hint: "run `workspace explain jobs.spark_jar_task.jar_uri`" },
  ]);
});
