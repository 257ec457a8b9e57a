// Every command with the summary that its own file has, too; the file is loaded only when the command is used.

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
      summary: "write a first spec into this folder",
      load: async () => (await import("./commands/init.ts")).initCommand,
    },
    {
      name: "validate",
      summary: "check the spec; needs no workspace and reads no secret",
      load: async () => (await import("./commands/validate.ts")).validateCommand,
    },
    {
      name: "plan",
      summary: "show what apply would change; writes nothing",
      load: async () => watched((await import("./commands/plan.ts")).planCommand),
    },
    {
      name: "apply",
      summary: "make the workspace as the spec says",
      load: async () => watched((await import("./commands/apply.ts")).applyCommand),
    },
    {
      name: "show",
      summary: "show a saved plan, without reading the workspace",
      load: async () => (await import("./commands/show.ts")).showCommand,
    },
    {
      name: "destroy",
      summary: "delete everything that the spec manages",
      load: async () => watched((await import("./commands/apply.ts")).destroyCommand),
    },
  ]),
  ...group("Drift and state", [
    {
      name: "drift",
      summary: "show what changed outside since the last apply",
      load: async () => watched((await import("./commands/drift.ts")).driftCommand),
    },
    {
      name: "history",
      summary: "show who applied what, and when",
      load: async () => (await import("./commands/history.ts")).historyCommand,
    },
    {
      name: "state",
      summary: "look at what is recorded, mend it, move it; touches nothing live",
      load: async () => (await import("./commands/state/state.ts")).stateCommand,
    },
  ]),
  ...group("Adopt", [
    {
      name: "export",
      summary: "write the live workspace as a spec; changes nothing",
      load: async () => (await import("./commands/export.ts")).exportCommand,
    },
    {
      name: "import",
      summary: "take one live object over under an address of the spec",
      load: async () => (await import("./commands/import.ts")).importCommand,
    },
  ]),
  ...group("Operate", [
    {
      name: "run",
      summary: "start a job; with --wait, follow it to its result",
      load: async () => (await import("./commands/jobs/run.ts")).runCommand,
    },
    {
      name: "runs",
      summary: "look at the runs of jobs, and act on them",
      load: async () => (await import("./commands/jobs/runs.ts")).runsCommand,
    },
    {
      name: "clusters",
      summary: "operate clusters that the spec manages, by their addresses",
      load: async () => (await import("./commands/clusters/clusters.ts")).clustersCommand,
    },
    {
      name: "api",
      summary: "call one operation of the API as it is: no spec, no plan, no state",
      load: async () => (await import("./commands/api/api.ts")).apiCommand,
    },
  ]),
  ...group("Learn and set up", [
    {
      name: "explain",
      summary: "explain a kind or a field",
      load: async () => (await import("./commands/explain.ts")).explainCommand,
    },
    {
      name: "graph",
      summary: "show how resources depend on each other",
      load: async () => (await import("./commands/graph.ts")).graphCommand,
    },
    {
      name: "schema",
      summary: "print the JSON Schema of a spec, or the API's description",
      load: async () => (await import("./commands/schema.ts")).schemaCommand,
    },
    {
      name: "emulator",
      summary: "serve a workspace on this machine: the whole API, on loopback only",
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
