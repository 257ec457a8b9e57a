// `workspace lsp`: serves an editor over stdin and stdout with the language server protocol.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Connection, Diagnostic } from "vscode-languageserver/node";
import { mainModule } from "../../../config/programs.ts";
import { VERSION } from "../../../config/version.ts";
import { Failure } from "../../../core/diagnostic.ts";
import { registry as everyKind } from "../../../providers/index.ts";
import { colorsFor } from "../../../report/text/terminal.ts";
import { registryIn } from "../../../resource/dialect-view.ts";
import {
  type EditorFinding,
  type EditorPlace,
  EditorSession,
} from "../../../workflow/authoring/editor-session.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { explainPath } from "../explain.ts";

export const lspCommand = defineCommand({
  options: {},
  notes:
    "An editor starts the command. It checks open specs, also unsaved text, without a request to the workspace; only the editor's command workspace.plan reads the workspace.",
  async run(context) {
    const { createConnection } = await import("vscode-languageserver/node");
    const connection = createConnection(context.stdin, context.stdout.stream);
    serve(connection, context);
    return context.signals.during(async (signal) => {
      connection.listen();
      await new Promise((stop) => signal.addEventListener("abort", stop));
    }, "");
  },
});

/** A check starts when the text did not change for so long. */
const QUIET_MS = 200;

const PLAN_COMMAND = "workspace.plan";

function serve(connection: Connection, context: ConsoleContext): void {
  const registry = registryIn(everyKind, context.dialect());
  const explain = (path: readonly string[]): string | undefined => explained(registry, path);
  let session = new EditorSession(context, { registry, explain, folders: [] });
  const checks = new Checks(connection, () => session);

  connection.onInitialize(({ workspaceFolders }) => {
    const folders = (workspaceFolders ?? []).flatMap(({ uri }) => fileOf(uri) ?? []);
    session = new EditorSession(context, { registry, explain, folders });
    return {
      serverInfo: { name: "workspace", version: VERSION },
      capabilities: {
        // The whole text comes with each change, and with a save.
        textDocumentSync: { openClose: true, change: 1, save: true },
        definitionProvider: true,
        hoverProvider: true,
        completionProvider: { triggerCharacters: ["{", "."] },
        executeCommandProvider: { commands: [PLAN_COMMAND] },
      },
    };
  });
  serveDocuments(connection, checks, () => session);
  serveRequests(connection, context, () => session);
}

/** What an editor tells of its documents. */
function serveDocuments(connection: Connection, checks: Checks, session: () => EditorSession): void {
  const edit = (uri: string, text: string | undefined): void => {
    const file = fileOf(uri);
    if (file === undefined) return;
    session().edit(file, text);
    checks.request(file);
  };
  connection.onDidOpenTextDocument(({ textDocument }) => edit(textDocument.uri, textDocument.text));
  connection.onDidChangeTextDocument(({ textDocument, contentChanges }) =>
    edit(textDocument.uri, contentChanges.at(-1)?.text),
  );
  connection.onDidCloseTextDocument(({ textDocument }) => edit(textDocument.uri, undefined));
  connection.onDidSaveTextDocument(({ textDocument }) => {
    const file = fileOf(textDocument.uri);
    if (file !== undefined) checks.request(file);
  });
}

/** What an editor asks at a position of a document, and its command. */
function serveRequests(connection: Connection, context: ConsoleContext, session: () => EditorSession): void {
  connection.onDefinition(({ textDocument, position }) => {
    const file = fileOf(textDocument.uri);
    const place = file && session().definition(file, position);
    return place ? locationOf(place) : null;
  });
  connection.onHover(({ textDocument, position }) => {
    const file = fileOf(textDocument.uri);
    const hover = file && session().hover(file, position);
    if (!hover) return null;
    const value = `\`\`\`text\n${hover.text.trimEnd()}\n\`\`\``;
    return { contents: { kind: "markdown", value }, range: hover.range };
  });
  connection.onCompletion(({ textDocument, position }) => {
    const file = fileOf(textDocument.uri);
    const names = file ? session().completions(file, position) : [];
    return names.map(({ name, range }) => ({ label: name, textEdit: { range, newText: name } }));
  });
  connection.onExecuteCommand(({ command, arguments: [uri, format = "text"] = [] }) => {
    const file = fileOf(String(uri));
    const main = file && session().mainFile(file);
    if (command !== PLAN_COMMAND || !main) return null;
    return planOf(context, main, String(format));
  });
}

/** Checks the spec of a changed file once the changes pause, one after the other. */
class Checks {
  readonly #connection: Connection;
  readonly #session: () => EditorSession;
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  #last: Promise<void> = Promise.resolve();

  constructor(connection: Connection, session: () => EditorSession) {
    this.#connection = connection;
    this.#session = session;
  }

  request(file: string): void {
    const main = this.#session().mainFile(file);
    if (main === undefined) return;
    clearTimeout(this.#waiting.get(main));
    const start = (): void => {
      this.#waiting.delete(main);
      this.#last = this.#last.then(() => this.#check(main));
    };
    this.#waiting.set(main, setTimeout(start, QUIET_MS));
  }

  async #check(main: string): Promise<void> {
    for (const [file, findings] of await this.#session().check(main))
      await this.#connection.sendDiagnostics({
        uri: pathToFileURL(file).href,
        diagnostics: findings.map(diagnosticOf),
      });
  }
}

const SEVERITIES = { error: 1, warning: 2 } as const;

function diagnosticOf({ severity, code, message, range, usedAt }: EditorFinding): Diagnostic {
  const related = usedAt.map((place) => ({ location: locationOf(place), message: "used here" }));
  return {
    source: "workspace",
    severity: SEVERITIES[severity],
    code,
    message,
    range,
    ...(related.length === 0 ? {} : { relatedInformation: related }),
  };
}

const locationOf = ({ file, range }: EditorPlace) => ({ uri: pathToFileURL(file).href, range });

/** Undefined for a document that is not a file. */
function fileOf(uri: string): string | undefined {
  return uri.startsWith("file:") ? fileURLToPath(uri) : undefined;
}

function explained(registry: Parameters<typeof explainPath>[0], [name, ...path]: readonly string[]) {
  try {
    return name === undefined ? undefined : explainPath(registry, name, path, colorsFor(false));
  } catch (problem) {
    if (problem instanceof Failure) return undefined;
    throw problem;
  }
}

/** Runs `workspace plan` in another process, because the output of this one belongs to the editor. */
async function planOf({ env }: ConsoleContext, main: string, format: string) {
  const child = spawn(process.execPath, [mainModule(), "plan", "--file", main, "--output", format], {
    cwd: dirname(main),
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, messages, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { exit_code: exitCode, output, messages };
}
