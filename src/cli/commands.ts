// Every command with its title. A command's file is loaded only when the command is used.

import type { Command, CommandEntry, CommandGroup, Untitled } from "./command/command.ts";

type Entry = Omit<CommandEntry, "group">;
type Exporting<Name extends string, C> = () => Promise<Readonly<Record<`${Name}Command`, C>>>;

const group = (heading: string, entries: readonly Entry[]): readonly CommandEntry[] =>
  entries.map((entry) => ({ ...entry, group: `${heading}:` }));

/** The file of the command `plan` exports `planCommand`. */
const command = <N extends string>(
  name: N,
  summary: string,
  file: Exporting<N, Untitled<Command> | Untitled<CommandGroup>>,
): Entry => ({
  name,
  summary,
  load: async () => ({ name, summary, ...(await file())[`${name}Command`] }),
});

/** With the options of commands that report themselves to machines. */
const watched = <N extends string>(
  name: N,
  summary: string,
  file: Exporting<N, Untitled<Command>>,
): Entry => ({
  name,
  summary,
  load: async () => {
    const { watchable } = await import("./output/run-signals.ts");
    return watchable({ name, summary, ...(await file())[`${name}Command`] });
  },
});

export const COMMANDS: readonly CommandEntry[] = [
  ...group("Plan and apply", [
    command("init", "create a starter spec in this folder", () => import("./commands/init.ts")),
    command("validate", "check the spec without a workspace", () => import("./commands/validate.ts")),
    command("test", "run the tests of a spec", () => import("./commands/authoring/test.ts")),
    watched("plan", "show the changes that apply would make", () => import("./commands/plan.ts")),
    watched("apply", "apply the spec or a saved plan", () => import("./commands/apply.ts")),
    command("show", "show a saved plan without reading the workspace", () => import("./commands/plan.ts")),
    watched("destroy", "delete all managed resources", () => import("./commands/apply.ts")),
  ]),
  ...group("Drift and state", [
    watched("drift", "show drift since the last apply", () => import("./commands/drift.ts")),
    command(
      "access",
      "show what a principal can do, or who can use an object",
      () => import("./commands/access.ts"),
    ),
    command("history", "show who applied what and when", () => import("./commands/history.ts")),
    command("state", "inspect, repair, and move the state", () => import("./commands/state.ts")),
  ]),
  ...group("Fleet", [
    command("fleet", "run a command on many workspaces", () => import("./commands/fleet/fleet.ts")),
  ]),
  ...group("Adopt", [
    command("export", "write the workspace as a spec", () => import("./commands/export.ts")),
    command("convert", "write a Terraform state as a spec", () => import("./commands/convert.ts")),
    command("import", "import an existing object into the state", () => import("./commands/import.ts")),
  ]),
  ...group("Write specs", [
    command("fmt", "format the files of the spec", () => import("./commands/authoring/fmt.ts")),
    command("console", "evaluate expressions of the spec", () => import("./commands/authoring/console.ts")),
    command("render", "print the resolved spec of a target", () => import("./commands/authoring/render.ts")),
    command(
      "lsp",
      "serve editors with the language server protocol",
      () => import("./commands/authoring/lsp.ts"),
    ),
    command(
      "watch",
      "validate and plan again when files change",
      () => import("./commands/authoring/watch.ts"),
    ),
  ]),
  ...group("Operate", [
    command("run", "start a job run", () => import("./commands/runs.ts")),
    command("runs", "inspect and manage job runs", () => import("./commands/runs.ts")),
    command(
      "clusters",
      "start, stop, resize, and inspect managed clusters",
      () => import("./commands/clusters.ts"),
    ),
    command("api", "call an API operation directly", () => import("./commands/api.ts")),
  ]),
  ...group("Learn and set up", [
    command("login", "check a sign-in and save it as a profile", () => import("./commands/sign-in.ts")),
    command("whoami", "show the user and the source of the sign-in", () => import("./commands/sign-in.ts")),
    command(
      "explain",
      "describe a kind, a field, or the plan for a resource",
      () => import("./commands/explain.ts"),
    ),
    command(
      "graph",
      "show the dependencies between resources",
      () => import("./commands/authoring/graph.ts"),
    ),
    command(
      "schema",
      "print a schema: spec, tests, JSON outputs, or API",
      () => import("./commands/schema.ts"),
    ),
    command("emulator", "serve a test workspace on this machine", () => import("./commands/emulator.ts")),
    command("completion", "print a completion script for a shell", async () => {
      const { completionOf } = await import("./commands/completion.ts");
      return { completionCommand: completionOf(COMMANDS) };
    }),
    command("version", "print the version", () => import("./commands/version.ts")),
  ]),
];
