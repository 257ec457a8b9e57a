import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const POOL = "pools: { shared: { node_type_id: Standard_DS3_v2, max_capacity: 5 } }\n";

async function run(folder: string, words: string, env: Readonly<Record<string, string>> = {}) {
  const context = contextWith({ ...env }, folder);
  const code = await runProgram(context, words.split(" "));
  return { code, out: context.out(), err: context.err() };
}

describe("a run without --target", () => {
  test("is an error that lists the targets if none is the default, for every command with a state", async () => {
    const folder = folderWith(`targets: { dev: {}, prod: {} }\n${POOL}`);
    for (const words of [
      "plan --host embedded",
      "apply --host embedded --auto-approve",
      "state list",
      "validate",
    ]) {
      const { code, err } = await run(folder, words);
      expect({ code, err }, words).toMatchObject({
        code: 1,
        err: expect.stringContaining("pass --target dev or prod"),
      });
    }
    expect(existsSync(join(folder, ".workspace/default"))).toBe(false);
  });

  test("uses the default target and its state", async () => {
    const folder = folderWith(`targets: { dev: { default: true }, prod: {} }\n${POOL}`);
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, ".workspace/dev/state.json"))).toBe(true);
    expect((await run(folder, "state list -t dev")).out).toBe("pools.shared\n");
    expect((await run(folder, "state list -t prod")).out).toBe("");
  });

  test("finds a target in an included file, and one whose key is written with an escape", async () => {
    const folder = folderWith(`include: more.yaml\n${POOL}`);
    writeFileSync(join(folder, "more.yaml"), "targets: { dev: {} }\n");
    expect((await run(folder, "state list")).err).toContain("no target is selected");
    const escaped = folderWith(`"t\\x61rgets": { dev: {} }\n${POOL}`);
    expect((await run(escaped, "state list")).err).toContain("no target is selected");
  });
});

test.each(["validate", "plan --host embedded"])(
  "%s reports a spec behind a loop of links, or with a name that is too long, with a code of the spec",
  async (words) => {
    const folder = folderWith(POOL);
    symlinkSync("a", join(folder, "b"));
    symlinkSync("b", join(folder, "a"));
    expect((await run(folder, `${words} --file a`)).err).toContain(
      "error SPEC_NOT_FOUND: a cannot be read, because symbolic links form a loop",
    );
    const long = "x".repeat(300);
    expect((await run(folder, `${words} --file ${long}`)).err).toContain(`error SPEC_NOT_FOUND: ${long}`);
  },
);

describe("the state of a target", () => {
  test("is kept in the folder that the target names, which the spec cannot read", async () => {
    const spec = `targets: { dev: { default: true, state: states/dev } }\n${POOL}`;
    const folder = folderWith(spec);
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, "states/dev/state.json"))).toBe(true);
    writeFileSync(
      join(folder, "workspace.yaml"),
      `${spec}notebooks: { /a: { source: states/dev/state.json, format: SOURCE, language: PYTHON } }\n`,
    );
    expect((await run(folder, "validate")).err).toContain("SPEC_PRIVATE");
  });

  test("cannot be chosen by an untrusted spec", async () => {
    const folder = folderWith(`targets: { dev: { default: true, state: states/dev } }\n${POOL}`);
    const { code, err } = await run(folder, "plan --host embedded --untrusted");
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining("which an untrusted spec cannot do"),
    });
  });
});

describe("the state of a target behind a link", () => {
  test("is refused if the link leads out of the spec's folder, and used if it stays inside", async () => {
    const folder = folderWith(`targets: { dev: { default: true, state: link/dev } }\n${POOL}`);
    const outside = folderWith("");
    symlinkSync(outside, join(folder, "link"));
    const { code, err } = await run(folder, "apply --host embedded --auto-approve");
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "the state of the target dev is outside the spec's folder, because of a link",
      ),
    });
    expect(existsSync(join(outside, "dev"))).toBe(false);
    rmSync(join(folder, "link"));
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, "real/dev/state.json"))).toBe(true);
  });
});

describe("the host of a target", () => {
  const HOSTED = `targets: { dev: { default: true, host: "https://dev.example.com/" } }\n${POOL}`;

  test("is an error if the run is for another one, before a request", async () => {
    const env = { WORKSPACE_TOKEN: "t", WORKSPACE_HOST: "https://prod.example.com" };
    const { code, err } = await run(folderWith(HOSTED), "plan", env);
    expect(code).toBe(1);
    expect(err).toContain(
      "the target dev requires the host https://dev.example.com/, but this run uses https://prod.example.com",
    );
    expect((await run(folderWith(HOSTED), "plan --host embedded")).err).toContain("SPEC_TARGET");
    expect((await run(folderWith(HOSTED), "plan --offline --host https://prod.example.com")).err).toContain(
      "SPEC_TARGET",
    );
  });

  test.each([
    'host: "https://user:pa55-word@dev.example.com"',
    "host: user:pa55-word@dev.example.com",
    'host: "https://user:pa55-word@dev.example.com:99999"',
    'host: "https://user:pa55-word@${var.name}"',
    'state: "postgres://user:pa55-word@db.example.com/states"',
    'host: [], state: "postgres://user:pa55-word@db.example.com/states"',
  ])("never shows a password, in a message or in the lines around it: %s", async (setting) => {
    const folder = folderWith(
      `targets: { dev: { default: true, ${setting} }, prod: { ${setting} } }\n${POOL}x: 1`,
    );
    for (const words of [
      "plan --host embedded",
      "validate",
      "validate -t dev",
      "plan --offline --host embedded",
    ]) {
      const { out, err } = await run(folder, words);
      expect(`${out}${err}`).not.toContain("pa55-word");
      expect(err, words).toContain("SPEC_");
    }
  });

  test("never is the host of a run", async () => {
    const { code, err } = await run(folderWith(HOSTED), "plan", { WORKSPACE_TOKEN: "t" });
    expect(code).toBe(1);
    expect(err).toContain("CLI_NO_HOST");
  });
});

describe("the profile of a target", () => {
  const PROFILES =
    "[dev]\nhost = https://dev.invalid\ntoken = of-dev\n[prod]\nhost = https://prod.invalid\ntoken = of-prod\n";
  const SPEC = `targets: { dev: { default: true, profile: dev, host: "https://other.invalid" } }\n${POOL}`;

  function site(): string {
    const folder = folderWith(SPEC);
    writeFileSync(join(folder, ".workspacecfg"), PROFILES, { mode: 0o600 });
    return folder;
  }

  test("is used if nothing else names one", async () => {
    expect((await run(site(), "plan")).err).toContain("but this run uses https://dev.invalid");
    expect((await run(site(), "plan --profile prod")).err).toContain(
      "but this run uses https://prod.invalid",
    );
    expect((await run(site(), "plan", { WORKSPACE_PROFILE: "prod" })).err).toContain(
      "but this run uses https://prod.invalid",
    );
  });

  test("never gets a token of the environment", async () => {
    const folder = site();
    writeFileSync(join(folder, ".workspacecfg"), "[dev]\nhost = https://other.invalid\n", { mode: 0o600 });
    const env = { WORKSPACE_TOKEN: "of-ci", DATABRICKS_TOKEN: "of-ci" };
    const { code, err } = await run(folder, "plan", env);
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("API_UNAUTHENTICATED") });
  });

  test("does not replace a host of the environment", async () => {
    const env = { WORKSPACE_TOKEN: "of-ci", WORKSPACE_HOST: "https://ci.invalid" };
    expect((await run(site(), "plan", env)).err).toContain("but this run uses https://ci.invalid");
  });

  test("decides the dialect of the spec, unless the spec is untrusted", async () => {
    const tasks = "{ first: { existing_cluster_id: c, notebook_task: { notebook_path: /Shared/load } } }";
    const folder = folderWith(
      `targets: { dev: { default: true, profile: dev } }\njobs: { j: { tasks: ${tasks} } }\n`,
    );
    writeFileSync(
      join(folder, ".workspacecfg"),
      "[dev]\nhost = https://dev.invalid\ntoken = of-dev\ndialect = databricks\n",
      { mode: 0o600 },
    );
    expect(await run(folder, "validate")).toMatchObject({ code: 0, err: "" });
    expect((await run(folder, "explain jobs.tasks")).code).toBe(0);
    expect((await run(folder, "plan --untrusted --offline")).err).toContain('jobs.j has no field "tasks"');
  });

  test("is not used for an untrusted spec", async () => {
    expect((await run(site(), "plan --untrusted")).err).toContain("CLI_NO_HOST");
  });
});

describe("a protected target", () => {
  const SPEC = `targets: { dev: { default: true }, prod: { protected: true } }\n${POOL}`;

  test("is changed by a saved plan with an explicit --target only", async () => {
    const folder = folderWith(SPEC);
    for (const words of [
      "apply -t prod --host embedded --auto-approve",
      "destroy -t prod --host embedded --auto-approve",
    ]) {
      const { code, err } = await run(folder, words);
      expect({ code, err }, words).toMatchObject({
        code: 1,
        err: expect.stringContaining("the target prod is protected"),
      });
    }
    expect((await run(folder, "destroy -t prod --host embedded")).err).toContain(
      "workspace plan --destroy --target prod --out FILE",
    );
    expect(await run(folder, "plan -t prod --host embedded --out plan")).toMatchObject({
      code: 0,
      err: expect.stringContaining("`workspace apply plan --target prod`"),
    });
    expect((await run(folder, "apply plan --host embedded")).err).toContain("so apply needs --target");
    expect((await run(folder, "apply plan --host embedded", { WORKSPACE_TARGET: "prod" })).code).toBe(1);
    expect(await run(folder, "apply plan --host embedded --target prod")).toMatchObject({ code: 0 });
    expect((await run(folder, "state list -t prod")).out).toBe("pools.shared\n");
  });

  test("does not hold back an apply of another target", async () => {
    expect(await run(folderWith(SPEC), "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
  });
});

test("a question about live access is not asked of another host than the target requires", async () => {
  const folder = folderWith(`targets: { dev: { default: true, host: https://dev.example.com } }\n${POOL}`);
  const { code, err } = await run(folder, "access admin@example.com --host embedded");
  expect(code).toBe(1);
  expect(err).toContain("the target dev requires the host https://dev.example.com");
});
