// Every command with the summary that it has itself; its file is loaded only when it is used.

import type { Command, CommandGroup } from "./command/command.ts";

export interface Listed {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command | CommandGroup>;
}

const listed = (name: string, summary: string, load: () => Promise<Command | CommandGroup>): Listed => ({
  name,
  summary,
  load,
});

/** With the options of those that report themselves to machines. */
const watched = async (command: Command): Promise<Command> =>
  (await import("./output/run-signals.ts")).watchable(command);

export const COMMANDS: readonly Listed[] = [
  listed(
    "init",
    "write a first spec into this folder",
    async () => (await import("./commands/init.ts")).init,
  ),
  listed(
    "validate",
    "check the spec; needs no workspace and reads no secret",
    async () => (await import("./commands/validate.ts")).validate,
  ),
  listed("plan", "show what apply would change; writes nothing", async () =>
    watched((await import("./commands/plan.ts")).plan),
  ),
  listed("apply", "make the workspace as the spec says", async () =>
    watched((await import("./commands/apply.ts")).apply),
  ),
  listed(
    "show",
    "show a saved plan, without reading the workspace",
    async () => (await import("./commands/show.ts")).show,
  ),
  listed("drift", "show what changed outside since the last apply", async () =>
    watched((await import("./commands/drift.ts")).drift),
  ),
  listed("destroy", "delete everything that the spec manages", async () =>
    watched((await import("./commands/apply.ts")).destroy),
  ),
  listed(
    "history",
    "show who applied what, and when",
    async () => (await import("./commands/history.ts")).history,
  ),
  listed(
    "state",
    "look at what is recorded, mend it, move it; touches nothing live",
    async () => (await import("./commands/state/state.ts")).state,
  ),
  listed(
    "export",
    "write the live workspace as a spec; changes nothing",
    async () => (await import("./commands/export.ts")).exportCommand,
  ),
  listed(
    "import",
    "take one live object over under an address of the spec",
    async () => (await import("./commands/import.ts")).importCommand,
  ),
  listed(
    "run",
    "start a job; with --wait, follow it to its result",
    async () => (await import("./commands/jobs/run.ts")).run,
  ),
  listed(
    "runs",
    "look at the runs of jobs, and act on them",
    async () => (await import("./commands/jobs/runs.ts")).runs,
  ),
  listed(
    "clusters",
    "operate clusters that the spec manages, by their addresses",
    async () => (await import("./commands/clusters/clusters.ts")).clusters,
  ),
  listed(
    "api",
    "call one operation of the API as it is: no spec, no plan, no state",
    async () => (await import("./commands/api/api.ts")).api,
  ),
  listed(
    "graph",
    "show how resources depend on each other",
    async () => (await import("./commands/graph.ts")).graph,
  ),
  listed(
    "schema",
    "print the JSON Schema of a spec, or the API's description",
    async () => (await import("./commands/schema.ts")).schema,
  ),
  listed("explain", "explain a kind or a field", async () => (await import("./commands/explain.ts")).explain),
  listed(
    "emulator",
    "serve a workspace on this machine: the whole API, on loopback only",
    async () => (await import("./commands/emulator.ts")).emulator,
  ),
  listed(
    "completion",
    "print a completion script for a shell",
    async () => (await import("./commands/completion.ts")).completion,
  ),
  listed("version", "print the version", async () => (await import("./commands/schema.ts")).version),
];
