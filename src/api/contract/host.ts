// The address of a workspace: where requests go, and the only place that ever receives the token.

import { error, Failure } from "../../core/diagnostic.ts";

export interface Host {
  /** Scheme, name and port: `https://ws.example.com`. */
  readonly origin: string;
  /** Path prefix before `/api`; empty, or starting with a slash. */
  readonly base: string;
}

const HINT = "write it as https://NAME, for example https://workspace.example.com";

/** Reads `https://name[:port][/base]`; a bare name means https. Throws Failure (API_UNREACHABLE) for anything else. */
export function parseHost(text: string): Host {
  const url = urlOf(text.trim());
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:") || url.hostname === "")
    throw new Failure(
      error("API_UNREACHABLE", "the host is not a valid https:// or http:// URL", { hint: HINT }),
    );
  if (url.username !== "" || url.password !== "")
    throw new Failure(
      error("API_UNREACHABLE", "the host contains a user name or password", {
        hint: "set the token in WORKSPACE_TOKEN or in a profile",
      }),
    );
  if (url.search !== "" || url.hash !== "")
    throw new Failure(error("API_UNREACHABLE", "the host contains a query or a fragment", { hint: HINT }));
  return { origin: url.origin, base: url.pathname.replace(/\/+$/, "") };
}

function urlOf(text: string): URL | undefined {
  return URL.parse(text.includes("://") ? text : `https://${text}`) ?? undefined;
}
