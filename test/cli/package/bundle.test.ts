// The single-file bundle: built from the sources and run in an empty folder, without packages or schemas.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildFacts, writeBundle } from "../../../scripts/build.ts";
import { VERSION } from "../../../src/config/version.ts";
import { COMPILE_CACHE } from "../../built-program.ts";

const folder = mkdtempSync(join(tmpdir(), "bundle-"));
const bundle = join(folder, "workspace.mjs");

beforeAll(() => writeBundle(bundle), 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bundle, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", WORKSPACE_HOST: "embedded", ...COMPILE_CACHE, ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** A Node of this version that has none of the newer modules of Node. */
const onNode = (version: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import { registerHooks } from "node:module";
registerHooks({ resolve: (id, context, next) => {
  if (/^node:(sqlite|sea|test)/.test(id)) throw new Error("No such built-in module: " + id);
  return next(id, context);
} });
Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
process.getBuiltinModule = undefined;`,
  )}`,
});

describe("the bundle", () => {
  test.each(["18.20.8", "20.20.2", "22.18.0", "23.11.1"])(
    "says on Node %s which Node it needs",
    (version) => {
      for (const words of [["--version"], ["plan"], []])
        expect(run(words, onNode(version))).toEqual({
          status: 1,
          stdout: "",
          stderr:
            `error CLI_NOT_INSTALLED: Node ${version} is too old: this program needs Node 24 or newer (or Node 22 from 22.19 on)\n` +
            "  hint: install a newer Node\n",
        });
    },
  );

  test("prints the version of the program", () => {
    expect(run(["--version"])).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  test("names the commit that it was built from, with its date", () => {
    const { commit = "", date = "" } = buildFacts();
    const { status, stdout } = run(["version", "-o", "json"]);
    expect([status, JSON.parse(stdout)]).toEqual([
      0,
      { format_version: "1.0", version: VERSION, commit, date, node: process.version },
    ]);
    expect(run(["version"]).stdout).toBe(
      `workspace ${VERSION} (commit ${commit} of ${date.slice(0, 10)}, node ${process.version})\n`,
    );
  });

  test("takes the commit and its date from variables where the build has no repository", () => {
    const env = { BUILD_COMMIT: "0123456789abcdef0123456789abcdef01234567", SOURCE_DATE_EPOCH: "1700000000" };
    expect(buildFacts(env)).toEqual({ commit: "0123456789ab", date: "2023-11-14T22:13:20.000Z" });
  });

  test("plans, applies, and finds no drift on the embedded workspace", () => {
    expect(run(["init"]).status).toBe(0);
    expect(run(["plan", "--detailed-exitcode"]).status).toBe(2);
    expect(run(["apply", "--auto-approve"]).status).toBe(0);
    expect(run(["drift"]).status).toBe(0);
    expect(run(["plan", "--detailed-exitcode"]).status).toBe(0);
  });

  test("contains the packages that single commands load", () => {
    expect(run(["graph", "--output", "svg"]).stdout).toContain("<svg");
    expect(run(["plan", "--only", "po{o,x}ls.*"])).toMatchObject({ status: 0 });
    expect(run(["api", "clusters/list"])).toMatchObject({ status: 0 });
  });

  test("evaluates rules", () => {
    const rules = mkdtempSync(join(tmpdir(), "bundle-rules-"));
    writeFileSync(
      join(rules, "rules.yaml"),
      "rules: [{ name: none, assert: address == '', when: 'true' }]\n",
    );
    const { status, stdout } = run(["plan", "--rules", rules]);
    rmSync(rules, { recursive: true, force: true });
    expect([status, stdout.includes("GUARD_RULE")]).toEqual([3, true]);
  });

  test("contains the schemas of its outputs and of the service", () => {
    for (const [option, name] of [
      ["--api", "openapi.yaml"],
      ["--plan", "plan.schema.json"],
      ["--drift", "drift.schema.json"],
      ["--apply-events", "apply-events.schema.json"],
      ["--test", "test.schema.json"],
    ] as const)
      expect(run(["schema", option]).stdout).toBe(
        readFileSync(join(import.meta.dirname, "../../../schemas", name), "utf8"),
      );
  });

  test("runs tests of a spec", () => {
    writeFileSync(join(folder, "a.test.yaml"), "tests: { t: { steps: [apply: , drift: ] } }\n");
    expect(run(["test"])).toMatchObject({ status: 0, stdout: expect.stringContaining("1 passed") });
    rmSync(join(folder, "a.test.yaml"));
  });

  test("lists the license of every package that it contains", () => {
    const { dependencies } = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8"),
    ) as { dependencies: Record<string, string> };
    const text = readFileSync(bundle, "utf8");
    const licenses = text.slice(text.lastIndexOf("\n/*\n"));
    for (const [name, version] of Object.entries(dependencies))
      expect(licenses).toMatch(new RegExp(`^${name} ${version} \\([\\w.-]+\\)$`, "m"));
  });

  test("needs no other file", () => {
    expect(readdirSync(folder).filter((name) => !name.startsWith("."))).toEqual([
      "workspace.mjs",
      "workspace.yaml",
    ]);
  });
});
