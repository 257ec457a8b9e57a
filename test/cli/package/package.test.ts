// The program as people install it: packed, unpacked below node_modules, started as npm links it.

import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../../src/config/version.ts";
import { type ArchiveEntry, pack } from "./package.ts";

let packed: ArchiveEntry;
beforeAll(() => {
  packed = pack();
}, 180_000);
afterAll(() => rmSync(dirname(packed.clone), { recursive: true, force: true }));

interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, words: readonly string[], cwd: string, env: Record<string, string> = {}): Told {
  const done = spawnSync(process.execPath, [program, ...words], { cwd, env: own(env), encoding: "utf8" });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

const own = (env: Record<string, string>) => ({
  PATH: process.env.PATH ?? "",
  XDG_CACHE_HOME: join(dirname(packed.clone), "cache"),
  ...env,
});

/** A process that believes to be run by another Node. */
const onNode = (version: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`,
  )}`,
});

/** Writes the address of each module that is loaded to standard error. */
const LOADED = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => (process.stderr.write(url + "\\n"), next(url, context)) });`,
  )}`,
};

/** Writes the modules of Node that were loaded to standard error. */
const BUILTINS = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `process.on("exit", () => process._rawDebug(process.moduleLoadList.join(" ; ")));`,
  )}`,
};

describe("an installed package", () => {
  test("contains the build, and neither sources nor tests", () => {
    const rooms = new Set(packed.files.map((path) => path.split("/")[0]));
    expect([...rooms].sort()).toEqual(
      [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "bin",
        "dist",
        "docs",
        "examples",
        "package.json",
        "schemas",
      ].sort(),
    );
    expect(packed.files.filter((path) => path.endsWith(".ts"))).toEqual([]);
    expect(packed.files).toContain("dist/main.js");
    expect(packed.files).toContain("dist/LICENSES.txt");
  });

  test("contains every file that the README links to, and of the pages for maintainers only those", () => {
    const readme = readFileSync(join(packed.installed, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = ""]) => path);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((path) => !packed.files.includes(path))).toEqual([]);
    const internals = packed.files.filter((path) => path.startsWith("docs/internals/"));
    expect(internals.filter((path) => !links.includes(path))).toEqual([]);
  });

  test("has only files whose imports are installed", () => {
    const dist = join(packed.installed, "dist");
    // It acts when it is loaded.
    const files = readdirSync(dist).filter((name) => /^(?!main).*\.js$/.test(name));
    const script = `for (const file of ${JSON.stringify(files)}) await import(\`${dist}/\${file}\`);`;
    const words = ["--input-type=module", "--eval", script];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8", env: own({}) });
    expect([status, stderr]).toEqual([0, ""]);
    expect(files.length).toBeGreaterThan(50);
  });

  test("makes pages and pictures, and evaluates rules", () => {
    const folder = join(dirname(packed.clone), "outputs");
    mkdirSync(join(folder, "rules"), { recursive: true });
    const rule = "rules: [{ name: none, assert: address == '', when: 'true' }]\n";
    writeFileSync(join(folder, "rules/rules.yaml"), rule);
    const tell = (...words: string[]) => run(packed.command, words, folder, { WORKSPACE_HOST: "embedded" });
    expect(tell("init").code).toBe(0);
    expect(tell("plan", "--output", "html").stdout).toContain("<!doctype html>");
    expect(tell("graph", "--output", "svg").stdout).toContain("<svg");
    const { code, stdout } = tell("plan", "--rules", join(folder, "rules"));
    expect([code, stdout.includes("GUARD_RULE")]).toEqual([3, true]);
  }, 60_000);

  test("loads few files for a command", () => {
    const loaded = (...words: string[]) => {
      const { stderr } = run(packed.command, words, packed.clone, LOADED);
      const from = `${pathToFileURL(join(packed.installed, "dist")).href}/`;
      const urls = stderr
        .split("\n")
        .filter((line) => line.startsWith(from) || line.includes("/node_modules/"));
      return urls.map((url) => url.replace(from, "")).filter((url) => !url.includes("/workspace/bin/"));
    };
    expect(loaded("--version").length).toBeLessThan(6);
    expect(loaded("validate", "--file", "examples/quickstart/workspace.yaml").length).toBeLessThan(12);
    expect(loaded("plan", "--offline", "--file", "examples/quickstart/workspace.yaml").length).toBeLessThan(
      24,
    );
  });

  test("loads no module of Node for processes, encryption, or HTTP before a command uses it", () => {
    const words = ["validate", "--file", "examples/quickstart/workspace.yaml"];
    const loaded = new Set(run(packed.command, words, packed.clone, BUILTINS).stderr.trim().split(" ; "));
    expect(loaded.has("NativeModule fs")).toBe(true);
    for (const name of ["child_process", "http", "http2", "tls"])
      expect([name, loaded.has(`NativeModule ${name}`)]).toEqual([name, false]);
  });

  test("loads connections without fetch, workers, and the streams of the web", () => {
    const words = ["plan", "--file", "examples/quickstart/workspace.yaml", "--host", "http://127.0.0.1:1"];
    const env = { ...BUILTINS, WORKSPACE_TOKEN: "x" };
    const loaded = new Set(run(packed.command, words, packed.clone, env).stderr.trim().split(" ; "));
    expect(loaded.has("NativeModule http")).toBe(true);
    for (const name of ["worker_threads", "stream/web", "zlib"])
      expect([name, loaded.has(`NativeModule ${name}`)]).toEqual([name, false]);
  });

  test("keeps compiled code in a folder of the user, and not in the package or the repository", () => {
    const home = mkdtempSync(join(tmpdir(), "package-home-"));
    const compiled = join(home, ".cache/workspace/compiled");
    const env = { HOME: home, XDG_CACHE_HOME: "" };
    expect(run(packed.command, ["--help"], home, env).code).toBe(0);
    expect(existsSync(compiled)).toBe(false);
    for (const more of [
      ["NODE_DISABLE_COMPILE_CACHE", "1"],
      ["NODE_COMPILE_CACHE", join(home, "own")],
    ] as const)
      expect(run(packed.command, ["--help"], packed.clone, { ...env, [more[0]]: more[1] }).code).toBe(0);
    expect(existsSync(compiled)).toBe(false);
    expect(run(packed.command, ["--help"], packed.clone, env).code).toBe(0);
    expect(readdirSync(compiled).length).toBe(1);
    expect(existsSync(join(packed.installed, "node_modules"))).toBe(false);
    rmSync(home, { recursive: true, force: true });
  });

  test("says its version", () => {
    expect(run(packed.command, ["--version"], packed.clone)).toEqual({
      code: 0,
      stdout: `${VERSION}\n`,
      stderr: "",
    });
  });

  test("validates, plans, and applies an example to the embedded workspace", () => {
    const folder = join(dirname(packed.clone), "quickstart");
    cpSync(join(packed.installed, "examples/quickstart"), folder, { recursive: true });
    const env = { WORKSPACE_HOST: "embedded", DB_PASSWORD: "example" };
    const tell = (...words: string[]) => run(packed.command, words, folder, env);
    expect(tell("validate").stdout).toMatch(/^Valid: \d+ resources/);
    expect(tell("plan", "--detailed-exitcode")).toMatchObject({
      code: 2,
      stderr: expect.not.stringContaining("Warning"),
    });
    expect(tell("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(tell("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    expect(tell("drift")).toMatchObject({ code: 0 });
  }, 120_000);

  test.each([
    ["schema", "$schema"],
    ["schema --plan", "$schema"],
    ["schema --drift", "$schema"],
    ["schema --apply-events", "$schema"],
    ["schema --api", "openapi:"],
    ["api", "clusters/create"],
    ["explain pools", "node_type_id"],
  ])("finds the files that it reads: %s", (words, part) => {
    expect(run(packed.command, words.split(" "), packed.clone)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(part),
    });
  });

  test("serves a workspace", async () => {
    const child = spawn(process.execPath, [packed.command, "emulator", "--port", "0", "--token", "t"], {
      cwd: dirname(packed.clone),
      env: own({}),
    });
    try {
      const url = await firstMatch(child.stdout, /http:\S+/);
      const answer = await fetch(`${url}/api/2.0/clusters/list`, { headers: { authorization: "Bearer t" } });
      expect(answer.status).toBe(200);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("runs on the Nodes that its engines name, and says which when another one starts it", () => {
    for (const version of ["22.19.0", "24.0.0", "26.1.0"])
      expect(run(packed.command, ["--version"], packed.clone, onNode(version)).code, version).toBe(0);
    for (const version of ["20.20.2", "22.18.0", "23.11.1"]) {
      const told = run(packed.command, ["--version"], packed.clone, onNode(version));
      expect(told.code, version).toBe(1);
      expect(told.stderr).toContain(`Node ${version} is too old`);
      expect(told.stderr).toContain("needs Node 24 or newer (or Node 22 from 22.19 on)");
    }
  });

  test("that lacks what it depends on says so", () => {
    const lonely = join(dirname(packed.clone), "lonely/node_modules/workspace");
    cpSync(packed.installed, lonely, { recursive: true });
    const told = run(join(lonely, "bin/workspace.js"), ["--version"], packed.clone);
    expect(told).toMatchObject({ code: 1, stderr: expect.stringContaining("error CLI_NOT_INSTALLED") });
    expect(told.stderr).toContain("install the package again");
  });

  test("that was packed without being built says so", () => {
    const unbuilt = join(dirname(packed.installed), "unbuilt");
    cpSync(packed.installed, unbuilt, { recursive: true });
    rmSync(join(unbuilt, "dist"), { recursive: true });
    expect(run(join(unbuilt, "bin/workspace.js"), ["--version"], packed.clone)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("without being built"),
    });
  });
});

describe("a clone", () => {
  const program = () => join(packed.clone, "bin/workspace.js");

  test("runs its sources, whatever an old build left there", () => {
    expect(existsSync(join(packed.clone, "dist/main.js"))).toBe(true);
    writeFileSync(join(packed.clone, "dist/main.js"), 'process.stdout.write("stale\\n");');
    expect(run(program(), ["--version"], packed.clone).stdout).toBe(`${VERSION}\n`);
  });
});

/** The first part of a stream that fits. */
function firstMatch(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    stream.on("data", (data: Buffer) => {
      text += data.toString();
      const found = pattern.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    stream.on("end", () => reject(new Error(`ended after: ${text}`)));
  });
}
