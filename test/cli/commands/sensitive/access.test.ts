// Levels of access from sensitive variables: no answer about access has one, with the value of the variable or without it.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const PRINCIPALS = `users: { ada@example.com: {}, bo@example.com: {} }
groups: { data-eng: { members: { users: [ada@example.com] } } }
`;
const DECLARED = (level: string): string => `variables:
  level: { type: string, sensitive: true, default: ${level} }
${PRINCIPALS}`;

const DIALECTS = [
  {
    dialect: "contract",
    spec: `${DECLARED("READ")}scopes: { wh: { acls: { data-eng: "\${var.level}" } } }\n`,
    object: "scopes.wh",
    level: "WRITE",
    other: "MANAGE",
  },
  {
    dialect: "databricks",
    spec: `${DECLARED("CAN_ATTACH_TO")}clusters:
  wh:
    spark_version: 15.4.x-scala2.12
    node_type_id: Standard_DS3_v2
    num_workers: 1
    access: { data-eng: "\${var.level}" }
`,
    object: "clusters.wh",
    level: "CAN_MANAGE",
    other: "CAN_RESTART",
  },
] as const;

describe.each(DIALECTS)(
  "a sensitive level in the dialect $dialect",
  ({ dialect, spec, object, level, other }) => {
    const site = () => {
      const folder = folderWith(spec);
      const state = mkdtempSync(join(tmpdir(), "access-"));
      const run = async (line: string, value?: string) => {
        const env = {
          WORKSPACE_HOST: "embedded",
          WORKSPACE_STATE: state,
          ...(dialect === "databricks" ? { WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: "azure" } : {}),
          ...(value === undefined ? {} : { WORKSPACE_VAR_level: value }),
        };
        const context = contextWith(env, folder);
        const code = await runProgram(context, line.split(" "));
        return { line, code, all: context.out() + context.err() };
      };
      const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
      return { run, write };
    };
    const leak = new RegExp(`\\b${level}\\b`);

    test("is in no answer about an object or a principal", async () => {
      const { run } = site();
      expect(await run("apply --auto-approve", level)).toMatchObject({ code: 0 });
      for (const name of [object, "ada@example.com", "data-eng"])
        for (const of of ["spec", "plan", "live"])
          for (const format of ["text", "json", "markdown", "html"])
            for (const value of of === "live" ? [level, undefined] : [level]) {
              const answer = await run(`access ${name} --of ${of} -o ${format}`, value);
              expect(answer).toMatchObject({ code: 0, all: expect.stringContaining("sensitive") });
              expect(answer.all).not.toMatch(leak);
            }
      const { all } = await run("access ada@example.com --of plan");
      expect(all).not.toMatch(leak);
    });

    test.runIf(dialect === "contract")("is in no answer after another user changed it", async () => {
      const { run } = site();
      expect(await run("apply --auto-approve", other)).toMatchObject({ code: 0 });
      const changed = await run(`api secrets/acls/put scope=wh principal=data-eng permission=${level}`);
      expect(changed).toMatchObject({ code: 0 });
      for (const line of [`access ${object}`, "access ada@example.com", "access ada@example.com --of plan"]) {
        const answer = await run(line);
        expect(answer).toMatchObject({ code: 0, all: expect.stringContaining("(sensitive)") });
        expect(answer.all).not.toMatch(leak);
      }
    });

    test("is in no difference of access that a plan makes by other changes", async () => {
      const { run, write } = site();
      expect(await run("apply --auto-approve", level)).toMatchObject({ code: 0 });
      write("workspace.yaml", spec.replace("[ada@example.com]", "[bo@example.com]"));
      for (const format of ["text", "json", "markdown", "html"]) {
        const plan = await run(`plan -o ${format}`, level);
        expect(plan).toMatchObject({ code: 0, all: expect.stringMatching(/bo[\s\S]*sensitive/) });
        expect(plan.all).not.toMatch(leak);
        expect((await run(`plan -o ${format}`)).all).not.toMatch(leak);
        expect((await run(`plan --untrusted -o ${format}`)).all).not.toMatch(leak);
      }
    });
  },
);

describe.each(["contract", "databricks"])("whether a user is active, in the dialect %s", (dialect) => {
  const spec = `variables: { yes: { type: string, sensitive: true, default: "yes" } }
users: { ada@example.com: { active: "\${var.yes == 'yes'}" }, bo@example.com: {} }
groups: { data-eng: { members: { users: [ada@example.com, bo@example.com] }, entitlements: [allow-cluster-create] } }
scopes: { wh: { acls: { data-eng: WRITE } } }
`;

  test("is in no answer, if it is sensitive", async () => {
    const answersOf = async (yes: string) => {
      const folder = folderWith(spec);
      const state = mkdtempSync(join(tmpdir(), "access-"));
      const run = async (line: string, values: Readonly<Record<string, string>>) => {
        const env = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, ...values };
        const cloud =
          dialect === "databricks" ? { WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: "azure" } : {};
        const context = contextWith({ ...env, ...cloud }, folder);
        const code = await runProgram(context, line.split(" "));
        return [line, code, (context.out() + context.err()).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")];
      };
      const values = { WORKSPACE_VAR_yes: yes };
      const [, applied] = await run("apply --auto-approve", values);
      expect(applied).toBe(0);
      const names = ["ada@example.com", "data-eng", "scopes.wh"];
      const lines = names.flatMap((name) =>
        ["live", "spec", "plan"].flatMap((of) =>
          ["text", "json", "markdown"].map((format) => `access ${name} --of ${of} -o ${format}`),
        ),
      );
      const answers: unknown[] = [];
      for (const line of lines) answers.push(await run(line, values));
      return answers;
    };
    const active = await answersOf("yes");
    expect(await answersOf("no")).toEqual(active);
    expect(JSON.stringify(active)).toContain(
      "active: (sensitive); the rights are those of an active principal",
    );
  });
});
