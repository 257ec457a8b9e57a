// The dead letters of pg-boss: jobs that failed at every attempt, why, and how they start again.

import type { JobWithMetadata, PgBoss } from "pg-boss";
import { defined } from "../../core/json.ts";
import { LONGEST_TIMEOUT_MS } from "../model/fleet.ts";
import { diagnosticsIn, RESULT_STATUSES } from "../model/result.ts";
import {
  DEAD_LETTERS,
  type DeadJob,
  deferralsOf,
  type JobQueue,
  jobOf,
  jobOptions,
  PRIORITIES,
  QUEUE,
  UNREADABLE,
} from "./job-queue.ts";
import { continueWaves, repeatJob } from "./waves.ts";

const MOST_LETTERS = 100_000;

export function deadLetters(
  boss: PgBoss,
  { program, schema }: { readonly program: string; readonly schema: string },
): Pick<JobQueue, "dead" | "retryDead" | "removeDead"> {
  return {
    async dead() {
      const letters = await boss.findJobs(DEAD_LETTERS, { queued: true, limit: MOST_LETTERS });
      return letters.map(deadJob);
    },
    /**
     * A job of a wave starts again under its ID, so that its wave waits for it. Others get a new job. Not `redrive`, which removes the
     * dead letter of a workspace that has a job, and forgets how long a job may run.
     */
    async retryDead(dead) {
      const repeated: DeadJob[] = [];
      for (const job of dead)
        if (job.rollout !== undefined && (await repeatJob(boss, job))) repeated.push(job);
      await continueWaves(boss, schema, repeated);
      const fresh = dead.filter((job) => job.workspace !== UNREADABLE && !repeated.includes(job));
      const jobs = fresh.map(({ workspace, command }) => ({
        id: crypto.randomUUID(),
        data: { workspace, command, version: program },
        ...jobOptions({ name: workspace, timeoutMs: LONGEST_TIMEOUT_MS }, PRIORITIES[command]),
      }));
      const inserted = new Set(jobs.length === 0 ? [] : await boss.insert(QUEUE, jobs, { returnId: true }));
      const moved = [...repeated, ...fresh.filter((_, at) => inserted.has(jobs[at]?.id ?? ""))].map(
        ({ id }) => id,
      );
      if (moved.length > 0) await boss.deleteJob(DEAD_LETTERS, moved);
      return moved.length;
    },
    async removeDead(ids) {
      // pg-boss refuses an empty list.
      if (ids.length > 0) await boss.deleteJob(DEAD_LETTERS, [...ids]);
    },
  };
}

function deadJob(letter: JobWithMetadata<unknown>): DeadJob {
  const { id, data, createdOn, sourceId, sourceOutput, sourceRetryCount } = letter;
  return {
    ...(jobOf(data) ?? { workspace: UNREADABLE, command: "drift" }),
    id,
    ...defined({ source: sourceId ?? undefined }),
    failedAt: createdOn.getTime(),
    attempts: (sourceRetryCount ?? 0) + 1 - deferralsOf(data),
    failure: failureOf(sourceOutput),
  };
}

type UnreadFailure = { readonly [Field in keyof DeadJob["failure"]]?: unknown };

/** pg-boss wraps what it writes itself, such as a lost heartbeat, in `value`. */
function failureOf(output: object | null): DeadJob["failure"] {
  const wrapped = (output ?? {}) as { readonly value?: object };
  const { status, worker, diagnostics, message } = { ...wrapped, ...wrapped.value } as UnreadFailure;
  return {
    status: RESULT_STATUSES.find((name) => name === status),
    ...(typeof worker === "string" ? { worker } : {}),
    diagnostics: diagnosticsIn(diagnostics),
    ...(typeof message === "string" ? { message: queueMessage(message) } : {}),
  };
}

/** What a message of pg-boss means to the user of a fleet. It does not name the worker. */
function queueMessage(message: string): string {
  const [, what] = QUEUE_MESSAGES.find(([pattern]) => pattern.test(message)) ?? [];
  if (what === undefined) return message;
  return `${what}; check the logs of the workers, then run \`workspace fleet dead-letters --retry\``;
}

const QUEUE_MESSAGES = [
  [/^job heartbeat timeout$/, "the worker stopped or lost the database before the run ended"],
  [/^(job timed out$|handler execution exceeded )/, "the run did not stop at its time limit"],
] as const;
