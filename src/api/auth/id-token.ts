// ID tokens of other issuers: from a GitHub workflow, or from a variable or a file.

import { thrownText } from "../../core/diagnostic.ts";
import type { AuthType, IdTokenSource } from "./credential.ts";
import { sendTokenRequest, signInRefused, type TokenPorts, tokenAnswer } from "./token-request.ts";

export interface IdTokenPorts extends TokenPorts {
  /** The content of a file; it may have changed since it was read last. */
  readonly readFile: (path: string) => string;
}

/** Throws Refused where there is none. */
export async function idTokenFrom(
  source: IdTokenSource,
  audience: string,
  as: AuthType,
  ports: IdTokenPorts,
): Promise<string> {
  switch (source.from) {
    case "value":
      return source.value;
    case "file":
      return readIdToken(source.path, as, ports);
    case "github":
      return workflowIdToken(source.url, source.token, audience, as, ports);
    default:
      return source satisfies never;
  }
}

function readIdToken(path: string, as: AuthType, { readFile, redact }: IdTokenPorts): string {
  try {
    return readFile(path).trim();
  } catch (problem) {
    const cause = redact(thrownText(problem));
    throw signInRefused(as, { origin: path, status: 0, cause });
  }
}

async function workflowIdToken(
  service: string,
  token: string,
  audience: string,
  as: AuthType,
  ports: TokenPorts,
): Promise<string> {
  const url = new URL(service);
  url.searchParams.set("audience", audience);
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  const answer = await sendTokenRequest({ method: "GET", url: url.href, headers }, as, ports);
  const { value } = tokenAnswer(answer, as, url.href, ports);
  if (typeof value === "string" && value !== "") return value;
  throw signInRefused(as, { origin: url.origin, status: answer.status, cause: "the answer has no ID token" });
}
