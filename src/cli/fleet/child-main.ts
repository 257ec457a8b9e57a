// The child process of a fleet: takes requests for runs from its worker, and ends when the worker is silent or memory is short.

import { writeFileSync } from "node:fs";
import { type MessageFromChild, type MessageToChild, SILENCE_LIMIT_MS } from "./child-messages.ts";
import { runRequest } from "./child-run.ts";

/** Serves the worker at the other end of the channel until the channel closes. */
export function runChild(): void {
  const send = (message: MessageFromChild): void => {
    process.send?.(message);
  };
  endFirstWithoutMemory();
  // A child outlives neither its worker nor a worker that is frozen: another one may run the workspace then.
  const heard = afterSilence(SILENCE_LIMIT_MS, () => process.exit(1));
  process.on("disconnect", () => process.exit(1));
  // A terminal sends Ctrl-C to the children too; the worker decides how they end.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => undefined);
  const stops = new Map<number, AbortController>();
  process.on("message", (message: MessageToChild) => {
    heard();
    if (message.type === "stop") stops.get(message.run)?.abort();
    if (message.type !== "run") return;
    const { run, request } = message;
    const stop = new AbortController();
    stops.set(run, stop);
    // A process that computes reads its messages late.
    const lateMs = Math.max(0, Date.now() - message.sentAtMs);
    const begun = performance.eventLoopUtilization();
    void runRequest(request, stop.signal, (part) => send({ run, ...part })).then((answer) => {
      stops.delete(run);
      send({ run, type: "answer", answer, busyMs: lateMs + performance.eventLoopUtilization(begun).active });
    });
  });
}

/**
 * Calls `end` after a time without a call of the returned function. A run that computed for that long has not read the messages
 * of its worker yet, so it reads them first.
 */
export function afterSilence(limitMs: number, end: () => void): () => void {
  let ending: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    ending = setImmediate(end);
  }, limitMs);
  return () => {
    clearImmediate(ending);
    timer.refresh();
  };
}

/** Where memory runs out, the system ends a child rather than the worker. */
function endFirstWithoutMemory(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Other systems have no such file.
  }
}
