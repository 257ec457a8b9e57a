// What a run does not need, it does not load (decision 0012).

import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMPILE_CACHE } from "../built-program.ts";

const ROOT = join(import.meta.dirname, "../..");
const HOOK = `
import { registerHooks } from "node:module";
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
process.on("exit", () => process.stderr.write("LOADED " + JSON.stringify(loaded)));
`;

function loadedBy(...args: readonly string[]): readonly string[] {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const script = `${join(ROOT, "src/main.ts")}`;
  const shell = ["-c", 'exec "$0" "$@" 2>&1 >/dev/null', process.execPath, "--import", hook, script, ...args];
  const told = execFileSync("sh", shell, {
    cwd: ROOT,
    env: { ...process.env, ...COMPILE_CACHE },
    encoding: "utf8",
  });
  return JSON.parse(told.slice(told.indexOf("LOADED ") + 7)) as string[];
}

const packagesOf = (urls: readonly string[]): ReadonlySet<string> =>
  new Set(urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []));

it("a valid spec is checked without ajv, typebox and undici", () => {
  const loaded = loadedBy("validate", "--file", "examples/quickstart/workspace.yaml");
  expect(loaded.some((url) => url.endsWith("src/spec/load-spec.ts"))).toBe(true);
  for (const heavy of ["ajv", "typebox", "undici", "listr2", "pg", "@viz-js/viz"])
    expect(packagesOf(loaded), heavy).not.toContain(heavy);
});

it("a run without rules loads nothing that evaluates rules", () => {
  const loaded = loadedBy("plan", "--offline", "--file", "examples/quickstart/workspace.yaml");
  expect(loaded.some((url) => url.endsWith("src/workflow/rules/check-rules.ts"))).toBe(true);
  expect(packagesOf(loaded)).not.toContain("@marcbachmann/cel-js");
  expect(loaded.filter((url) => /src\/(rules|spec\/rules)\/(cel|run-rules|evaluate)\.ts$/.test(url))).toEqual(
    [],
  );
});

it("the help of a plan loads neither undici nor the service itself", () => {
  const loaded = loadedBy("plan", "--help");
  expect(loaded.some((url) => url.endsWith("src/api/http/transport.ts"))).toBe(true);
  expect(
    loaded.filter((url) => url.includes("/node_modules/undici/") || url.includes("/src/emulator/")),
  ).toEqual([]);
});

it("a plan loads nothing that only a sign-in with OAuth needs", () => {
  const loaded = loadedBy("plan", "--help");
  expect(loaded.some((url) => url.endsWith("src/config/sign-in/choose.ts"))).toBe(true);
  expect(packagesOf(loaded)).not.toContain("oauth4webapi");
  expect(loaded.filter((url) => /src\/api\/auth\/(sign-in|oauth|azure|id-token)\.ts$/.test(url))).toEqual([]);
});

it("a fleet without a database loads neither the queue nor the driver of PostgreSQL", () => {
  const fleet = join(mkdtempSync(join(tmpdir(), "fleet-modules-")), "fleet.yaml");
  writeFileSync(fleet, "workspaces: { ads: { host: embedded } }\n");
  const loaded = loadedBy("fleet", "status", "--fleet", fleet);
  expect(loaded.some((url) => url.endsWith("src/fleet/read-fleet.ts"))).toBe(true);
  for (const heavy of ["pg", "pg-boss"]) expect(packagesOf(loaded), heavy).not.toContain(heavy);
});

it("--version loads four small files", () => {
  const own = loadedBy("--version").filter((url) => url.includes("/src/"));
  expect(own.map((url) => url.slice(url.indexOf("/src/")))).toEqual([
    "/src/main.ts",
    "/src/config/version.ts",
    "/src/config/streams.ts",
    "/src/cli/exit-process.ts",
  ]);
});
