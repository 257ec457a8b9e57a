// The project's own workflows and its release: what is checked without running either.

import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { billOfMaterials, publishedManifest, releaseNotes } from "../../scripts/release.ts";
import { ROOT } from "./runners/pipeline.ts";

const TOOLS = join(homedir(), ".cache/workspace-ci");
const SCHEMAS = join(TOOLS, "venv/bin/check-jsonschema");
const ACTIONLINT = join(TOOLS, "bin/actionlint");
for (const tool of [SCHEMAS, ACTIONLINT])
  if (!existsSync(tool))
    console.warn(`${tool} is missing: run .ci/run to install it; its checks are skipped`);

function ran(command: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe("the files of the project's own repository", () => {
  test.skipIf(!existsSync(SCHEMAS)).each([
    ["github-workflows", ".github/workflows/*.{yml,yaml}"],
    ["dependabot", ".github/dependabot.yml"],
    ["github-issue-forms", ".github/ISSUE_TEMPLATE/{bug,feature}.yml"],
    ["github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"],
  ])("vendor.%s", { timeout: 60_000 }, (schema, files) => {
    const args = ["--builtin-schema", `vendor.${schema}`, ...globSync(files, { cwd: ROOT })];
    expect(ran(SCHEMAS, args)).toEqual({ status: 0, output: "ok -- validation done\n" });
  });

  test.skipIf(!existsSync(ACTIONLINT))("actionlint has no finding", { timeout: 60_000 }, () => {
    const workflows = globSync(".github/workflows/*.{yml,yaml}", { cwd: ROOT });
    expect(ran(ACTIONLINT, ["-no-color", ...workflows])).toEqual({ status: 0, output: "" });
  });

  test("actions are pinned to commits", () => {
    const workflows = ["ci", "docs", "release"].map((name) =>
      readFileSync(join(ROOT, `.github/workflows/${name}.yml`), "utf8"),
    );
    const uses = workflows.flatMap((text) =>
      [...text.matchAll(/uses: (\S+)/g)].map(([, action = ""]) => action),
    );
    expect(uses.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
    expect(uses.length).toBeGreaterThan(5);
  });
});

describe("a release", () => {
  const changelog = "# Changelog\n\n## 1.1.0 (unreleased)\n\n- b\n\n## 1.0.0 (2026-01-01)\n\n- a\n";

  test("has the section of its version as notes, and none that is called unreleased", () => {
    expect(releaseNotes(changelog, "1.0.0", "v1.0.0")).toBe("- a\n");
    expect(releaseNotes(changelog, "1.1.0", undefined)).toBe("- b\n");
    expect(() => releaseNotes(changelog, "1.1.0", "v1.1.0")).toThrow("calls 1.1.0 unreleased");
    expect(() => releaseNotes(changelog, "2.0.0", undefined)).toThrow("has no section for 2.0.0");
  });

  test("publishes a manifest with its own name, and without what only a clone needs", () => {
    const manifest = {
      name: "workspace",
      version: "1.0.0",
      private: true,
      scripts: {},
      devDependencies: {},
      bin: {},
    };
    expect(publishedManifest(manifest, "@a/b")).toEqual({ name: "@a/b", version: "1.0.0", bin: {} });
  });

  test("lists the packages that users install, with their digests", () => {
    const { components } = billOfMaterials(
      {
        "": { version: "1.0.0" },
        "node_modules/@a/b": { version: "1.2.3", license: "MIT", integrity: "sha512-AAE=" },
        "node_modules/x/node_modules/y": { version: "2.0.0", license: "(MIT OR CC0-1.0)" },
        "node_modules/tool": { version: "1.0.0", dev: true },
        "node_modules/linked": { link: true },
      },
      "@a/workspace",
      "1.0.0",
    );
    expect(components).toMatchObject([
      {
        purl: "pkg:npm/%40a/b@1.2.3",
        licenses: [{ license: { id: "MIT" } }],
        hashes: [{ alg: "SHA-512", content: "0001" }],
      },
      { name: "y", licenses: [{ expression: "(MIT OR CC0-1.0)" }] },
    ]);
  });
});
