// `workspace emulator`: serves a workspace on loopback until a signal ends it (design 9).

import { resolve } from "node:path";
import { CLOUDS, DIALECTS, dialectOf } from "../../config/dialect.ts";
import { fromEnv } from "../../config/environment.ts";
import { errorCode, type Failure, failureOf, thrownText } from "../../core/diagnostic.ts";
import { type ConsoleContext, defineCommand } from "../command/command.ts";
import { integerOption, optionalChoiceOption, textOption } from "../command/option.ts";

const MEMORY = ":memory:";

export const emulatorCommand = defineCommand({
  options: {
    port: integerOption("--port <number>", "port; 0 selects a free port (default: 0)", 0, 65_535),
    data: textOption("--data <folder>", "folder of the workspace data, or `:memory:` (default: :memory:)"),
    token: textOption(
      "--token <token>",
      "token of the administrator (default: WORKSPACE_TOKEN or a random token)",
    ),
    dialect: optionalChoiceOption(
      "--dialect <name>",
      "dialect of the API (default: WORKSPACE_DIALECT, else contract)",
      DIALECTS,
    ),
    cloud: optionalChoiceOption(
      "--cloud <name>",
      "cloud of the databricks dialect (default: WORKSPACE_CLOUD, else azure)",
      CLOUDS,
    ),
    admin: textOption("--admin <user>", "user name of the administrator (default: admin@example.com)"),
  },
  notes:
    "The command prints its URL to stdout when it is ready, and a random token to stderr. Every request needs the token, including requests to /__emulator. The server listens on the loopback address and refuses requests from web pages.",
  async run(context, options) {
    const { port = 0, admin } = options;
    const choice = dialectOf(context, options);
    const { startEmulator } = await import("../../emulator/server.ts");
    const token = options.token ?? fromEnv(context, "WORKSPACE_TOKEN") ?? newToken(context);
    const dataDir =
      options.data === undefined || options.data === MEMORY ? MEMORY : resolve(context.cwd, options.data);
    const configuration = { port, dataDir, token, admin, ...choice };
    const server = await startEmulator(configuration).catch((problem) => {
      throw cannotStart(problem, options.port);
    });
    context.stdout.write(`${server.url}\n`);
    return context.signals.during(async (signal) => {
      await new Promise<void>((stop) => signal.addEventListener("abort", () => stop()));
      await server.close();
    }, "");
  },
});

function newToken(context: ConsoleContext): string {
  const token = `wat${crypto.randomUUID().replaceAll("-", "")}`;
  context.stderr.write(`token: ${token}\n`);
  return token;
}

function cannotStart(problem: unknown, port: number | undefined): Failure {
  const isInUse = errorCode(problem) === "EADDRINUSE";
  return failureOf("CLI_USAGE", isInUse ? `port ${port} is in use` : "the emulator cannot start", {
    cause: thrownText(problem),
    hint: isInUse
      ? "choose another --port, or 0 for any free one"
      : "check the port and the folder of the data, or choose others with --port and --data",
  });
}
