// Every command with its summary (the same as in its file). A command's file is loaded only when the command is used.

import type { Command, CommandEntry } from "./command/command.ts";

type Entry = Omit<CommandEntry, "group">;

const group = (heading: string, entries: readonly Entry[]): readonly CommandEntry[] =>
  entries.map((entry) => ({ ...entry, group: `${heading}:` }));

/** With the options of commands that report themselves to machines. */
const watched = async (command: Command): Promise<Command> =>
  (await import("./output/run-signals.ts")).watchable(command);

export const COMMANDS: readonly CommandEntry[] = [
  ...group("Plan and apply", [
    {
      name: "init",
      summary: "create a starter spec in this folder",
      load: async () => (await import("./commands/init.ts")).initCommand,
    },
    {
      name: "validate",
      summary: "check the spec without a workspace",
      load: async () => (await import("./commands/validate.ts")).validateCommand,
    },
    {
      name: "test",
      summary: "run the tests of a spec",
      load: async () => (await import("./commands/authoring/test.ts")).testCommand,
    },
    {
      name: "plan",
      summary: "show the changes that apply would make",
      load: async () => watched((await import("./commands/plan.ts")).planCommand),
    },
    {
      name: "apply",
      summary: "apply the spec or a saved plan",
      load: async () => watched((await import("./commands/apply.ts")).applyCommand),
    },
    {
      name: "show",
      summary: "show a saved plan without reading the workspace",
      load: async () => (await import("./commands/show.ts")).showCommand,
    },
    {
      name: "destroy",
      summary: "delete all managed resources",
      load: async () => watched((await import("./commands/destroy.ts")).destroyCommand),
    },
  ]),
  ...group("Drift and state", [
    {
      name: "drift",
      summary: "show drift since the last apply",
      load: async () => watched((await import("./commands/drift/drift.ts")).driftCommand),
    },
    {
      name: "history",
      summary: "show who applied what and when",
      load: async () => (await import("./commands/history.ts")).historyCommand,
    },
    {
      name: "state",
      summary: "inspect, repair, and move the state",
      load: async () => (await import("./commands/state/state.ts")).stateCommand,
    },
  ]),
  ...group("Fleet", [
    {
      name: "fleet",
      summary: "run a command on many workspaces",
      load: async () => (await import("./commands/fleet/fleet.ts")).fleetCommand,
    },
  ]),
  ...group("Adopt", [
    {
      name: "export",
      summary: "write the workspace as a spec",
      load: async () => (await import("./commands/export.ts")).exportCommand,
    },
    {
      name: "convert",
      summary: "write a Terraform state as a spec",
      load: async () => (await import("./commands/convert.ts")).convertCommand,
    },
    {
      name: "import",
      summary: "import an existing object into the state",
      load: async () => (await import("./commands/import.ts")).importCommand,
    },
  ]),
  ...group("Write specs", [
    {
      name: "fmt",
      summary: "format the files of the spec",
      load: async () => (await import("./commands/authoring/fmt.ts")).fmtCommand,
    },
    {
      name: "console",
      summary: "evaluate expressions of the spec",
      load: async () => (await import("./commands/authoring/console.ts")).consoleCommand,
    },
    {
      name: "render",
      summary: "print the resolved spec of a target",
      load: async () => (await import("./commands/authoring/render.ts")).renderCommand,
    },
    {
      name: "watch",
      summary: "validate and plan again when files change",
      load: async () => (await import("./commands/authoring/watch.ts")).watchCommand,
    },
  ]),
  ...group("Operate", [
    {
      name: "run",
      summary: "start a job run",
      load: async () => (await import("./commands/jobs/run.ts")).runCommand,
    },
    {
      name: "runs",
      summary: "inspect and manage job runs",
      load: async () => (await import("./commands/jobs/runs.ts")).runsCommand,
    },
    {
      name: "clusters",
      summary: "start, stop, resize, and inspect managed clusters",
      load: async () => (await import("./commands/clusters/clusters.ts")).clustersCommand,
    },
    {
      name: "api",
      summary: "call an API operation directly",
      load: async () => (await import("./commands/api/api.ts")).apiCommand,
    },
  ]),
  ...group("Learn and set up", [
    {
      name: "login",
      summary: "check a sign-in and save it as a profile",
      load: async () => (await import("./commands/sign-in/login.ts")).loginCommand,
    },
    {
      name: "whoami",
      summary: "show the user and the source of the sign-in",
      load: async () => (await import("./commands/sign-in/whoami.ts")).whoamiCommand,
    },
    {
      name: "explain",
      summary: "describe a kind, a field, or a section of the spec",
      load: async () => (await import("./commands/explain.ts")).explainCommand,
    },
    {
      name: "graph",
      summary: "show the dependencies between resources",
      load: async () => (await import("./commands/graph.ts")).graphCommand,
    },
    {
      name: "schema",
      summary: "print a schema: spec, tests, plan, drift, or API",
      load: async () => (await import("./commands/schema.ts")).schemaCommand,
    },
    {
      name: "emulator",
      summary: "serve a test workspace on this machine",
      load: async () => (await import("./commands/emulator.ts")).emulatorCommand,
    },
    {
      name: "completion",
      summary: "print a completion script for a shell",
      load: async () => (await import("./commands/completion.ts")).completionOf(COMMANDS),
    },
    {
      name: "version",
      summary: "print the version",
      load: async () => (await import("./commands/schema.ts")).versionCommand,
    },
  ]),
];
