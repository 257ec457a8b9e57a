// Recognizes the two refusals that providers handle: "does not exist" and "already exists".

import { Refused } from "../../core/request-failure.ts";

/**
 * Whether a read or delete was refused because the object no longer exists. Clusters, jobs, and runs answer 400 for
 * that. An unknown route, a proxy's page, or another API's 404 does not count: an unreadable object is never treated
 * as missing.
 */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Refused)) return false;
  const { status, code, diagnostic } = error;
  if (diagnostic.code !== "API_REFUSED") return false;
  if (code === "RESOURCE_DOES_NOT_EXIST") return true;
  if (status === 404) return code === "" || code === "NOT_FOUND" || code === "404";
  const words = `${diagnostic.message}\n${diagnostic.cause ?? ""}`;
  if (code === "INVALID_PARAMETER_VALUE") return /do(es)?( not|n.t) exist/i.test(words);
  return code === "INVALID_STATE" && /days ago/i.test(words);
}

/** Whether a create was refused because the name is taken. Decided by the code alone, because the wording of messages changes. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof Refused &&
    (error.code === "RESOURCE_ALREADY_EXISTS" || error.status === 409 || error.code === "uniqueness")
  );
}
