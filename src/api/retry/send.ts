// Sends one request with its retries, waits, and redirects, until an answer, a refusal, or an unknown outcome, each with its diagnostic.

import type { Code } from "../../core/codes.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { isMissing, Refused, UnknownOutcome } from "../../core/request-failure.ts";
import { shortened } from "../../core/sentences.ts";
import { OPERATIONS, type OperationFacts, type OperationName, repeatIsSafe } from "../contract/operations.ts";
import type { WriteInput } from "../contract/reader.ts";
import { type PreparedRequest, prepareRequest } from "../http/request-body.ts";
import type { ErrorAnswer, MalformedAnswer, RedirectAnswer } from "../http/response.ts";
import type { HttpRequest } from "../http/transport.ts";
import { describeFailure, type TransportFailure } from "../http/transport-failure.ts";
import type { Attempt, HostConnection } from "./connection.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { ReadTimeLimit } from "./read-time-limit.ts";
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
  readonly readLimit?: ReadTimeLimit | undefined;
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
  const random = options.random();
  const next = decideRetry({ bad, attempts, elapsedMs, repeatable, jobs, contacted, random });
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

export interface AttemptEnd {
  readonly operation: string;
  readonly origin: string;
  readonly bad: FailedAttempt;
  readonly writes: boolean;
  /** An earlier attempt of the same request may have had its effect. */
  readonly earlierMayHaveActed: boolean;
  /** Attempts made, and how long they took. */
  readonly attempts: number;
  readonly elapsedMs: number;
  readonly redact: (text: string) => string;
  /** The fix for a refused token. */
  readonly tokenHint?: string | undefined;
}

/** The error to throw. A read has no effect, so it is always Refused. */
export function attemptFailure(ending: AttemptEnd): Refused | UnknownOutcome {
  const refused = refusalOf(ending);
  if (!ending.writes) return refused;
  // A repeated delete of a deleted object finds no effect of an earlier attempt.
  const open = mayHaveActed(ending.bad) || (ending.earlierMayHaveActed && !isMissing(refused));
  return open ? new UnknownOutcome(unknown(ending, refused.diagnostic)) : refused;
}

function unknown({ operation }: AttemptEnd, last: Diagnostic): Diagnostic {
  return error("API_UNKNOWN_OUTCOME", `the outcome of ${operation} is unknown`, {
    hint: "run the command again; it first checks whether this request succeeded",
    cause: last.cause === undefined ? last.message : `${last.message}: ${last.cause}`,
  });
}

function refusalOf(ending: AttemptEnd): Refused {
  const { bad } = ending;
  switch (bad.end) {
    case "error":
      return new Refused(bad.status, bad.code, afterError(bad, ending));
    case "garbled":
      return new Refused(bad.status, "", afterGarbled(bad, ending));
    case "redirect":
      return new Refused(bad.status, "", afterRedirect(bad, ending));
    case "broken":
      return new Refused(0, "", afterBreak(bad.broken, ending));
    default:
      return bad satisfies never;
  }
}

const LONGEST_MESSAGE = 2_000;

function afterError(answer: ErrorAnswer, ending: AttemptEnd): Diagnostic {
  const { status, code, form } = answer;
  const label = code === "" || code === String(status) ? `${status}` : `${status} ${code}`;
  const cause = shortened(ending.redact(answer.message), LONGEST_MESSAGE);
  const details = (hint: string | undefined) => ({ hint, ...(cause === "" ? {} : { cause }) });
  const say = (kind: Code, what: string, hint?: string) =>
    error(kind, `${ending.operation} ${what} (${label})${tries(ending)}`, details(hint));

  if (isUnauthenticated(answer))
    return say("API_UNAUTHENTICATED", "was refused: the token is not valid", ending.tokenHint ?? HINTS.token);
  if (status === 403) return say("API_FORBIDDEN", "is not allowed for this caller", HINTS.rights);
  if (status === 429) return say("API_REFUSED", "was refused: too many requests", HINTS.throttled);
  if (status >= 500 && status !== 501) return say("API_REFUSED", "failed in the service", HINTS.later);
  if (form === "plain" || code === "ENDPOINT_NOT_FOUND")
    return say("API_PROTOCOL", "was answered by a server that is not this API", HINTS.address);
  return say("API_REFUSED", "was refused");
}

/** Whether an attempt was refused because of its token. */
export function isUnauthenticated(end: Attempt): boolean {
  if (end.end !== "error") return false;
  return end.status === 401 || (end.status === 403 && /invalid access token/i.test(end.message));
}

function afterGarbled(answer: MalformedAnswer, ending: AttemptEnd): Diagnostic {
  const what = answer.what === "empty" ? "an empty body" : `a body that is ${answer.what}`;
  return error(
    "API_PROTOCOL",
    `${ending.operation} was answered ${answer.status} with ${what}${tries(ending)}`,
    { hint: HINTS.address },
  );
}

function afterRedirect(answer: RedirectAnswer, ending: AttemptEnd): Diagnostic {
  const location = ending.redact(answer.location);
  return error(
    "API_REDIRECT",
    `${ending.operation} was redirected (${answer.status}); the token was not sent there`,
    {
      hint: `if the workspace has moved, set the host to its new address instead of ${ending.origin}`,
      ...(location === "" ? {} : { cause: `Location: ${shortened(location, 500)}` }),
    },
  );
}

function afterBreak(broken: TransportFailure, ending: AttemptEnd): Diagnostic {
  const { code, what, hint } = describeFailure(broken, ending.origin);
  return error(code, `${what}${tries(ending)}`, { hint, cause: ending.redact(broken.text) });
}

/** Describes the attempts if there was more than one. */
function tries({ attempts, elapsedMs }: AttemptEnd): string {
  return attempts === 1 ? "" : `, ${attempts} attempts in ${Math.round(elapsedMs / 1_000)} s`;
}

const HINTS = {
  token: "set WORKSPACE_TOKEN, or the token of the profile, to a valid access token of this workspace",
  rights:
    "use the token of a user with this permission; users, groups, and pins require a workspace administrator",
  throttled: "try again later, or lower --parallelism",
  later: "try again later",
  address: "check the host URL and any proxy in between",
};
