// The language server as an editor uses it: a process, and messages over its standard streams.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createMessageConnection,
  type Diagnostic,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const PROGRAM = fileURLToPath(new URL("../../../bin/workspace.js", import.meta.url));

const SPEC = `variables: { env: { default: dev }, key: { type: string, sensitive: true, default: not-a-real-key } }
include: [pools.yaml]
modules: { team: { source: team } }
clusters:
  adhoc:
    spark_version: 6.4.x-scala2.11
    num_workers: 1
    instance_pool_id: \${pools.shared.instance_pool_id}
    custom_tags: { env: "\${var.env}", key: "\${var.key}" }
`;
const POOLS = "pools:\n  shared: { node_type_id: Standard_DS3_v2 }\n";
const TEAM = `pools: { warm: { node_type_id: Standard_DS3_v2 } }
clusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.warm.instance_pool_id}" } }
`;

let folder: string;
let server: ChildProcess;
let editor: MessageConnection;
const shown = new Map<string, readonly Diagnostic[]>();
let onShown: () => void = () => undefined;

const uriOf = (path: string): string => pathToFileURL(join(folder, path)).href;

/** The findings of a file once they fit. */
async function findingsOf(path: string, fits: (findings: readonly Diagnostic[]) => boolean) {
  for (;;) {
    const findings = shown.get(uriOf(path));
    if (findings !== undefined && fits(findings)) return findings;
    await new Promise<void>((resolve) => {
      onShown = resolve;
    });
  }
}

const open = (path: string, text: string): Promise<void> =>
  editor.sendNotification("textDocument/didOpen", {
    textDocument: { uri: uriOf(path), languageId: "yaml", version: 1, text },
  });

const change = (path: string, text: string): Promise<void> =>
  editor.sendNotification("textDocument/didChange", {
    textDocument: { uri: uriOf(path), version: 2 },
    contentChanges: [{ text }],
  });

/** Asks about the first character of `mark`. */
function ask(method: string, path: string, text: string, mark: string): Promise<unknown> {
  const before = text.slice(0, text.indexOf(mark)).split("\n");
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  return editor.sendRequest(`textDocument/${method}`, { textDocument: { uri: uriOf(path) }, position });
}

beforeAll(async () => {
  folder = realpathSync(folderWith(SPEC));
  mkdirSync(join(folder, "team"));
  writeFileSync(join(folder, "pools.yaml"), POOLS);
  writeFileSync(join(folder, "team/workspace.yaml"), TEAM);
  // No host: a request to a workspace would be an error.
  const env = { PATH: process.env.PATH, HOME: folder };
  server = spawn(process.execPath, [PROGRAM, "lsp"], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (server.stdout === null || server.stdin === null) throw new Error("the server has no streams");
  editor = createMessageConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  editor.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
    shown.set(uri, diagnostics);
    onShown();
  });
  editor.listen();
  const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "spec" }];
  const answer = await editor.sendRequest("initialize", {
    processId: null,
    capabilities: {},
    workspaceFolders,
  });
  expect(answer).toMatchObject({ capabilities: { definitionProvider: true, hoverProvider: true } });
  await editor.sendNotification("initialized", {});
});
afterAll(() => {
  server.kill();
});

describe("the language server", () => {
  test("shows the findings of validate with its ranges, for unsaved text", async () => {
    await open("workspace.yaml", SPEC);
    await findingsOf("workspace.yaml", (findings) => findings.length === 0);
    const broken = SPEC.replace("num_workers: 1", "num_wrkers: 1");
    await change("workspace.yaml", broken);
    const [finding] = await findingsOf("workspace.yaml", (findings) => findings.length > 0);
    writeFileSync(join(folder, "broken.yaml"), broken);
    const context = contextWith({}, folder);
    await runProgram(context, ["validate", "--file", "broken.yaml", "-o", "json"]);
    const [expected] = (JSON.parse(context.out()) as { diagnostics: ValidateFinding[] }).diagnostics;
    const start = { line: (expected?.at.line ?? 0) - 1, character: (expected?.at.column ?? 0) - 1 };
    expect(finding).toMatchObject({
      code: expected?.code,
      severity: 1,
      source: "workspace",
      range: { start, end: { line: start.line, character: start.character + "num_wrkers".length } },
    });
    expect(finding?.message).toContain(expected?.message);
    await change("workspace.yaml", SPEC);
    expect(await findingsOf("workspace.yaml", (findings) => findings.length === 0)).toEqual([]);
  });

  test("shows a finding of a module in its file, with the place that uses it", async () => {
    await open("team/workspace.yaml", TEAM.replace("num_workers: 1", "num_workers: -1"));
    const [finding] = await findingsOf("team/workspace.yaml", (findings) => findings.length > 0);
    expect(finding?.relatedInformation?.map(({ location }) => location.uri)).toEqual([
      uriOf("workspace.yaml"),
    ]);
    await change("team/workspace.yaml", TEAM);
    await findingsOf("team/workspace.yaml", (findings) => findings.length === 0);
  });

  test("finds the declaration of a resource in another file, a variable, and a file that is named", async () => {
    const definition = (mark: string) => ask("definition", "workspace.yaml", SPEC, mark);
    expect(await definition("shared.instance")).toEqual({
      uri: uriOf("pools.yaml"),
      range: { start: { line: 1, character: 2 }, end: { line: 1, character: 8 } },
    });
    expect(await definition("var.env")).toMatchObject({ range: { start: { line: 0, character: 13 } } });
    expect(await definition("pools.yaml]")).toMatchObject({ uri: uriOf("pools.yaml") });
    expect(await definition("team } }")).toMatchObject({ uri: uriOf("team/workspace.yaml") });
    expect(await definition("spark_version")).toBeNull();
  });

  test("finds the declaration inside a module in the module", async () => {
    expect(await ask("definition", "team/workspace.yaml", TEAM, "warm.instance")).toEqual({
      uri: uriOf("team/workspace.yaml"),
      range: { start: { line: 0, character: 9 }, end: { line: 0, character: 13 } },
    });
  });

  test("describes fields as explain does, and what a name refers to, without values", async () => {
    const hover = async (mark: string) => JSON.stringify(await ask("hover", "workspace.yaml", SPEC, mark));
    const context = contextWith({}, folder);
    await runProgram(context, ["explain", "clusters.num_workers"]);
    expect(await hover("num_workers")).toContain(JSON.stringify(context.out().trimEnd()).slice(1, -1));
    expect(await hover("shared.instance")).toContain("pools.shared is declared at pools.yaml:2");
    expect(await hover("var.key")).toContain("var.key is declared at workspace.yaml:1");
    expect(await hover("var.key")).not.toContain("not-a-real-key");
  });

  test("completes names inside an expression only", async () => {
    const text = SPEC.replace("${pools.shared.instance_pool_id}", "${po");
    await change("workspace.yaml", text);
    const labels = async (mark: string, path = "workspace.yaml") => {
      const items = (await ask("completion", path, text, mark)) as { label: string }[];
      return items.map(({ label }) => label);
    };
    expect(await labels("\n    custom_tags")).toEqual([
      "clusters.adhoc.cluster_id",
      "modules.team",
      "pools.shared.instance_pool_id",
      "var.env",
      "var.key",
    ]);
    expect(await labels("spark_version")).toEqual([]);
    await change("workspace.yaml", SPEC);
  });

  test("plans only on request, and shows what plan shows", async () => {
    const plan = (format: string) =>
      editor.sendRequest("workspace/executeCommand", {
        command: "workspace.plan",
        arguments: [uriOf("workspace.yaml"), format],
      });
    expect(await plan("text")).toMatchObject({
      exit_code: 1,
      messages: expect.stringContaining("CLI_NO_HOST"),
    });
  });

  test("ends when the editor shuts it down", async () => {
    const ended = once(server, "exit");
    expect(await editor.sendRequest("shutdown")).toBeNull();
    await editor.sendNotification("exit");
    expect(await ended).toEqual([0, null]);
  });
});

interface ValidateFinding {
  readonly code: string;
  readonly message: string;
  readonly at: { readonly line: number; readonly column: number };
}
