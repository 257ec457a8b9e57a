// The caller: the user or service principal that the service knows the credential by.

import { error, Failure } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { Reader } from "./reader.ts";

/** The name of the caller for a decision about its own rights. Throws Refused, and Failure with API_PROTOCOL for an answer without a name. */
export async function callerOf(reader: Reader): Promise<string> {
  const name = nameIn(await callerAnswer(reader));
  if (name !== undefined) return name;
  throw new Failure(
    error("API_PROTOCOL", 'the service answered with a "userName" that is not a name or an ID', {
      hint: "check the host URL and any proxy in between",
    }),
  );
}

/**
 * The name of the caller where it may stay unknown: older services do not have this call, and some callers may not use it. Throws Refused
 * for a refusal that does not mean this.
 */
export async function callerIfReported(
  reader: Reader,
  meansUnknown: (refusal: Refused) => boolean = () => true,
): Promise<string | undefined> {
  try {
    return nameIn(await callerAnswer(reader));
  } catch (failure) {
    if (failure instanceof Refused && meansUnknown(failure)) return undefined;
    throw failure;
  }
}

const nameIn = ({ userName }: JsonObject): string | undefined =>
  typeof userName === "string" && userName !== "" ? userName : undefined;

const answers = new WeakMap<Reader, Promise<JsonObject>>();

/** Read once for each reader, and again after a read without an answer. */
function callerAnswer(reader: Reader): Promise<JsonObject> {
  const answer = answers.get(reader) ?? reader.read("scim/me");
  answers.set(reader, answer);
  answer.catch((failure: unknown) => {
    if (!(failure instanceof Refused)) answers.delete(reader);
  });
  return answer;
}
