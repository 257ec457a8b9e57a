// The extension for VS Code: the contents and the size of its package, and its work in a process with a stand-in for VS Code.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { strFromU8, unzipSync } from "fflate";
import { beforeAll, describe, expect, test } from "vitest";
import { extensionPackage } from "../../scripts/editor.ts";
import { VERSION } from "../../src/config/version.ts";
import { folderWith } from "../cli/program.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/workspace.js", import.meta.url));
const FAKE = fileURLToPath(new URL("fake-vscode.cjs", import.meta.url));

/** Activates the extension, runs its command, and ends it. */
const DRIVER = `
const Module = require("node:module");
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...more) => (name === "vscode" ? ${JSON.stringify(FAKE)} : resolve(name, ...more));
const extension = require(process.argv[1]);
const { registered, panel } = require(${JSON.stringify(FAKE)}).forTest;
(async () => {
  const context = { subscriptions: [] };
  await extension.activate(context);
  await registered.get("workspace.showPlan")();
  await extension.deactivate();
  console.log(JSON.stringify({ commands: [...registered.keys()], html: panel.webview.html }));
  process.exit(0);
})();
`;

describe("the extension for VS Code", () => {
  let packed: Uint8Array;
  let files: Readonly<Record<string, Uint8Array>>;
  beforeAll(async () => {
    packed = await extensionPackage();
    files = unzipSync(packed);
  });

  test("is one file of code with its licenses, below 500 kB", () => {
    expect(Object.keys(files)).toEqual([
      "[Content_Types].xml",
      "extension.vsixmanifest",
      "extension/package.json",
      "extension/README.md",
      "extension/LICENSE.txt",
      "extension/LICENSES.txt",
      "extension/extension.js",
    ]);
    expect(packed.length).toBeLessThan(500_000);
    expect(files["extension/extension.js"]?.length).toBeLessThan(500_000);
    const licenses = strFromU8(files["extension/LICENSES.txt"] ?? new Uint8Array());
    expect(licenses).toMatch(/^vscode-languageclient \S+ \(MIT\)$/m);
  });

  test("has the version of the program, and each command that it declares", () => {
    const manifest = JSON.parse(strFromU8(files["extension/package.json"] ?? new Uint8Array()));
    expect(manifest).toMatchObject({ version: VERSION, main: "./extension.js" });
    expect(strFromU8(files["extension.vsixmanifest"] ?? new Uint8Array())).toContain(`Version="${VERSION}"`);
    expect(manifest.contributes.commands.map(({ command }: { command: string }) => command)).toEqual([
      "workspace.showPlan",
    ]);
  });

  test("starts the language server and shows the plan of the open file", () => {
    const spec = folderWith("pools: { shared: { node_type_id: Standard_DS3_v2 } }\n");
    const installed = folderWith("");
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(installed, path)), { recursive: true });
      writeFileSync(join(installed, path), bytes);
    }
    const env = {
      PATH: process.env.PATH,
      HOME: spec,
      WORKSPACE_HOST: "embedded",
      COMMAND: JSON.stringify([process.execPath, PROGRAM]),
      FOLDER: spec,
      FOLDER_URI: pathToFileURL(spec).href,
      FILE_URI: pathToFileURL(join(spec, "workspace.yaml")).href,
    };
    const words = ["-e", DRIVER, join(installed, "extension/extension.js")];
    const { stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8", timeout: 20_000 });
    expect(stdout, stderr).not.toBe("");
    const shown = JSON.parse(stdout) as { commands: readonly string[]; html: string };
    expect(shown.commands).toContain("workspace.showPlan");
    expect(shown.html).toContain('<span class="verb">create</span><span class="address">pools.shared</span>');
  });

  test("asks for trust, because it starts a program on the files of a folder", () => {
    const manifest = JSON.parse(readFileSync("editors/vscode/package.json", "utf8"));
    expect(manifest.capabilities.untrustedWorkspaces.supported).toBe(false);
    expect(manifest.contributes.configuration.properties["workspace.command"].scope).toBe("machine");
  });
});
