// A stand-in for the module `vscode`: every member is a class, a function, and an object at once. What the extension registers is kept.

"use strict";

const registered = new Map();
const panel = { webview: { html: "" } };

function anything() {
  const target = class {};
  const proxy = new Proxy(target, {
    get: (own, name) => {
      if (name === "then" || name === Symbol.iterator || name === Symbol.toPrimitive) return undefined;
      if (name === "prototype" || Object.hasOwn(own, name)) return own[name];
      own[name] = anything();
      return own[name];
    },
    apply: () => anything(),
    construct: (own, words, newTarget) =>
      newTarget === proxy ? anything() : Reflect.construct(own, words, newTarget),
  });
  return proxy;
}

const vscode = anything();
vscode.version = "1.91.0";
vscode.workspace = Object.assign(anything(), {
  getConfiguration: () => ({
    get: (name, usual) => (name === "command" ? JSON.parse(process.env.COMMAND) : usual),
  }),
  workspaceFolders: [
    {
      uri: { scheme: "file", fsPath: process.env.FOLDER, toString: () => process.env.FOLDER_URI },
      name: "spec",
    },
  ],
  textDocuments: [],
  notebookDocuments: [],
});
vscode.commands = {
  registerCommand: (name, run) => {
    registered.set(name, run);
    return { dispose: () => registered.delete(name) };
  },
  executeCommand: () => Promise.resolve(),
};
vscode.extensions = { getExtension: () => undefined, all: [], onDidChange: () => ({ dispose() {} }) };
vscode.ProgressLocation = { Notification: 15 };
vscode.ViewColumn = { Beside: -2 };
vscode.env = { appName: "test", language: "en" };
vscode.window = Object.assign(anything(), {
  activeTextEditor: {
    document: { save: () => Promise.resolve(true), uri: { toString: () => process.env.FILE_URI } },
  },
  withProgress: (_options, work) => work(),
  createWebviewPanel: () => panel,
  showErrorMessage: (text) => Promise.reject(new Error(text)),
  visibleTextEditors: [],
});
module.exports = vscode;
vscode.forTest = { registered, panel };
