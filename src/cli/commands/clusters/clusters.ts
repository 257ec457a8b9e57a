// `workspace clusters …`: operates clusters that the spec manages, by their addresses; `events` lists what happened to one.

import { failureOf } from "../../../core/diagnostic.ts";
import { eventsText } from "../../../report/inspect/cluster-text.ts";
import { clusterEvents } from "../../../workflow/session/paging.ts";
import { withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import { type CommandGroup, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { choiceOption, flagOption, integerOption, textsOption } from "../../command/option.ts";
import { FORM_OPTION, RECORDED_OPTIONS } from "../../command/shared-options.ts";
import { colorsOf, printResult } from "../../output/diagnostics.ts";
import { CLUSTER } from "./cluster-options.ts";
import { resizeCommand } from "./resize.ts";
import { restartCommand, startCommand, terminateCommand } from "./start-stop.ts";

const eventsCommand = defineCommand({
  name: "events",
  summary: "list cluster events, newest first",
  options: {
    types: textsOption(
      "--types <names>",
      "limit to these event types, such as RUNNING,TERMINATING; repeatable",
    ),
    limit: integerOption("--limit <number>", "maximum number of events (default: 50)", 1, 1_000_000),
    all: flagOption("--all", "list all events"),
    order: choiceOption("--order <direction>", "order of the events", ["newest", "oldest"]),
    ...FORM_OPTION,
    ...RECORDED_OPTIONS,
  },
  args: CLUSTER,
  run(context, options, [address = ""]) {
    if (options.all && options.limit !== undefined)
      throw failureOf("CLI_USAGE", "--all and --limit cannot be used together");
    const most = options.all ? Number.POSITIVE_INFINITY : (options.limit ?? 50);
    const types = options.types.flatMap((one) => one.split(",")).map((one) => one.trim().toUpperCase());
    return withRecordedObject(context, options, "clusters", address, async ({ connection, id }) => {
      const request = {
        cluster_id: id,
        order: options.order === "oldest" ? "ASC" : "DESC",
        ...(types.length === 0 ? {} : { event_types: types }),
      };
      const { events: found } = await clusterEvents(connection.reader, request, most);
      const colors = colorsOf(context, context.stdout);
      printResult(context, options.output, found, () => eventsText(found, colors));
      return EXIT.ok;
    });
  },
});

export const clustersCommand: CommandGroup = {
  name: "clusters",
  summary: "start, stop, resize, and inspect managed clusters",
  commands: [startCommand, restartCommand, resizeCommand, terminateCommand, eventsCommand],
};
