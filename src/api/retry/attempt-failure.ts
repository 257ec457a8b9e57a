// Turns the last attempt at a request into what callers get: Refused (certainly no effect) or UnknownOutcome.

import type { Code } from "../../core/codes.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { Refused, UnknownOutcome } from "../../core/request-failure.ts";
import { isMissing } from "../contract/refusals.ts";
import type { ErrorAnswer, MalformedAnswer, RedirectAnswer } from "../http/response.ts";
import { describeFailure, type TransportFailure } from "../http/transport-failure.ts";
import type { Attempt } from "./connection.ts";
import { type FailedAttempt, mayHaveActed } from "./retry-policy.ts";

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

function afterError(answer: ErrorAnswer, ending: AttemptEnd): Diagnostic {
  const { status, code, form } = answer;
  const label = code === "" || code === String(status) ? `${status}` : `${status} ${code}`;
  const cause = ending.redact(answer.message);
  const details = (hint: string | undefined) => ({
    hint,
    ...(cause === "" ? {} : { cause }),
  });
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
    {
      hint: HINTS.address,
    },
  );
}

function afterRedirect(answer: RedirectAnswer, ending: AttemptEnd): Diagnostic {
  const location = ending.redact(answer.location);
  return error(
    "API_REDIRECT",
    `${ending.operation} was redirected (${answer.status}); the token was not sent there`,
    {
      hint: `if the workspace has moved, set the host to its new address instead of ${ending.origin}`,
      ...(location === "" ? {} : { cause: `Location: ${location.slice(0, 500)}` }),
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
