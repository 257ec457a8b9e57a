// Sensitive values in what newer commands record and write: values that were plain in an earlier run, and drift that contains one.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = "CANARY-7731-abcdef";
const B = "spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1";
const spec = (
  isSensitive: boolean,
  b: string,
): string => `variables: { x: { type: string, sensitive: ${isSensitive} } }
policy: { max_deletes: 100% }
clusters:
  a: { ${B}, spark_env_vars: { A: "p-\${var.x}" } }
${b}`;

const BEFORE = `  b: { ${B}, spark_env_vars: { A: "\${var.x}", C: "1" }, custom_tags: { z: "\${var.x}!" } }\n`;

test.each([
  ["a resource is deleted", ""],
  ["its fields leave the spec", `  b: { ${B} }\n`],
  ["another place of the value stays", `  b: { ${B}, spark_env_vars: { A: "\${var.x}" } }\n`],
])("a value that became sensitive leaves the fields of earlier runs when %s", async (_, after) => {
  const folder = folderWith(spec(false, BEFORE));
  const env = { WORKSPACE_HOST: "embedded", WORKSPACE_VAR_x: VALUE };
  const run = async (line: string) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, all: context.out() + context.err() };
  };
  const state = () => readFileSync(join(folder, ".workspace/default/state.json"), "utf8");
  expect((await run("apply --auto-approve")).code).toBe(0);
  expect(state()).toContain(VALUE);
  writeFileSync(join(folder, "workspace.yaml"), spec(true, after));
  expect((await run("apply --auto-approve")).code).toBe(0);
  expect(state()).not.toContain(VALUE);
  for (const line of ["history --diff", "history last --diff -o json", "history 1 --diff"])
    expect((await run(line)).all).not.toContain(VALUE);
});

/** Applies a spec after the other; gives the state and all that `history` shows. */
async function historyAfter(
  applies: readonly (readonly [spec: string, variables: Readonly<Record<string, string>>])[],
) {
  const folder = folderWith("");
  const run = async (line: string, variables: Readonly<Record<string, string>> = {}) => {
    const values = Object.entries(variables).map(([name, value]) => [`WORKSPACE_VAR_${name}`, value]);
    const context = contextWith({ WORKSPACE_HOST: "embedded", ...Object.fromEntries(values) }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, all: context.out() + context.err() };
  };
  for (const [text, variables] of applies) {
    writeFileSync(join(folder, "workspace.yaml"), text);
    const { code, all } = await run("apply --auto-approve", variables);
    expect([code, all]).toEqual([0, expect.stringMatching(/Applied|No changes/)]);
  }
  const shown: string[] = [];
  for (let number = applies.length; number > 0; number -= 1)
    for (const form of ["", " -o json"]) shown.push((await run(`history ${number} --diff${form}`)).all);
  return readFileSync(join(folder, ".workspace/default/state.json"), "utf8") + shown.join("\n");
}

describe("the fields of earlier runs", () => {
  const groups = (isSensitive: boolean, more: string): string => `variables:
  x: { type: string, sensitive: ${isSensitive} }
  n: { type: string, sensitive: ${isSensitive} }
policy: { max_deletes: 100% }
pools: { p: { node_type_id: Standard_DS3_v2, max_capacity: "\${int(var.n)}" } }
users: { ada@example.com: { displayName: "p-\${var.x}", externalId: open-id }${more} }
`;
  const BO = `, bo@example.com: { displayName: "p-\${var.x}!" }`;
  const ROTATED = "CANARY-9942-rotated";

  test("lose a value when nothing changes but that it is sensitive now", async () => {
    const values = { x: VALUE, n: "1234567" };
    const all = await historyAfter([
      [groups(false, ""), values],
      [groups(true, ""), values],
    ]);
    expect(all).toContain("open-id");
    expect(all).not.toMatch(/CANARY|1234567/);
  });

  test("lose a former value of a variable that was rotated before it became sensitive, also of deleted resources", async () => {
    const all = await historyAfter([
      [groups(false, BO), { x: VALUE, n: "1234567" }],
      [groups(false, BO), { x: ROTATED, n: "7654321" }],
      [groups(false, ""), { x: ROTATED, n: "7654321" }],
      [groups(true, ", cy@example.com: {}"), { x: ROTATED, n: "7654321" }],
    ]);
    expect(all).toContain("open-id");
    expect(all).not.toMatch(/CANARY|1234567|7654321/);
  });

  test("lose a value of under four characters where it is a part of a field that is sensitive now", async () => {
    const all = await historyAfter([
      [groups(false, ""), { x: "q7", n: "1" }],
      [groups(true, ", cy@example.com: {}"), { x: "q7", n: "1" }],
    ]);
    expect(all).not.toContain("p-q7");
  });
});

test("drift accept writes no content and no key that contains a sensitive value, in any encoding", async () => {
  const folder = folderWith(`variables: { x: { type: string, sensitive: true } }
clusters: { c: { ${B}, custom_tags: { k: "\${var.x}" } } }
notebooks: { /n: { source: n.py } }
`);
  writeFileSync(join(folder, "n.py"), "print(1)\n");
  const env = { WORKSPACE_HOST: "embedded", WORKSPACE_VAR_x: VALUE };
  const run = async (line: string) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, all: context.out() + context.err() };
  };
  expect((await run("apply --auto-approve")).code).toBe(0);
  for (const text of [VALUE, Buffer.from(VALUE).toString("base64")]) {
    const content = Buffer.from(`print('${text}')\n`).toString("base64");
    const imported = `api workspace/import path=/n format=SOURCE language=PYTHON overwrite=true content=${content}`;
    expect((await run(imported)).code).toBe(0);
    for (const line of ["drift accept notebooks./n", "drift accept notebooks./n --dry-run -o json"]) {
      const { code, all } = await run(line);
      expect([code, all]).toEqual([1, expect.stringContaining("DRIFT_NOT_ACCEPTED")]);
      expect(all).not.toContain(text);
    }
    expect(readFileSync(join(folder, "n.py"), "utf8")).toBe("print(1)\n");
  }
});

describe("drift accept of a content with a former sensitive value", () => {
  const OLD = "CANARY-former-3391";
  const declared = `variables: { x: { type: string, sensitive: true, default: none-set } }
clusters: { c: { ${B}, custom_tags: { k: "\${var.x}" } } }
`;
  const removed = `clusters: { c: { ${B}, custom_tags: { k: v } } }\n`;
  const notebook = "notebooks: { /n: { source: n.py } }\n";
  const put = (path: string, text: string) =>
    `api workspace/import path=${path} format=SOURCE language=PYTHON overwrite=true content=${Buffer.from(text).toString("base64")}`;

  test.each([
    ["was rotated", declared, { WORKSPACE_VAR_x: "CANARY-rotated-8812" }],
    ["has its default again", declared, {}],
    ["left the spec", removed, {}],
  ])("is refused with the address and the field when the variable %s", async (_, after, variables) => {
    const folder = folderWith(declared + notebook);
    writeFileSync(join(folder, "n.py"), "print(1)\n");
    const run = async (line: string, values: Readonly<Record<string, string>>) => {
      const context = contextWith({ WORKSPACE_HOST: "embedded", ...values }, folder);
      const code = await runProgram(context, line.split(" "));
      return { code, all: context.out() + context.err() };
    };
    expect((await run("apply --auto-approve", { WORKSPACE_VAR_x: OLD })).code).toBe(0);
    expect((await run(put("/n", `print('${OLD}')\n`), {})).code).toBe(0);
    writeFileSync(join(folder, "workspace.yaml"), after + notebook);
    const drift = await run("drift", variables);
    expect(drift.all).toContain("(sensitive)");
    expect(drift.all).not.toContain(OLD);
    for (const line of [
      "drift accept notebooks./n",
      "drift accept notebooks./n --dry-run",
      "drift accept notebooks./n --dry-run -o json",
      "drift accept * --keep-going",
    ]) {
      const { code, all } = await run(line, variables);
      expect([line, code]).toEqual([line, line.includes("--keep-going") ? 2 : 1]);
      expect(all).toContain("notebooks./n: content contains a sensitive value");
      expect(all).not.toContain(OLD);
    }
    expect(readFileSync(join(folder, "n.py"), "utf8")).toBe("print(1)\n");
    expect(readFileSync(join(folder, "workspace.yaml"), "utf8")).toBe(after + notebook);
  });
});

describe("apply of a saved plan", () => {
  const saved = `variables: { x: { type: string, sensitive: true }, y: { type: string, sensitive: true } }
locals: { joined: "p-\${var.x}" }
clusters:
  a: { ${B}, custom_tags: { k: "\${local.joined}" } }
  i: { ${B}, custom_tags: { k: "\${var.y}" }, lifecycle: { ignore_changes: [custom_tags] } }
pools: { p: { node_type_id: Standard_DS3_v2, max_capacity: COUNT } }
`;
  const values = { WORKSPACE_VAR_x: VALUE, WORKSPACE_VAR_y: "CANARY-other-5520" };

  async function planned() {
    const folder = folderWith(saved.replace("COUNT", "1"));
    const run = async (line: string, variables: Readonly<Record<string, string>> = values) => {
      const context = contextWith({ WORKSPACE_HOST: "embedded", ...variables }, folder);
      const code = await runProgram(context, line.split(" "));
      return { code, all: context.out() + context.err() };
    };
    expect((await run("apply --auto-approve")).code).toBe(0);
    writeFileSync(join(folder, "workspace.yaml"), saved.replace("COUNT", "2"));
    expect((await run("plan --out x.plan")).code).toBe(0);
    expect(readFileSync(join(folder, "x.plan"), "utf8")).not.toContain("CANARY");
    return run;
  }

  test("fails before its first write when a variable of an unchanged field was rotated", async () => {
    const run = await planned();
    const rotated = await run("apply x.plan --auto-approve", {
      ...values,
      WORKSPACE_VAR_x: "CANARY-rotated",
    });
    expect(rotated.code).toBe(4);
    expect(rotated.all).toMatch(/PLAN_STALE.*clusters\.a: custom_tags\.k has another sensitive value/);
    expect(rotated.all).not.toContain("CANARY");
    expect((await run("plan")).all).toContain("max_capacity  1 → 2");
    expect((await run("apply x.plan --auto-approve")).code).toBe(0);
  });

  test("succeeds when only a variable of a field that is not compared was rotated", async () => {
    const run = await planned();
    const rotated = { ...values, WORKSPACE_VAR_y: "CANARY-rotated" };
    expect((await run("apply x.plan --auto-approve", rotated)).code).toBe(0);
  });
});
