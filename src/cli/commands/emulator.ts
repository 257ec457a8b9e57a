// `workspace emulator`: serves a workspace on loopback until a signal ends it (DESIGN 9).

import { resolve } from "node:path";
import { error, Failure } from "../../core/diagnostic.ts";
import { defineCommand } from "../command.ts";
import { fromEnv } from "../config.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { text, whole } from "../option.ts";

const MEMORY = ":memory:";

export const emulator = defineCommand({
  name: "emulator",
  summary: "serve a workspace on this machine: the whole API, on loopback only",
  options: {
    port: whole("--port <number>", "port to listen on; 0 takes a free one (default: 0)", 0, 65_535),
    data: text("--data <folder>", "where the workspace is kept, or `:memory:` (default: :memory:)"),
    token: text("--token <token>", "token of the administrator (default: WORKSPACE_TOKEN, else a new one)"),
    admin: text("--admin <user>", "user name of the administrator (default: admin@example.com)"),
  },
  notes: "Prints one line with its URL when it is ready. A token that had to be made is printed to stderr.",
  async run(context, options) {
    const { startEmulator } = await import("../../emulator/server.ts");
    const token = options.token ?? fromEnv(context, "WORKSPACE_TOKEN") ?? newToken(context);
    const dataDir =
      options.data === undefined || options.data === MEMORY ? MEMORY : resolve(context.cwd, options.data);
    const admin = options.admin === undefined ? {} : { admin: options.admin };
    const server = await startEmulator({ port: options.port ?? 0, dataDir, token, ...admin }).catch(
      (problem) => {
        throw new Failure(cannotStart(problem, options.port));
      },
    );
    context.stdout.write(`${server.url}\n`);
    return context.signals.during(async (signal) => {
      await new Promise<void>((stop) => signal.addEventListener("abort", () => stop()));
      await server.close();
      return EXIT.ok;
    }, "");
  },
});

function newToken(context: Context): string {
  const token = `wat${crypto.randomUUID().replaceAll("-", "")}`;
  context.stderr.write(`token: ${token}\n`);
  return token;
}

function cannotStart(problem: unknown, port: number | undefined) {
  const cause = problem instanceof Error ? problem.message : String(problem);
  const taken = problem instanceof Error && "code" in problem && problem.code === "EADDRINUSE";
  return error("CLI_USAGE", taken ? `port ${port} is taken` : "the emulator cannot start", {
    cause,
    hint: taken ? "choose another --port, or 0 for any free one" : "see the cause",
  });
}
