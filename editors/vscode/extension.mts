// The extension for VS Code: starts `workspace lsp`, shows a plan in a panel, and gives the YAML extension the schema of a spec.

import { execFile } from "node:child_process";
import { basename } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const [command = "workspace", ...first] = vscode.workspace
    .getConfiguration("workspace")
    .get<string[]>("command", []);
  client = new LanguageClient(
    "workspace",
    "Workspace",
    { command, args: [...first, "lsp"] },
    { documentSelector: [{ scheme: "file", language: "yaml" }] },
  );
  context.subscriptions.push(vscode.commands.registerCommand("workspace.showPlan", showPlan));
  await client.start();
  await offerSchema(command, first);
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}

interface PlanAnswer {
  readonly output: string;
  readonly messages: string;
}

/** The page of the plan has a policy that lets it run only its own script. */
async function showPlan(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined || client === undefined) return;
  await document.save();
  const request = { command: "workspace.plan", arguments: [document.uri.toString(), "html"] };
  const run = (): Thenable<PlanAnswer | null> | undefined =>
    client?.sendRequest("workspace/executeCommand", request);
  const progress = { location: vscode.ProgressLocation.Notification, title: "Planning" };
  const plan = await vscode.window.withProgress(progress, async () => run());
  if (plan === null || plan === undefined) {
    await vscode.window.showWarningMessage(
      "This file belongs to no spec: no folder above it has a workspace.yaml.",
    );
    return;
  }
  if (plan.output === "") {
    await vscode.window.showErrorMessage(plan.messages);
    return;
  }
  const beside = vscode.ViewColumn.Beside;
  const panel = vscode.window.createWebviewPanel("workspace.plan", "Plan", beside, { enableScripts: true });
  panel.webview.html = plan.output;
}

/** What the YAML extension exports. */
interface YamlExtension {
  registerContributor(
    name: string,
    requestSchema: (uri: string) => string | undefined,
    requestContent: (uri: string) => Promise<string> | undefined,
  ): void;
}

const SCHEMA = "workspace://schema/workspace";

async function offerSchema(command: string, first: readonly string[]): Promise<void> {
  const yaml = vscode.extensions.getExtension<YamlExtension>("redhat.vscode-yaml");
  if (yaml === undefined) return;
  const { stdout } = await promisify(execFile)(command, [...first, "schema"], {
    maxBuffer: 64 * 1024 * 1024,
  });
  (await yaml.activate()).registerContributor(
    "workspace",
    (uri) => (basename(vscode.Uri.parse(uri).path) === "workspace.yaml" ? SCHEMA : undefined),
    (uri) => (uri === SCHEMA ? Promise.resolve(stdout) : undefined),
  );
}
