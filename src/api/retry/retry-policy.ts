// Decides whether and when a request to the workspace is sent again; token requests are decided in `auth/token-request.ts`. Pure: nothing here waits.

import type { ApiAnswer, MalformedAnswer } from "../http/response.ts";
import type { TransportFailure } from "../http/transport-failure.ts";

/** An attempt without a valid, successful answer. */
export type FailedAttempt =
  | Exclude<ApiAnswer, { end: "ok" }>
  | { readonly end: "broken"; readonly broken: TransportFailure };

export interface RetrySituation {
  readonly bad: FailedAttempt;
  /** Number of attempts, including this one. */
  readonly attempts: number;
  /** Milliseconds since the first attempt began. */
  readonly elapsedMs: number;
  /** A read, or a write that may be sent again although it may have had its effect. */
  readonly repeatable: boolean;
  /** Whether contract B 4.2 rule 11 applies. */
  readonly jobs: boolean;
  /** Whether this host has ever answered; if not, its address may be wrong, and nothing is retried. */
  readonly contacted: boolean;
  /** Between 0 and 1. */
  readonly random: number;
}

/** `holdMs`: how long other requests to this endpoint wait. */
type RetryDecision = { readonly waitMs: number; readonly holdMs?: number } | "give up";

const MINUTE = 60_000;
/** For jobs endpoints (contract B 4.2 rule 11). */
const JOBS_WINDOW = 10 * MINUTE;
const JOBS_INTERVAL = 30_000;
/** A longer Retry-After is shortened to this. */
const LONGEST_RETRY_AFTER = 5 * MINUTE;
const THROTTLED_WINDOW = 10 * MINUTE;
const WINDOW = 2 * MINUTE;
const FIRST_CONTACT_WINDOW = 3_000;
const GARBLED_ATTEMPTS = 4;
/** What another attempt would find, too. */
const LASTING: ReadonlySet<MalformedAnswer["what"]> = new Set(["HTML", "nested too deeply", "compressed"]);
const BASE = 500;
const LONGEST_BACK_OFF = 30_000;

export function decideRetry(situation: RetrySituation): RetryDecision {
  const { bad } = situation;
  if (mayHaveActed(bad) && !situation.repeatable) return "give up";
  switch (bad.end) {
    case "error":
      return afterError(bad.status, bad.retryAfterMs, situation);
    case "broken":
      return afterBreak(bad.broken, situation);
    case "garbled":
      return LASTING.has(bad.what) || situation.attempts >= GARBLED_ATTEMPTS
        ? "give up"
        : within(WINDOW, backOff(situation), situation);
    case "redirect":
      return "give up";
    default:
      return bad satisfies never;
  }
}

/** False only if the answer proves that the request had no effect; a 503 proves it only with the code of the service. */
export function mayHaveActed(bad: FailedAttempt): boolean {
  switch (bad.end) {
    case "error":
      if (bad.status < 500 || bad.status === 501) return false;
      return !(bad.status === 503 && bad.code === "TEMPORARILY_UNAVAILABLE");
    case "broken":
      return bad.broken.sent;
    case "redirect":
      return bad.status === 303;
    case "garbled":
      return true;
    default:
      return bad satisfies never;
  }
}

function afterError(
  status: number,
  retryAfter: number | undefined,
  situation: RetrySituation,
): RetryDecision {
  const asked = Math.min(retryAfter ?? 0, LONGEST_RETRY_AFTER);
  // At most a tenth longer than requested, so that many requests are not retried at the same instant.
  const wait =
    retryAfter === undefined ? backOff(situation) : Math.round(asked * (1 + situation.random / 10));
  if (status === 429) {
    const next = within(THROTTLED_WINDOW, Math.max(wait, BASE / 2), situation);
    // Without the random part: the maximum over many requests would always be a tenth longer than requested.
    const holdMs = Math.max(retryAfter === undefined ? wait : asked, BASE / 2);
    return next === "give up" ? next : { ...next, holdMs };
  }
  if (status < 500 || status === 501) return "give up";
  if (situation.jobs) return within(JOBS_WINDOW, Math.max(wait, JOBS_INTERVAL), situation);
  // A Retry-After of zero, such as a date in the past, must not lead to a loop without pauses.
  return within(WINDOW, asked < BASE ? backOff(situation) : wait, situation);
}

function afterBreak(broken: TransportFailure, situation: RetrySituation): RetryDecision {
  switch (broken.why) {
    case "no-files":
    case "untrusted":
    case "invalid":
    case "protocol":
    case "too-large":
      return "give up";
    case "unknown-host":
      return situation.contacted ? within(WINDOW, backOff(situation), situation) : "give up";
    case "refused":
    case "proxy":
      return within(situation.contacted ? WINDOW : FIRST_CONTACT_WINDOW, backOff(situation), situation);
    case "timeout":
    case "lost":
      return within(WINDOW, backOff(situation), situation);
    default:
      return broken.why satisfies never;
  }
}

function within(windowMs: number, waitMs: number, { elapsedMs }: RetrySituation): RetryDecision {
  return elapsedMs + waitMs <= windowMs ? { waitMs } : "give up";
}

/** Doubles with each attempt, with a random factor from one half to one. */
function backOff({ attempts, random }: RetrySituation): number {
  const whole = Math.min(BASE * 2 ** (attempts - 1), LONGEST_BACK_OFF);
  return Math.round(whole / 2 + (whole / 2) * random);
}
