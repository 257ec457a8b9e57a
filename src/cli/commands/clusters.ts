// `workspace clusters …`: operates clusters that the spec manages, by their addresses.

import { error, Failure } from "../../core/diagnostic.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { printable, printableJson } from "../../report/printable.ts";
import { type Command, type CommandGroup, defineCommand } from "../command.ts";
import { type Connection, sleep } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { choice, flag, whole } from "../option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";
import { pages } from "../pages.ts";
import { withRecorded } from "../recorded.ts";

const WHERE = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  ...HOST_OPTIONS,
};
const CLUSTER = [{ name: "<cluster>", description: "address of a cluster, such as clusters.adhoc" }];
const WAIT = { wait: flag("--wait", "wait until it is done") };

/** Longer than a cluster takes to come up where machines are scarce. */
const DEADLINE_MS = 20 * 60_000;
const POLL_MS = 1_000;

function operating(
  name: string,
  summary: string,
  operation: "clusters/start" | "clusters/restart" | "clusters/delete",
  until: string,
): Command {
  return defineCommand({
    name,
    summary,
    options: { ...WHERE, ...WAIT },
    args: CLUSTER,
    run: (context, options, [address = ""]) =>
      withRecorded(context, options, "clusters", address, async ({ connection, id }) => {
        await connection.writer.write(operation, { cluster_id: id });
        return ended(context, connection, id, options.wait ? until : undefined);
      }),
  });
}

const resize = defineCommand({
  name: "resize",
  summary: "change the number of workers; the next apply takes it back unless the spec says the same",
  options: {
    ...WHERE,
    ...WAIT,
    workers: whole("--workers <number>", "a fixed number of workers", 0, 100_000),
    minWorkers: whole("--min-workers <number>", "the fewest workers", 0, 100_000),
    maxWorkers: whole("--max-workers <number>", "the most workers", 1, 100_000),
  },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    withRecorded(context, options, "clusters", address, async ({ connection, id }) => {
      await connection.writer.write("clusters/resize", { cluster_id: id, ...sizeOf(options) });
      return ended(context, connection, id, options.wait ? "RUNNING" : undefined);
    }),
});

function sizeOf({
  workers,
  minWorkers,
  maxWorkers,
}: {
  readonly workers: number | undefined;
  readonly minWorkers: number | undefined;
  readonly maxWorkers: number | undefined;
}): JsonObject {
  if (workers !== undefined && minWorkers === undefined && maxWorkers === undefined)
    return { num_workers: workers };
  if (
    workers === undefined &&
    minWorkers !== undefined &&
    maxWorkers !== undefined &&
    minWorkers < maxWorkers
  )
    return { autoscale: { min_workers: minWorkers, max_workers: maxWorkers } };
  throw new Failure(
    error("CLI_USAGE", "the size is not clear", {
      hint: "give --workers, or --min-workers and a larger --max-workers",
    }),
  );
}

const events = defineCommand({
  name: "events",
  summary: "show what happened to a cluster, the newest first",
  options: {
    ...WHERE,
    limit: whole("--limit <number>", "so many at most (default: 50)", 1, 100_000),
    output: choice("-o, --output <form>", "the form of the output", ["text", "json"]),
  },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    withRecorded(context, options, "clusters", address, async ({ connection, id }) => {
      const found = await newestEvents(connection, id, options.limit ?? 50);
      if (options.output === "json") context.stdout.write(`${printableJson(found, 2)}\n`);
      else for (const one of found) context.stdout.write(`${eventLine(one)}\n`);
      return EXIT.ok;
    }),
});

/** The service gives at most 500 at once (part B, events). */
async function newestEvents(
  connection: Connection,
  id: string,
  most: number,
): Promise<readonly JsonObject[]> {
  const read = (page: JsonObject) => connection.reader.read("clusters/events", page);
  const input = { cluster_id: id, order: "DESC", limit: Math.min(most, 500) };
  const answer = most <= 500 ? await read(input) : await pages("clusters/events", input, read);
  return (Array.isArray(answer.events) ? (answer.events as readonly JsonObject[]) : []).slice(0, most);
}

function eventLine(one: JsonObject): string {
  const time =
    typeof one.timestamp === "number"
      ? new Date(one.timestamp).toISOString().replace("T", " ").slice(0, 19)
      : "";
  const { user, reason, current_num_workers: now, target_num_workers: target } = objectIn(one.details);
  const words = [
    typeof user === "string" && user !== "" ? `by ${user}` : "",
    now === undefined ? "" : `workers ${now}${target === undefined || target === now ? "" : ` of ${target}`}`,
    typeof objectIn(reason).code === "string" ? String(objectIn(reason).code) : "",
  ];
  return printable(
    `${time}  ${String(one.type).padEnd(22)} ${words.filter((word) => word !== "").join(", ")}`.trimEnd(),
  );
}

async function ended(
  context: Context,
  connection: Connection,
  id: string,
  until: string | undefined,
): Promise<number> {
  const state = await (until === undefined ? stateOf(connection, id) : reached(connection, id, until));
  context.stdout.write(`${state}\n`);
  return until === undefined || state === until ? EXIT.ok : EXIT.error;
}

async function stateOf(connection: Connection, id: string): Promise<string> {
  return String((await connection.reader.read("clusters/get", { cluster_id: id })).state);
}

/** The state once it is the awaited one, one that it cannot come from, or the last one before the deadline. */
async function reached(connection: Connection, id: string, until: string): Promise<string> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const state = await stateOf(connection, id);
    if (state === until || state === "ERROR" || performance.now() > deadline) return state;
    if (until === "RUNNING" && (state === "TERMINATED" || state === "TERMINATING")) return state;
    await sleep(POLL_MS);
  }
}

function objectIn(value: Json | undefined): JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : {};
}

export const clusters: CommandGroup = {
  name: "clusters",
  summary: "Operates clusters that the spec manages.",
  commands: [
    operating("start", "start a terminated cluster", "clusters/start", "RUNNING"),
    operating("restart", "restart a running cluster", "clusters/restart", "RUNNING"),
    resize,
    operating("terminate", "terminate a cluster; its configuration stays", "clusters/delete", "TERMINATED"),
    events,
  ],
};
