// `workspace console`: one expression, lines of standard input, and the prompt.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { completed } from "../../../../src/cli/commands/authoring/console.ts";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";

const folder = mkdtempSync(join(tmpdir(), "console-"));

writeFileSync(
  join(folder, "workspace.yaml"),
  `variables: { env: { default: Dev }, key: { type: string, sensitive: true, default: do-not-show } }
locals: { prefix: "\${var.env.lowerAscii()}-ads", list: [1, "\${var.key}"], map: { path: "is do-not-show", "do-not-show!": a } }
`,
);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(
  argv: readonly string[],
  input?: string,
  terminal = false,
  env: Record<string, string> = {},
) {
  const stdin = Object.assign(new PassThrough(), { isTTY: terminal });
  const context = { ...contextWith(env, folder), stdin };
  const ended = runProgram(context, ["console", ...argv]);
  if (input !== undefined) stdin.end(input);
  const code = await ended;
  return { code, out: context.out(), err: context.err() };
}

describe("console", () => {
  it("evaluates each line of stdin, continues after an error, and exits with 1", async () => {
    const { code, out, err } = await run(["-o", "json"], "local.prefix\n\nlocal.x\nlocal.x\nlocal.list\n");
    expect(code).toBe(1);
    expect(out).toBe(
      '{"format_version":"1.0","value":"dev-ads"}\n{"format_version":"1.0","value":[1,"(sensitive)"]}\n',
    );
    expect(err.match(/unknown local "x"/g)).toHaveLength(2);
  });

  it("prompts on a terminal until the input ends or says exit, and exits with 0", async () => {
    const { code, out, err } = await run([], "local.prefix\nhelp\nlocal.x\nexit\nvar.env\n", true);
    expect({ code, out: out.replace(/[^\n]*> /g, "") }).toEqual({ code: 0, out: "dev-ads\n" });
    expect(err).toContain('unknown local "x"');
  });

  it("evaluates what does not depend on an error of the spec, and exits with 1", async () => {
    writeFileSync(join(folder, "broken.yaml"), "locals: { a: 1, b: '${local.c}' }\n");
    const { code, out, err } = await run(["local.a", "-f", "broken.yaml"]);
    expect({ code, out }).toEqual({ code: 1, out: "1\n" });
    expect(err).toContain('unknown local "c"');
  });

  it("treats a value from outside that contains a secret of the spec as sensitive, and says so, also with errors in the spec", async () => {
    const fields = "scopes: { app: { secrets: { password: { env: DB_PASSWORD } } } }";
    const spec = `variables: { url: { type: string, default: x } }
locals: { conn: "jdbc:\${var.url}", plain: "is canary-secret-1" }
${fields}
`;
    writeFileSync(join(folder, "secret.yaml"), spec);
    writeFileSync(join(folder, "secret-broken.yaml"), `${spec}pools: { p: { nope: 1 } }\n`);
    const env = { DB_PASSWORD: "canary-secret-1", WORKSPACE_VAR_url: "x;Password=canary-secret-1;a" };
    const typed = [
      "var.url",
      "local.conn",
      "json(local.conn)",
      "var.url.substring(5, 20)",
      "local.plain",
      "local",
    ];
    for (const file of ["secret.yaml", "secret-broken.yaml"])
      for (const one of typed) {
        const { out, err } = await run([one, "-f", file], undefined, false, env);
        expect({ one, file, text: out + err }).not.toMatchObject({
          text: expect.stringMatching(/canary|word=/),
        });
        expect(err).toContain("the value of the variable url contains a secret");
      }
  });

  it("shows no sensitive value in any form, also not in an error", async () => {
    const typed = [
      "var.key",
      '"${var.key}"',
      "x ${var.key} y",
      "var.key.upperAscii()",
      'var.key.split("-")',
      'var.key.contains("do")',
      'var.key == "do-not-show" ? 1 : 2',
      'var.?key.orValue("x")',
      "local.list",
      "local.map",
      "var.key.merge(1)",
      "json(local.list)",
      'var.key.replace("-", "+")',
    ];
    for (const one of typed)
      for (const output of ["yaml", "json"]) {
        const { out, err } = await run([one, "-o", output]);
        expect({ one, shown: /do|not|show/i.test(out.replaceAll("(sensitive)", "")) }).toEqual({
          one,
          shown: false,
        });
        expect(err).not.toMatch(/do-not-show/i);
      }
  });

  it("refuses input that is too large", async () => {
    const { code, err } = await run([], "local.prefix \n".repeat(90_000));
    expect(code).toBe(1);
    expect(err).toContain("SPEC_TOO_LARGE");
  });
});

describe("completion of expressions", () => {
  it.each([
    ["loc", ["local.prefix", "local.list"], "loc"],
    ["size(var.", ["var.env"], "var."],
    ["${local.p", ["local.prefix"], "local.p"],
    ["x ", ["local.prefix", "local.list", "size(", "var.env"], ""],
  ])("completes %j", (line, found, word) => {
    const names = ["local.prefix", "local.list", "size(", "var.env"];
    expect(completed(line, names)).toEqual([found, word]);
  });
});
