// Rules of the spec and of folders: what they become, and where each mistake is.

import { describe, expect, test } from "vitest";
import type { LoadOptions } from "../../../src/spec/load-spec.ts";
import type { Rule } from "../../../src/spec/model/spec.ts";
import { type Files, load } from "../folder.ts";

const POOLS = "pools: { a: { node_type_id: Standard_DS3_v2 } }\n";

const loadRules = (given: string | Files, options: Partial<LoadOptions> = {}) =>
  load(typeof given === "string" ? POOLS + given : given, { rules: [], ...options });

const file = (shown: string, text: string) => ({ shown, bytes: new TextEncoder().encode(text) });

const shown = (rules: readonly Rule[] = []) =>
  rules.map(({ name, enforcement, at }) => `${name} ${enforcement} ${at.file}:${at.line}`);

describe("the section rules", () => {
  test("is read in the order of the names, with defaults", async () => {
    const { spec, told } = await loadRules(`rules:
  - name: b
    kinds: [pools]
    when: change.action == "delete"
    assert: has(change.before.max_capacity) && change.before.max_capacity < 3
    message: "{{address}}: too large"
    severity: cost
    enforcement: warn
  - { name: a, assert: plan.summary.delete < 5 }
`);
    expect(told).toEqual([]);
    expect(spec?.rules).toMatchObject([
      {
        name: "a",
        assert: "plan.summary.delete < 5",
        scope: "plan",
        enforcement: "error",
        severity: "other",
      },
      {
        name: "b",
        kinds: ["pools"],
        when: 'change.action == "delete"',
        message: [{ expression: "address", offset: 2 }, ": too large"],
        scope: "change",
        enforcement: "warn",
        severity: "cost",
        at: { line: 3, column: 11 },
      },
    ]);
  });

  test("is not read by commands that check no plan", async () => {
    const { spec, told } = await load(`${POOLS}rules: [{ name: a, assert: 1 + }]\n`);
    expect([spec?.rules, told]).toEqual([undefined, []]);
  });

  test("is shared by files: each rule is in one of them", async () => {
    const files = {
      "workspace.yaml": `${POOLS}include: [more.yaml]\nrules: [{ name: a, assert: "true" }]\n`,
      "more.yaml": 'rules: [{ name: b, assert: "true" }]\n',
    };
    expect(shown((await loadRules(files)).spec?.rules)).toEqual([
      "a error workspace.yaml:3",
      "b error more.yaml:1",
    ]);
    const twice = { ...files, "more.yaml": 'rules: [{ name: a, assert: "true" }]\n' };
    expect((await loadRules(twice)).told).toEqual([
      "SPEC_DUPLICATE_KEY more.yaml:1:17 rules.a is defined in two files",
    ]);
  });

  test("is merged with that of the target by name", async () => {
    const text = `rules: [{ name: a, assert: "true" }, { name: b, assert: "true" }]
targets: { dev: { rules: [{ name: b, enforcement: warn }, { name: c, assert: "true" }] } }
`;
    const { spec, told } = await loadRules(text, { target: "dev" });
    expect(told).toEqual([]);
    expect(shown(spec?.rules)).toEqual([
      "a error workspace.yaml:2",
      "b warn workspace.yaml:2",
      "c error workspace.yaml:3",
    ]);
  });

  test("belongs to the main spec, not to a module", async () => {
    const { told } = await loadRules({
      "workspace.yaml": "modules: { m: { source: ./m } }\n",
      "m/workspace.yaml": `${POOLS}rules: [{ name: a, assert: "true" }]\n`,
    });
    expect(told).toEqual(["SPEC_MODULE m/workspace.yaml:2:1 a module cannot contain rules"]);
  });

  test("contains no variables: a dollar sign is text", async () => {
    const { spec, told } = await loadRules("rules: [{ name: a, assert: 'name.matches(\"^[${]x$\")' }]\n");
    expect([told, spec?.rules?.[0]?.assert]).toEqual([[], 'name.matches("^[${]x$")']);
  });
});

test("a rule without a name hides no other error of its file", async () => {
  const { told } = await load(
    "rules:\n  - { assert: 'true' }\n  - { name: a }\npools: { p: { node_type_id: n, max_size: '${var.m}' } }\n",
    { rules: [] },
  );
  expect(told).toEqual([
    "SPEC_RULE 2:5 a rule requires a name, which is a string",
    'SPEC_MISSING_FIELD 3:13 rule a requires the field "assert"',
    'SPEC_UNKNOWN_FIELD 4:32 pools.p has no field "max_size"',
    'SPEC_VARIABLE 4:42 the spec has no variable "m"',
  ]);
});

/** A spec whose rules contain `§` before the place of a mistake, and that place. */
function marked(text: string): { readonly text: string; readonly place: string } {
  const whole = `rules:\n  - ${text}\n`;
  const before = (POOLS + whole).slice(0, (POOLS + whole).indexOf("§")).split("\n");
  return { text: whole.replace("§", ""), place: `${before.length}:${(before.at(-1) ?? "").length + 1}` };
}

describe("a mistake in a rule", () => {
  const TRUE = "assert: 'true'";
  test.each([
    [`§{ ${TRUE} }`, "SPEC_RULE", "a rule requires a name, which is a string"],
    ["{ name: §a }", "SPEC_MISSING_FIELD", 'rule a requires the field "assert"'],
    [
      `{ name: §a b, ${TRUE} }`,
      "SPEC_VALUE",
      'rule a b: name must look like clusters-autoterminate, but "a b" does not',
    ],
    ["{ name: a, assert: §true }", "SPEC_TYPE", "rule a: assert must be a string, not true"],
    [
      `{ name: a, ${TRUE}, enforcement: §deny }`,
      "SPEC_VALUE",
      'rule a: enforcement must be one of error or warn, not "deny"',
    ],
    [`{ name: a, ${TRUE}, §asert: x }`, "SPEC_UNKNOWN_FIELD", 'rule a has no field "asert"'],
    [
      "{ name: a, assert: §'1 + 1' }",
      "SPEC_RULE",
      "rule a: assert: the value must be true or false, not of the type int",
    ],
    [
      `{ name: a, when: §name, ${TRUE} }`,
      "SPEC_RULE",
      "rule a: when: the value must be true or false, not of the type string",
    ],
    ["{ name: a, assert: '§chnge.x' }", "SPEC_RULE", "rule a: assert: unknown variable: chnge"],
    [`{ name: a, ${TRUE}, message: 'x {{ §y }}' }`, "SPEC_RULE", "rule a: message: unknown variable: y"],
    [`{ name: a, ${TRUE}, message: 'x §{{ y' }`, "SPEC_RULE", "rule a: message: {{ has no }}"],
    [
      "{ name: a, kinds: [pools], assert: 'has(change.after.§max_size)' }",
      "SPEC_RULE",
      'rule a: assert: pools have no field "max_size"',
    ],
    [
      "{ name: a, assert: 'has(change.before.§no_such)' }",
      "SPEC_RULE",
      'rule a: assert: no kind has a field "no_such"',
    ],
    [
      "{ name: a, kinds: [clusters], assert: 'change.after.autoscale.§min > 1' }",
      "SPEC_RULE",
      'rule a: assert: clusters have no field "autoscale.min"',
    ],
  ])("%s is located: %s %s", async (entry, code, message) => {
    const { text, place } = marked(entry);
    expect((await loadRules(text)).told).toEqual([`${code} ${place} ${message}`]);
  });

  test.each([
    ["plain", "assert: true &&\n      §chnge.x"],
    ["double quoted", 'assert: "\\"a\\" == name &&\n      §chnge.x"'],
    ["single quoted", "assert: 'name == \"it''s\" && §chnge.x'"],
    ["literal", "assert: |\n      true\n        && §chnge.x"],
    ["folded", "assert: >-\n      true\n\n      && §chnge.x"],
  ])("in a %s string is located", async (_style, assert) => {
    const { text, place } = marked(`name: a\n    ${assert}`);
    expect((await loadRules(text)).told).toEqual([
      `SPEC_RULE ${place} rule a: assert: unknown variable: chnge`,
    ]);
  });

  test("hints at the name that was meant", async () => {
    const { diagnostics } = await loadRules(
      "rules: [{ name: a, kinds: [pools], assert: 'change.afte.x == 1 || change.after.max_capacty > 1' }]\n",
    );
    expect(diagnostics.map(({ hint }) => hint)).toEqual(['did you mean "after"?']);
    const other = await loadRules(
      "rules: [{ name: a, kinds: [pools], assert: 'change.after.max_capacty > 1' }]\n",
    );
    expect(other.diagnostics.map(({ hint }) => hint)).toEqual(['did you mean "max_capacity"?']);
  });

  test.each([
    ["target == 'prod'", "the name of the target is target.name"],
    [
      "has(change.after['tags'])",
      'has takes a field, as in has(change.after.custom_tags.team); for other keys, write "key" in change.after.custom_tags',
    ],
    ["plan.summary.deletes < 2", 'did you mean "delete"?'],
    ["adress == ''", 'did you mean "address"?'],
    ["rule.name == ''", "the variables are address, kind, name, cost, change, plan, target, access"],
    ["access.gaind.size() == 0", 'did you mean "gained"?'],
    ["access.gained.exists(a, a.princpal == 'users')", 'did you mean "principal"?'],
    ["access.lost[0].lvel == 'READ'", 'did you mean "level"?'],
  ])("in %s comes with a hint", async (assert, hint) => {
    const { diagnostics } = await loadRules(`rules:\n  - name: a\n    assert: ${JSON.stringify(assert)}\n`);
    expect(diagnostics.map((one) => one.hint)).toEqual([hint]);
  });

  test("is one of too many", async () => {
    const many = Array.from({ length: 101 }, (_, at) => `  - { name: r${at}, assert: "true" }\n`).join("");
    const { told } = await loadRules(`rules:\n${many}`, { untrusted: true });
    expect(told).toEqual(["SPEC_TOO_LARGE 3:3 the spec has more than 100 rules"]);
  });
});

describe("a folder of rules", () => {
  const own = 'rules: [{ name: a, assert: "true" }]\n';

  test("comes before the rules of the spec", async () => {
    const files = [
      file("/rules/z.yaml", 'rules: [{ name: z, assert: "true" }]'),
      file("/rules/empty.yaml", ""),
    ];
    const { spec, told } = await loadRules(own, { rules: files });
    expect(told).toEqual([]);
    expect(shown(spec?.rules)).toEqual(["z error /rules/z.yaml:1", "a error workspace.yaml:2"]);
  });

  test("cannot be redefined by the spec, nor by its target", async () => {
    const files = [file("/rules/a.yaml", own)];
    const message = "the rule a is defined in the rules folder, too";
    expect((await loadRules(own, { rules: files })).told).toEqual([`SPEC_RULE 2:17 ${message}`]);
    const target = "targets: { dev: { rules: [{ name: a, enforcement: warn }] } }\n";
    expect((await loadRules(target, { rules: files, target: "dev" })).told).toEqual([
      `SPEC_RULE 2:35 ${message}`,
    ]);
  });

  test.each([
    ["- { name: a }", "SPEC_TYPE /r.yaml:1:1 a file of rules must be a map with the key rules, not a list"],
    ["pools: {}", 'SPEC_RULE /r.yaml:1:1 a file of rules cannot contain "pools"'],
    ["rules: { a: {} }", "SPEC_RULE /r.yaml:1:8 rules must be a list of rules, not a map"],
    ["rules: [{ name: a, assert: x }]", "SPEC_RULE /r.yaml:1:28 rule a: assert: unknown variable: x"],
  ])("with %s is refused: %s", async (text, told) => {
    expect((await loadRules("", { rules: [file("/r.yaml", text)] })).told).toEqual([told]);
  });

  test("that are not a list do not hide what else is wrong with the spec", async () => {
    expect((await load("rules: 5\npools: { a: { node_type_id: x, max: 1 } }\n")).told).toEqual([
      "SPEC_RULE 1:8 rules must be a list of rules, not the number 5",
      expect.stringContaining('SPEC_UNKNOWN_FIELD 2:32 pools.a has no field "max"'),
    ]);
  });
});
