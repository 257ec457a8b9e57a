// Rules through the real commands: what blocks, what only warns, what is shown, and what a spec cannot do about it.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const POOL = "pools:\n  a:\n    node_type_id: Standard_DS3_v2\n    max_capacity: 20\n";
const rule = (enforcement: string, more = "") => `rules:
  - name: small-pools
    kinds: [pools]
    assert: change.after.max_capacity <= 10
    message: "max_capacity is {{change.after.max_capacity}}, and at most 10 is allowed"
    severity: cost
    enforcement: ${enforcement}
${more}`;
const ERROR = `error GUARD_RULE: pools.a: max_capacity is 20, and at most 10 is allowed
  at workspace.yaml:4:19
    3 |     node_type_id: Standard_DS3_v2
  > 4 |     max_capacity: 20
      |                   ^^
    5 | rules:
  rule small-pools (cost) at workspace.yaml:6:11
`;

async function run(folder: string, words: string, env: Readonly<Record<string, string>> = {}) {
  const context = contextWith(env, folder);
  const code = await runProgram(context, words.split(" "));
  return { code, out: context.out(), err: context.err(), all: context.out() + context.err() };
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** A folder of rules that is not in the tree of the spec. */
function rulesFolder(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "rules-"));
  writeFileSync(join(folder, "rules.yaml"), text);
  return folder;
}

describe("a violated rule", () => {
  test("blocks plan and apply with exit 3, and both name the line and the rule", async () => {
    const folder = folderWith(POOL + rule("error"));
    const plan = await run(folder, "plan --host embedded");
    expect(plan.code).toBe(3);
    expect(plan.out).toContain(ERROR);
    expect(plan.out).toContain("Blocked by GUARD_RULE.");
    const apply = await run(folder, "apply --host embedded --auto-approve");
    expect([apply.code, apply.out.includes(ERROR)]).toEqual([3, true]);
    expect((await run(folder, "state list --host embedded")).out).not.toContain("pools.a");
  });

  test("blocks an offline plan, a plan of deletions, and destroy", async () => {
    const folder = folderWith(
      `${POOL}rules: [{ name: keep, when: change.action == "delete", assert: "false", message: "{{address}} stays" }]\n`,
    );
    expect((await run(folder, "plan --offline")).code).toBe(0);
    expect((await run(folder, "apply --host embedded --auto-approve")).code).toBe(0);
    for (const words of ["plan --destroy", "plan --offline --destroy", "destroy --auto-approve"]) {
      const { code, out } = await run(folder, `${words} --host embedded`);
      expect([code, out.includes("pools.a stays")], words).toEqual([3, true]);
    }
  });

  test("with enforcement warn is a warning, and the plan is applied", async () => {
    const folder = folderWith(POOL + rule("warn"));
    const { code, out } = await run(folder, "apply --host embedded --auto-approve");
    expect(code).toBe(0);
    expect(out).toContain("warning PLAN_RULE: pools.a: max_capacity is 20");
  });

  test("is in every form, with the rule and its place", async () => {
    const folder = folderWith(POOL + rule("error"));
    for (const form of ["json", "markdown", "html", "junit", "sarif", "github", "codequality"]) {
      const { code, out } = await run(folder, `plan --host embedded -o ${form}`);
      expect([code, out.includes("small-pools"), out.includes("max_capacity is 20")], form).toEqual([
        3,
        true,
        true,
      ]);
    }
    const sarif = JSON.parse((await run(folder, "plan --host embedded -o sarif")).out);
    expect(sarif.runs[0].results[0]).toMatchObject({
      ruleId: "GUARD_RULE/small-pools",
      level: "error",
      locations: [
        { physicalLocation: { artifactLocation: { uri: "workspace.yaml" }, region: { startLine: 4 } } },
      ],
      properties: { severity: "cost", address: "pools.a" },
    });
    const junit = (await run(folder, "plan --host embedded -o junit")).out;
    expect(junit).toContain('failures="1"');
    expect(junit).toContain('<failure type="GUARD_RULE/small-pools"');
    const { guards } = JSON.parse((await run(folder, "plan --host embedded -o json")).out);
    expect(guards).toMatchObject([
      {
        code: "GUARD_RULE",
        addresses: ["pools.a"],
        rule: { name: "small-pools", severity: "cost", at: { line: 6 } },
      },
    ]);
  });

  test("of the plan as a whole is reported once, without an address", async () => {
    const folder = folderWith(
      `${POOL}  b: { node_type_id: Standard_DS3_v2 }\nrules: [{ name: few, assert: plan.summary.create < 2 }]\n`,
    );
    const { code, out } = await run(folder, "plan --host embedded");
    expect(code).toBe(3);
    expect(out.match(/GUARD_RULE:.*/g)).toEqual([
      "GUARD_RULE: the assertion is false: plan.summary.create < 2",
    ]);
    const sarif = JSON.parse((await run(folder, "plan --host embedded -o sarif")).out);
    expect(sarif.runs[0].results[0]).toMatchObject({
      ruleId: "GUARD_RULE/few",
      level: "error",
      locations: [
        { physicalLocation: { artifactLocation: { uri: "workspace.yaml" }, region: { startLine: 6 } } },
      ],
    });
  });
});

describe("a rule without a value", () => {
  test("blocks the plan at the line of the rule, with a hint about absent fields", async () => {
    const folder = folderWith(POOL.replace(/ {4}max.*\n/, "") + rule("error"));
    const { code, out } = await run(folder, "plan --host embedded");
    expect(code).toBe(3);
    expect(
      out,
    ).toContain(`error GUARD_RULE_FAILED: the rule small-pools could not be evaluated for pools.a: assert: no such key: max_capacity
  at workspace.yaml:7:26
`);
    expect(out).toContain(
      "hint: test whether max_capacity is set with has(…), or give a default: .?max_capacity.orValue(…)",
    );
  });

  test("with enforcement warn is a warning", async () => {
    const folder = folderWith(POOL.replace(/ {4}max.*\n/, "") + rule("warn"));
    const { code, out } = await run(folder, "plan --host embedded");
    expect([code, out.includes("warning GUARD_RULE_FAILED")]).toEqual([0, true]);
  });
});

describe("a target", () => {
  const TARGETS = `targets:
  dev: { rules: [{ name: small-pools, enforcement: warn }] }
  prod: { rules: [{ name: prod-only, assert: target.name != "prod" || plan.summary.delete == 0 }] }
`;

  test("weakens a rule of the spec, and adds one", async () => {
    const folder = folderWith(POOL + rule("error") + TARGETS);
    expect((await run(folder, "plan --host embedded -t dev")).code).toBe(0);
    expect((await run(folder, "plan --host embedded -t prod")).code).toBe(3);
  });

  test("is what a rule can read", async () => {
    const text =
      "rules: [{ name: t, assert: target.name == 'prod' && target.protected }]\ntargets: { dev: {}, prod: { protected: true } }\n";
    const folder = folderWith(POOL + text);
    expect((await run(folder, "plan --host embedded -t dev")).code).toBe(3);
    expect((await run(folder, "plan --host embedded -t prod")).code).toBe(0);
  });
});

describe("a folder of rules", () => {
  test("applies without any word of the spec; --rules and WORKSPACE_RULES add up", async () => {
    const folder = folderWith(POOL);
    const first = rulesFolder(rule("error"));
    const second = rulesFolder("rules: [{ name: few, assert: plan.summary.create == 0 }]\n");
    const found = async (words: string, env = {}) => {
      const { code, out } = await run(folder, `plan --host embedded ${words}`.trim(), env);
      return [code, (out.match(/ {2}rule [\w-]+/g) ?? []).join("")];
    };
    expect(await found("")).toEqual([0, ""]);
    expect(await found(`--rules ${first}`)).toEqual([3, "  rule small-pools"]);
    expect(await found("", { WORKSPACE_RULES: second })).toEqual([3, "  rule few"]);
    expect(await found(`--rules ${first}`, { WORKSPACE_RULES: second })).toEqual([
      3,
      "  rule few  rule small-pools",
    ]);
  });

  test("cannot be switched off, weakened, or redefined by the spec", async () => {
    const rules = rulesFolder(rule("error"));
    for (const text of ["rules: []\n", rule("warn"), "targets: { dev: { default: true, rules: null } }\n"]) {
      const folder = folderWith(POOL + text);
      const { code, all } = await run(folder, `plan --host embedded --rules ${rules}`);
      expect([code === 0, all.includes("small-pools")], text).toEqual([false, true]);
    }
  });

  test("is checked by validate", async () => {
    const folder = folderWith(POOL);
    const rules = rulesFolder(rule("error").replace("change.after.max_capacity", "change.after.max_capacty"));
    const { code, err } = await run(folder, `validate --rules ${rules}`);
    expect(code).toBe(1);
    expect(err).toContain(`SPEC_RULE: rule small-pools: assert: pools have no field "max_capacty"
  at ${rules}/rules.yaml:4:26
`);
    expect(err).toContain('hint: did you mean "max_capacity"?');
  });

  test("that is missing or empty is an error, and never a plan without rules", async () => {
    const folder = folderWith(POOL);
    const empty = mkdtempSync(join(tmpdir(), "rules-"));
    for (const words of [
      `plan --rules ${empty}`,
      `plan --rules ${empty}/none`,
      `apply --auto-approve --rules ${empty}/none`,
    ])
      expect((await run(folder, `${words} --host embedded`)).code, words).toBe(1);
    expect((await run(folder, "plan --host embedded", { WORKSPACE_RULES: `${empty}/none` })).code).toBe(1);
  });

  test("is a folder: a file is refused, and tests of specs in it are not read", async () => {
    const folder = folderWith(POOL);
    const rules = rulesFolder(rule("error"));
    const { code, err } = await run(folder, `plan --offline --rules ${rules}/rules.yaml`);
    expect([code, err.includes("rules.yaml is a file")]).toEqual([1, true]);
    writeFileSync(join(rules, "small.test.yaml"), "steps: []\n");
    expect((await run(folder, `plan --offline --rules ${rules}`)).code).toBe(3);
  });

  test("in the tree of an untrusted spec is refused", async () => {
    const folder = folderWith(POOL);
    write(folder, "policy/rules.yaml", rule("warn"));
    const { code, err } = await run(folder, "plan --untrusted --offline --rules policy");
    expect([code, err.includes("is inside the untrusted checkout")]).toEqual([1, true]);
    const outside = rulesFolder(rule("error"));
    const checked = await run(folder, `plan --untrusted --offline --rules ${outside}`);
    expect([checked.code, checked.out.includes("GUARD_RULE: pools.a: max_capacity is 20")]).toEqual([
      3,
      true,
    ]);
    expect(checked.out).not.toContain("> 4 |");
  });
});

describe("a saved plan", () => {
  test("is checked again when it is applied, with the rules of that run", async () => {
    const folder = folderWith(POOL);
    const rules = rulesFolder(rule("error").replace("10\n", "30\n"));
    expect((await run(folder, `plan --host embedded --out p.plan --rules ${rules}`)).code).toBe(0);
    writeFileSync(join(rules, "rules.yaml"), rule("error"));
    const refused = await run(folder, `apply p.plan --host embedded --rules ${rules}`);
    expect([refused.code, refused.out.includes("GUARD_RULE: pools.a")]).toEqual([3, true]);
    writeFileSync(join(rules, "rules.yaml"), rule("error").replace("10\n", "30\n"));
    expect((await run(folder, `apply p.plan --host embedded --rules ${rules}`)).code).toBe(0);
  });

  test("is not saved if a rule blocks it, and keeps the warnings of rules once", async () => {
    const folder = folderWith(POOL + rule("error"));
    expect((await run(folder, "plan --host embedded --out p.plan")).code).toBe(3);
    expect(() => readFileSync(join(folder, "p.plan"))).toThrow();
    writeFileSync(join(folder, "workspace.yaml"), POOL + rule("warn"));
    expect((await run(folder, "plan --host embedded --out p.plan")).code).toBe(0);
    expect((await run(folder, "show p.plan")).all.match(/PLAN_RULE/g)?.length).toBe(1);
    const quiet = await run(folder, "apply p.plan --host embedded");
    expect([quiet.code, quiet.all.match(/PLAN_RULE/g)]).toEqual([0, null]);
  });
});

test("a saved plan that a rule blocks shows the warnings of the run, as a new plan does", async () => {
  const targets = "targets: { dev: {}, prod: {} }\n";
  const folder = folderWith(POOL + targets);
  const rules = rulesFolder(rule("error"));
  const state = `--host embedded --state ${join(folder, "one-state")}`;
  expect((await run(folder, `apply --auto-approve --target dev ${state}`)).code).toBe(0);
  const more = "  b: { node_type_id: Standard_DS3_v2, max_capacity: 20 }\n";
  writeFileSync(join(folder, "workspace.yaml"), POOL + more + targets);
  expect((await run(folder, `plan --target prod --out p.plan ${state}`)).code).toBe(0);
  for (const plan of ["--auto-approve --target prod", "p.plan"]) {
    const { code, err } = await run(folder, `apply ${plan} ${state} --rules ${rules}`);
    expect([code, err.match(/STATE_OTHER_TARGET/g)?.length]).toEqual([3, 1]);
  }
});

test("a saved plan shows the warnings of rules that it was not made with", async () => {
  const folder = folderWith(POOL);
  const rules = rulesFolder(rule("warn"));
  expect((await run(folder, "plan --host embedded --out p.plan")).code).toBe(0);
  const { code, err } = await run(folder, `apply p.plan --host embedded --rules ${rules}`);
  expect([code, err.includes("PLAN_RULE: pools.a: max_capacity is 20")]).toEqual([0, true]);
});

describe("secrets and sensitive values", () => {
  test("are hidden from rules, however a message takes them apart", async () => {
    const value = "hunter2swordfish";
    const folder = folderWith(`variables: { license: { type: string, sensitive: true } }
pools: { a: { node_type_id: Standard_DS3_v2, custom_tags: { license: "\${var.license}", more: "x \${var.license}" } } }
scopes: { etl: { secrets: { key: { env: KEY } } } }
rules:
  - name: tell
    assert: "false && name == ''"
    message: "{{change.after}} {{kind == 'pools' ? change.after.custom_tags.license.substring(0, 4) : ''}}"
  - name: guess
    kinds: [pools]
    assert: change.after.custom_tags.license.startsWith("hun")
    message: "{{change.after.custom_tags.more.split('').join('-')}}"
  - name: fail
    kinds: [pools]
    assert: change.after.custom_tags.license
`);
    for (const form of ["text", "json", "html", "sarif", "junit", "markdown"]) {
      const { code, all } = await run(folder, `plan --host embedded -o ${form}`, {
        WORKSPACE_VAR_license: value,
        KEY: value,
      });
      expect([code, /hunter|h-u-n|swordfish/.test(all)], form).toEqual([3, false]);
      expect(all).toContain("sensitive");
    }
  });
});
