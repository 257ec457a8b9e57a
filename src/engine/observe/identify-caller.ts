// Identifies the caller: cached per credential, otherwise read once. A service that does not answer this is not an
// error.

import type { Reader } from "../../api/contract/reader.ts";
import type { JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { JournalEntry } from "../../state/model/journal-entry.ts";
import type { State } from "../../state/model/record.ts";

export interface Identity {
  /** User name; undefined if the service does not return it. */
  readonly name: string | undefined;
  /** Recorded in the state, so that the next run needs no request. */
  readonly entry?: JournalEntry;
}

export interface IdentifyInput {
  readonly reader: Reader;
  readonly state: State;
  /** Keyed digest of the credential; undefined where it does not tell callers apart. */
  readonly credential: string | undefined;
  /** Set by the user with an option or WORKSPACE_USER. */
  readonly given?: string;
}

export async function identify(input: IdentifyInput): Promise<Identity> {
  if (input.given !== undefined) return { name: input.given };
  const { caller } = input.state;
  const { credential } = input;
  if (caller !== undefined && caller.credential === credential) return { name: caller.name };
  const name = userNameIn(await asked(input.reader));
  if (name === undefined || credential === undefined) return { name };
  return { name, entry: { type: "caller", name, credential } };
}

/** Older services have no such call, and some callers may not use it. */
async function asked(reader: Reader): Promise<JsonObject> {
  try {
    return await reader.read("scim/me");
  } catch (failure) {
    if (failure instanceof Refused) return {};
    throw failure;
  }
}

function userNameIn(answer: JsonObject): string | undefined {
  return typeof answer.userName === "string" && answer.userName !== "" ? answer.userName : undefined;
}
