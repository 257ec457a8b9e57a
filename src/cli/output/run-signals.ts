// Writes the metrics file and posts the webhook message at the end of a run, also after a failure.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fromEnv } from "../../config/environment.ts";
import { networkOf } from "../../config/network.ts";
import { symbolicLinkBelow, writeWholeFile } from "../../config/write-file.ts";
import { type Diagnostic, error, failureOf, thrownText } from "../../core/diagnostic.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import {
  hasNoNews,
  type RunOutcome,
  type RunResult,
  WEBHOOK_FORMATS,
  webhookBody,
} from "../../report/metrics/run-result.ts";
import type { RunFigures } from "../../workflow/invocation/invocation.ts";
import type { Command, ConsoleContext } from "../command/command.ts";
import { EXIT, exitOf } from "../command/exit-codes.ts";
import { optionalChoiceOption, outOption, textOption, type ValuesOf } from "../command/option.ts";
import { inGroup } from "../command/shared-options.ts";
import { printDiagnostics } from "./diagnostics.ts";
import { type RunFiles, WrittenFiles } from "./reports.ts";
import type { RunCollector } from "./run-collector.ts";
import { runOrigin } from "./run-origin.ts";

const WATCH_OPTIONS = inGroup("Output", {
  metrics: outOption("--metrics <file>", "write metrics of this run for Prometheus", "is refused"),
  webhook: textOption("--webhook <url>", "post the result of this run; signed with WORKSPACE_WEBHOOK_SECRET"),
  webhookFormat: optionalChoiceOption(
    "--webhook-format <format>",
    "format of the webhook message",
    WEBHOOK_FORMATS,
  ),
  webhookOn: optionalChoiceOption(
    "--webhook-on <runs>",
    "which runs post: new (default), only those with news; always, all of them",
    ["new", "always"],
  ),
});

/** The command with these options. Its run gets an observer if metrics or a webhook are requested. */
export function watchable(command: Command): Command {
  return {
    ...command,
    options: { ...command.options, ...WATCH_OPTIONS },
    run: (context, options, args) =>
      watched(context, options as unknown as WatchOptions, command.name, args[0], (figures, files) =>
        command.run({ ...context, ...context.with({ figures }) }, { ...options, files }, args),
      ),
  };
}

type WatchOptions = ValuesOf<typeof WATCH_OPTIONS> & RunFiles;

async function watched(
  context: ConsoleContext,
  options: WatchOptions,
  command: string,
  planfile: string | undefined,
  work: (observer?: RunFigures, files?: WrittenFiles) => Promise<number>,
): Promise<number> {
  if (options.metrics === undefined && options.webhook === undefined) {
    if (options.webhookFormat !== undefined)
      throw failureOf("CLI_USAGE", "--webhook-format requires --webhook");
    if (options.webhookOn !== undefined) throw failureOf("CLI_USAGE", "--webhook-on requires --webhook");
    return work();
  }
  const files = new WrittenFiles(context, { ...options, planfile });
  const post = await webhookOf(context, options);
  const { RunCollector: Collector } = await import("./run-collector.ts");
  let delivered: Promise<Undelivered> | undefined;
  const observer = new Collector(command, async (code) => {
    delivered = deliver({ code, errors: [] });
    const { unwritten, unposted } = await delivered;
    return unwritten.length === 0 && unposted.length === 0;
  });
  const deliver = async (end: RunEnd): Promise<Undelivered> => {
    const facts = await factsOf(context, command, observer, end);
    const { metrics } = options;
    const unwritten =
      metrics === undefined || files.refused ? [] : await writeMetrics(context, metrics, facts);
    return { unwritten, unposted: (await post?.(facts)) ?? [] };
  };
  const ended = await work(observer, files).then(
    (code) => ({ code, errors: [] as readonly Diagnostic[], problem: undefined }),
    (problem: unknown) => {
      const errors = diagnosticsOf(problem).filter((diagnostic) => diagnostic.severity === "error");
      return { code: exitOf(errors), errors, problem };
    },
  );
  const isDelivered = delivered !== undefined && ended.problem === undefined;
  const { unwritten, unposted } = await ((isDelivered ? delivered : undefined) ?? deliver(ended));
  printDiagnostics(context, [...unwritten, ...unposted]);
  if (ended.problem !== undefined) throw ended.problem;
  return unwritten.length > 0 && (ended.code === EXIT.ok || ended.code === EXIT.changes)
    ? EXIT.error
    : ended.code;
}

interface RunEnd {
  readonly code: number;
  readonly errors: readonly Diagnostic[];
}

/** What went wrong with the metrics file, and with the webhook. */
interface Undelivered {
  readonly unwritten: readonly Diagnostic[];
  readonly unposted: readonly Diagnostic[];
}

async function factsOf(
  context: ConsoleContext,
  command: string,
  observer: RunCollector,
  { code, errors }: RunEnd,
): Promise<RunResult> {
  const { commit, runUrl, toolVersion, madeAt, target } = await runOrigin(
    context.run.ofSavedPlan ?? context,
    !context.untrusted,
  );
  return {
    command,
    toolVersion,
    target: target ?? "default",
    commit,
    runUrl,
    endedAt: madeAt,
    outcome: context.signals.last === undefined ? (OUTCOMES[code] ?? "failed") : "interrupted",
    exitCode: context.signals.exitCode ?? code,
    errors: code === EXIT.ok || code === EXIT.changes ? [] : codesOf([...errors, ...observer.errors]),
    ...observer.facts,
  };
}

const codesOf = (errors: readonly Diagnostic[]) => [...new Set(errors.map(({ code }) => code))];

const OUTCOMES: Readonly<Record<number, RunOutcome>> = {
  [EXIT.ok]: "success",
  [EXIT.changes]: "differences",
  [EXIT.refused]: "refused",
  [EXIT.stale]: "stale",
  [EXIT.locked]: "locked",
};

async function writeMetrics(
  context: ConsoleContext,
  file: string,
  facts: RunResult,
): Promise<readonly Diagnostic[]> {
  const path = resolve(context.cwd, file);
  const link = context.untrusted ? symbolicLinkBelow(context.cwd, path) : undefined;
  if (link !== undefined)
    return [error("CLI_FILE", `the metrics cannot be written to ${file}: ${link} is a symbolic link`)];
  try {
    const { prometheusText } = await import("../../report/metrics/prometheus.ts");
    writeWholeFile(path, prometheusText(facts, previousText(path)), { over: true });
    return [];
  } catch (problem) {
    return [error("CLI_FILE", `the metrics cannot be written to ${file}`, { cause: thrownText(problem) })];
  }
}

/** A pipe or a device has no previous text, and reading it could block. */
function previousText(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

type Post = (facts: RunResult) => Promise<readonly Diagnostic[]>;

/** Invalid combinations are refused before the run begins. */
async function webhookOf(context: ConsoleContext, options: WatchOptions): Promise<Post | undefined> {
  const { webhook, webhookFormat: format = "json" } = options;
  if (webhook === undefined) return undefined;
  if (context.untrusted)
    throw failureOf("CLI_USAGE", "--untrusted and --webhook cannot be used together", {
      hint: "an untrusted spec must not reach other systems; send the message from a trusted run",
    });
  const { postWebhook, webhookUrl } = await import("./post-webhook.ts");
  const url = webhookUrl(webhook);
  const network = networkOf(context, context.caFile, url.origin);
  const secret = fromEnv(context, "WORKSPACE_WEBHOOK_SECRET");
  return async (facts) => {
    if (options.webhookOn !== "always" && hasNoNews(facts)) return [];
    const body = webhookBody(facts, format);
    return postWebhook({ url, body, network, secret });
  };
}
