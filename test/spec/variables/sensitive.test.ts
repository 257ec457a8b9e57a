// Values of sensitive variables whose source is not valid: no message and no frame shows them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith, load, loadFrom } from "../folder.ts";

const POOL = "pools: { p: { node_type_id: n } }\n";

describe("a source of variables that is not valid", () => {
  const SPEC = `variables: { key: { type: string, sensitive: true }, list: { type: array, default: [] } }\n${POOL}`;

  it.each([
    ["a duplicate key", "key: CANARY77secret\nkey: CANARY77other\n"],
    ["a YAML error", 'key: "CANARY77secret\nlist: [\n'],
    ["text after a string", 'key: "CANARY77secret" CANARY77more\n'],
    ["an unknown anchor", "key: *CANARY77secret\n"],
    ["a tag", "key: !CANARY77secret x\n"],
    ["a wrong type", "key: [CANARY77secret]\n"],
    ["a control character", "key: CANARY77secret\u0001\n"],
    ["two documents", "key: CANARY77secret\n---\nkey: CANARY77other\n"],
  ])("shows no value of a variable file with %s", async (_, content) => {
    const folder = folderWith({ "workspace.yaml": SPEC });
    writeFileSync(join(folder, "values.yaml"), content);
    const { diagnostics, spec } = await loadFrom(folder, { varFiles: [join(folder, "values.yaml")] });
    expect(spec).toBeUndefined();
    expect(diagnostics[0]?.at?.file).toContain("values.yaml");
    expect(JSON.stringify(diagnostics)).not.toContain("CANARY77");
  });

  it("shows no bytes of a variable file that is not UTF-8", async () => {
    const folder = folderWith({ "workspace.yaml": SPEC });
    writeFileSync(
      join(folder, "values.yaml"),
      Buffer.concat([Buffer.from("key: CANARY77"), Buffer.from([0xff])]),
    );
    const { diagnostics } = await loadFrom(folder, { varFiles: [join(folder, "values.yaml")] });
    expect(diagnostics[0]?.code).toBe("SPEC_YAML");
    expect(JSON.stringify(diagnostics)).not.toContain("CANARY77");
  });

  it.each([
    ["--var", { vars: ["key=x", "list=[CANARY77, *y"] }],
    ["the environment", { vars: ["key=x"], env: { WORKSPACE_VAR_list: "[CANARY77, *y" } }],
  ])("shows no value of %s", async (_, options) => {
    const { diagnostics, spec } = await load(SPEC, options);
    expect(spec).toBeUndefined();
    expect(JSON.stringify(diagnostics)).not.toContain("CANARY77");
  });

  it.each([
    ["a default", `variables:\n  key: { type: string, sensitive: true, default: CANARY77 }\n  key: {}\n`],
    [
      "a value of a target",
      `targets:\n  dev:\n    default: true\n    variables:\n      key: CANARY77\n      key: x\n`,
    ],
    [
      "a default, and the file is not YAML",
      `variables:\n  key: { type: string, sensitive: true, default: CANARY77\n`,
    ],
  ])("shows no line of a spec that has %s of a sensitive variable", async (_, yaml) => {
    const { diagnostics, spec } = await load(yaml);
    expect(spec).toBeUndefined();
    expect(diagnostics[0]?.at?.line).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics)).not.toContain("CANARY77");
  });

  it.each(['"yes"', '"false"', "1", "null", "[]"])(
    "shows no default of a variable with sensitive: %s",
    async (flag) => {
      const { diagnostics, spec } = await load(
        `variables:\n  key: { type: string, sensitive: ${flag}, default: CANARY77 }\npols: {}\n`,
      );
      expect(spec).toBeUndefined();
      expect(diagnostics.length).toBeGreaterThan(0);
      expect(JSON.stringify(diagnostics)).not.toContain("CANARY77");
    },
  );

  it("shows no part of a long value in the frame of a long line", async () => {
    const value = Array.from({ length: 60 }, (_, at) => `v${at}`).join("-");
    const line = `pools: { p: { node_type_id: "${value}", idle: 1, custom_tags: { a: "\${var.key}" } } }`;
    const { diagnostics } = await load(`variables: { key: { type: string, sensitive: true } }\n${line}\n`, {
      env: { WORKSPACE_VAR_key: value },
    });
    const frame = diagnostics.find(({ message }) => message.includes("idle"))?.at?.frame;
    expect(frame).toContain("idle");
    expect(frame).not.toMatch(/v\d/);
  });

  it("still shows the lines of a spec without sensitive variables", async () => {
    const { diagnostics } = await load("pools:\n  p: { node_type_id: n }\n  p: {}\n");
    expect(diagnostics[0]?.at?.frame).toContain("node_type_id");
  });
});

describe("a sensitive value", () => {
  it.each([
    ["a variable", "${var.key}", "Canary"],
    ["an expression", "${var.key.lowerAscii()}", "canary"],
  ])(
    "with ${ from %s is hidden with escapes, as a spec writes it, and without",
    async (_, expression, text) => {
      const { spec } = await load(
        `variables: { key: { type: string, sensitive: true } }
pools: { p: { node_type_id: n, custom_tags: { a: "x-${expression}" } } }\n`,
        { vars: ["key=Canary${77}"] },
      );
      for (const form of [`${text}\${77}`, `${text}$\${77}`])
        expect([form, spec?.sensitive?.isIn(`is ${form}`)]).toEqual([form, true]);
    },
  );

  it("with ${ of another target is hidden with escapes and without", async () => {
    const { spec } = await load(
      `variables: { key: { type: string, sensitive: true, default: none } }
targets: { dev: { default: true }, prod: { variables: { key: 'Canary$\{77}' } } }\n${POOL}`,
    );
    for (const form of ["Canary${77}", "Canary$${77}"])
      expect([form, spec?.sensitive?.isIn(`is ${form}`)]).toEqual([form, true]);
  });

  it.each(["enum: [production, test]", "const: production"])(
    "that the declaration names as possible is not hidden elsewhere: %s",
    async (choices) => {
      const declared = `variables: { key: { type: string, sensitive: true, ${choices} } }\n${POOL}`;
      const { spec } = await load(declared, { vars: ["key=production"] });
      expect(spec?.sensitive?.isPossibleValue("production")).toBe(true);
      expect(spec?.sensitive?.isIn("in production")).toBe(false);
    },
  );
});
