// Sends one request with its retries, waits, and redirects, until an answer, a refusal, or an unknown outcome.

import type { JsonObject } from "../../core/json.ts";
import { OPERATIONS, type OperationFacts, type OperationName, repeatIsSafe } from "../contract/operations.ts";
import type { WriteInput } from "../contract/reader.ts";
import { type PreparedRequest, prepareRequest } from "../http/request-body.ts";
import type { HttpRequest } from "../http/transport.ts";
import { type AttemptEnd, attemptFailure, isUnauthenticated } from "./attempt-failure.ts";
import type { Attempt, HostConnection } from "./connection.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { ReadLimit } from "./read-limit.ts";
import { decideRetry, type FailedAttempt, mayHaveActed } from "./retry-policy.ts";

/** One finished attempt. Contains no input, no query, and no header. */
export interface RequestEvent {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly attempt: number;
  /** HTTP status; 0 if no complete answer came. Every success status is 200. */
  readonly status: number;
  readonly ms: number;
  /** How long until the next attempt; absent when this was the last. */
  readonly waitMs?: number;
}

export interface SendOptions {
  readonly connection: HostConnection;
  readonly rateLimit: RateLimit;
  readonly readLimit?: ReadLimit | undefined;
  readonly clock: () => number;
  readonly random: () => number;
  /** Returns early once `stopped`. */
  readonly pause: (ms: number) => Promise<void>;
  /** Whether waiting has been called off. */
  readonly stopped: () => boolean;
  readonly redact: (text: string, secrets: readonly Uint8Array[]) => string;
  readonly log: ((event: RequestEvent) => void) | undefined;
  /** The fix for a refused token. */
  readonly tokenHint: string | undefined;
}

/** `permit` is asked before each attempt, and throws to prevent it. `facts`: the operation on this host, if it differs from the contract's. */
export type Send = (
  operation: OperationName,
  input: WriteInput,
  permit?: () => void,
  facts?: OperationFacts,
) => Promise<JsonObject>;

const MOST_REDIRECTS = 3;

/** A request in flight. */
interface Course {
  readonly name: OperationName;
  readonly facts: OperationFacts;
  readonly prepared: PreparedRequest;
  readonly repeatable: boolean;
  readonly begin: number;
  /** Time spent on purpose; counts where the clock was set back meanwhile. */
  waitedMs: number;
  attempts: number;
  /** Of the last attempt; 0 before its end, and if no complete answer came. */
  lastStatus: number;
  redirects: number;
  /** The last attempt, if its token was refused: the next one replaces that token first. */
  refused: HttpRequest | undefined;
  /** A token is replaced once. */
  renewed: boolean;
  /** An attempt before the last may have had its effect. */
  earlierMayHaveActed: boolean;
  readonly permit: (() => void) | undefined;
}

export function createSend(options: SendOptions): Send {
  const token: TokenUse = { accepted: false };
  return async (name, input, permit, here) => {
    const facts = here ?? OPERATIONS[name];
    const course: Course = {
      name,
      facts,
      prepared: prepareRequest(facts, input),
      repeatable: repeatIsSafe(facts, input),
      begin: options.clock(),
      waitedMs: 0,
      attempts: 0,
      lastStatus: 0,
      redirects: 0,
      refused: undefined,
      renewed: false,
      earlierMayHaveActed: false,
      permit,
    };
    const { readLimit } = options;
    if (readLimit === undefined || facts.kind === "write") return run(course, token, options);
    return readLimit.read(course, () => run(course, token, options));
  };
}

/** `rejected`: the answer that refused the token before any request with it succeeded. Then nothing further is sent. */
interface TokenUse {
  accepted: boolean;
  rejected?: FailedAttempt;
}

async function run(course: Course, token: TokenUse, options: SendOptions): Promise<JsonObject> {
  const { connection, clock, log } = options;
  let request = connection.requestOf(course.facts, course.prepared);
  let last: FailedAttempt | undefined;
  for (;;) {
    course.attempts += 1;
    if (token.rejected !== undefined) throw attemptFailure(endingOf(token.rejected, course, options));
    const sentAt = clock();
    const { end, sent } = await permitted(attempted(request, course, connection), last, course, options);
    course.lastStatus = statusOf(end);
    const note = (waitMs?: number): void => log?.(eventOf(course, request, end, clock() - sentAt, waitMs));
    if (end.end === "ok") {
      token.accepted = true;
      note();
      return end.json;
    }
    if (connection.renew !== undefined && !course.renewed && isUnauthenticated(end)) {
      course.renewed = true;
      course.refused = sent;
      last = end;
      note(0);
      continue;
    }
    if (!token.accepted && isUnauthenticated(end)) token.rejected = end;
    const elsewhere = followed(end, course, request);
    if (elsewhere !== undefined) {
      note(0);
      request = elsewhere;
      continue;
    }
    await waitOrEnd(end, course, options, note);
    last = end;
  }
}

/** Returns an attempt and the signed request. */
async function attempted(
  request: HttpRequest,
  course: Course,
  connection: HostConnection,
): Promise<{ readonly end: Attempt; readonly sent: HttpRequest }> {
  const { refused } = course;
  course.refused = undefined;
  if (refused !== undefined) await connection.renew?.(refused);
  const sent = connection.signed === undefined ? request : await connection.signed(request);
  return { end: await connection.attempt(sent, course.name, course.permit), sent };
}

/** An attempt that was not sent, or had no token, ends the request as the attempts before it did. */
async function permitted<T>(
  attempt: Promise<T>,
  last: FailedAttempt | undefined,
  course: Course,
  options: SendOptions,
): Promise<T> {
  try {
    return await attempt;
  } catch (withheld) {
    if (last === undefined || !course.earlierMayHaveActed) throw withheld;
    course.attempts -= 1;
    throw attemptFailure(endingOf(last, course, options));
  }
}

/** Returns when the next attempt is due; throws the final failure if there is none. */
async function waitOrEnd(
  bad: FailedAttempt,
  course: Course,
  options: SendOptions,
  note: (waitMs?: number) => void,
): Promise<void> {
  const { connection, clock, stopped } = options;
  const elapsedMs = elapsed(course, clock);
  const { attempts, repeatable } = course;
  const { contacted } = connection;
  const { jobs } = course.facts;
  const next = decideRetry({
    bad,
    attempts,
    elapsedMs,
    repeatable,
    jobs,
    contacted,
    random: options.random(),
  });
  if (next === "give up" || stopped()) {
    note();
    throw attemptFailure(endingOf(bad, course, options));
  }
  note(next.waitMs);
  if (next.holdMs !== undefined) options.rateLimit.hold(course.name, clock() + next.holdMs);
  await options.pause(next.waitMs);
  course.waitedMs += next.waitMs;
  if (stopped()) throw attemptFailure(endingOf(bad, course, options));
  course.earlierMayHaveActed ||= mayHaveActed(bad);
}

function elapsed(course: Course, clock: () => number): number {
  return Math.max(clock() - course.begin, course.waitedMs);
}

/** A read follows a redirect within its host. The token is never sent elsewhere, and a write is never redirected. */
function followed(bad: FailedAttempt, course: Course, request: HttpRequest): HttpRequest | undefined {
  if (bad.end !== "redirect" || request.method !== "GET") return undefined;
  const target = URL.parse(bad.location, request.origin + request.path);
  if (target === null || target.origin !== request.origin || course.redirects === MOST_REDIRECTS)
    return undefined;
  course.redirects += 1;
  return { ...request, path: target.pathname + target.search };
}

function endingOf(bad: FailedAttempt, course: Course, options: SendOptions): AttemptEnd {
  return {
    operation: course.name,
    origin: options.connection.origin,
    bad,
    writes: course.facts.kind === "write",
    earlierMayHaveActed: course.earlierMayHaveActed,
    attempts: course.attempts,
    elapsedMs: elapsed(course, options.clock),
    redact: (text) => options.redact(text, course.prepared.secrets),
    tokenHint: options.tokenHint,
  };
}

function statusOf(end: Attempt): number {
  return end.end === "ok" ? 200 : end.end === "broken" ? 0 : end.status;
}

function eventOf(
  course: Course,
  request: HttpRequest,
  end: Attempt,
  ms: number,
  waitMs: number | undefined,
): RequestEvent {
  const status = statusOf(end);
  const { method } = request;
  const path = request.path.split("?", 1)[0] ?? "";
  const event = { operation: course.name, method, path, attempt: course.attempts, status, ms };
  return waitMs === undefined ? event : { ...event, waitMs };
}
