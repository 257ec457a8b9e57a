// `workspace runs …`: the runs of jobs, looked at and acted on by their ids.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { error, Failure } from "../../core/diagnostic.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { colorsFor, wantsColor } from "../../report/color.ts";
import { printableJson } from "../../report/printable.ts";
import { outputText, runsText } from "../../report/run-text.ts";
import { type CommandGroup, defineCommand } from "../command.ts";
import { type Connection, withConnection } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { choice, flag, text, whole } from "../option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";
import { pages } from "../pages.ts";
import { numberId, withRecorded } from "../recorded.ts";

const WHERE = { file: SPEC_OPTIONS.file, ...HOST_OPTIONS };
const FORM = { output: choice("-o, --output <form>", "the form of the output", ["text", "json"]) };
const RUN = [{ name: "<run>", description: "id of a run" }];

const list = defineCommand({
  name: "list",
  summary: "list runs, the newest first",
  options: {
    ...WHERE,
    target: SPEC_OPTIONS.target,
    state: STATE_OPTIONS.state,
    ...FORM,
    active: flag("--active", "only runs that have not ended"),
    completed: flag("--completed", "only runs that have ended"),
    limit: whole("--limit <number>", "so many at most (default: 20)", 1, 100_000),
  },
  args: [{ name: "[job]", description: "only runs of this job: its address" }],
  async run(context, options, [job]) {
    if (options.active && options.completed)
      throw new Failure(error("CLI_USAGE", "--active and --completed exclude each other"));
    const filter = {
      ...(options.active ? { active_only: true } : {}),
      ...(options.completed ? { completed_only: true } : {}),
    };
    const most = options.limit ?? 20;
    const show = async (connection: Connection, jobId: JsonObject) => {
      const runs = await newest(connection, { ...filter, ...jobId }, most);
      if (options.output === "json") context.stdout.write(`${printableJson(runs, 2)}\n`);
      else
        context.stdout.write(runsText(runs, colorsFor(wantsColor(context.env, context.stdout.isTerminal))));
      return EXIT.ok;
    };
    if (job === undefined) return withConnection(context, options, (connection) => show(connection, {}));
    return withRecorded(context, options, "jobs", job, ({ connection, id }) =>
      show(connection, { job_id: numberId(id) }),
    );
  },
});

/** In one request where the service gives so many at once. */
async function newest(
  connection: Connection,
  input: JsonObject,
  most: number,
): Promise<readonly JsonObject[]> {
  const read = (page: JsonObject) => connection.reader.read("jobs/runs/list", page);
  const answer =
    most < 1000
      ? await read({ ...input, limit: most })
      : await pages("jobs/runs/list", { ...input, limit: 999 }, read);
  return objects(answer.runs).slice(0, most);
}

const get = defineCommand({
  name: "get",
  summary: "show one run as JSON",
  options: WHERE,
  args: RUN,
  run: (context, options, [run]) =>
    withConnection(context, options, async ({ reader }) => {
      context.stdout.write(
        `${printableJson(await reader.read("jobs/runs/get", { run_id: runId(run) }), 2)}\n`,
      );
      return EXIT.ok;
    }),
});

const output = defineCommand({
  name: "output",
  summary: "show what a run gave",
  options: { ...WHERE, ...FORM },
  args: RUN,
  run: (context, options, [run]) =>
    withConnection(context, options, async ({ reader }) => {
      const answer = await reader.read("jobs/runs/get-output", { run_id: runId(run) });
      context.stdout.write(options.output === "json" ? `${printableJson(answer, 2)}\n` : outputText(answer));
      return EXIT.ok;
    }),
});

const exported = defineCommand({
  name: "export",
  summary: "write the views of a notebook run as HTML files",
  options: {
    ...WHERE,
    views: choice("--views <which>", "which views", ["CODE", "DASHBOARDS", "ALL"]),
    dir: text("--dir <folder>", "where to write them (default: this folder)"),
  },
  args: RUN,
  run: (context, options, [run]) =>
    withConnection(context, options, async ({ reader }) => {
      const answer = await reader.read("jobs/runs/export", {
        run_id: runId(run),
        views_to_export: options.views,
      });
      const folder = resolve(context.cwd, options.dir ?? ".");
      mkdirSync(folder, { recursive: true });
      objects(answer.views).forEach((view, at) => {
        const path = join(folder, viewFile(run ?? "", view, at));
        writeFileSync(path, String(view.content ?? ""));
        context.stdout.write(`${path}\n`);
      });
      return EXIT.ok;
    }),
});

/** A file name that a view's own name cannot lead elsewhere. */
function viewFile(run: string, view: JsonObject, at: number): string {
  const name = String(view.name ?? "")
    .replace(/[^\w.-]+/g, "_")
    .replace(/^\.+/, "");
  return `run-${run}-${at + 1}${name === "" ? "" : `-${name}`}.html`;
}

const cancel = defineCommand({
  name: "cancel",
  summary: "cancel an active run",
  options: WHERE,
  args: RUN,
  run: (context, options, [run]) =>
    act(
      context,
      options,
      (connection) => connection.writer.write("jobs/runs/cancel", { run_id: runId(run) }),
      `Run ${run} is being canceled.\n`,
    ),
});

const remove = defineCommand({
  name: "delete",
  summary: "delete a run that has ended",
  options: WHERE,
  args: RUN,
  run: (context, options, [run]) =>
    act(
      context,
      options,
      (connection) => connection.writer.write("jobs/runs/delete", { run_id: runId(run) }),
      `Deleted run ${run}.\n`,
    ),
});

async function act(
  context: Context,
  options: Parameters<typeof withConnection>[1],
  work: (connection: Connection) => Promise<unknown>,
  words: string,
): Promise<number> {
  await withConnection(context, options, work);
  context.stdout.write(words);
  return EXIT.ok;
}

function runId(text: string | undefined): number | bigint {
  if (text !== undefined && /^\d{1,19}$/.test(text)) return numberId(text);
  throw new Failure(error("CLI_USAGE", `${text} is no id of a run`, { hint: "see: workspace runs list" }));
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

export const runs: CommandGroup = {
  name: "runs",
  summary: "Looks at the runs of jobs, and acts on them.",
  commands: [list, get, output, exported, cancel, remove],
};
