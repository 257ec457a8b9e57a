// Admits requests: only from programs of this machine, not from web pages; control requests only with the token of this start.

import { digest } from "../../core/digest.ts";
import { REQUESTS } from "../world/limits.ts";
import { tokenIn } from "./authenticate.ts";
import { type AppRequest, type AppResponse, pathOf } from "./message.ts";
import { refusal } from "./responses.ts";

/** Control requests are below this path and never under /api. */
export const CONTROL_BASE = "/__emulator/";

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;
/** A page that this server sent, or a person who typed the address. */
const OWN_SITE = /^(none|same-origin)$/;

/** The decision about a request by its head: a refusal, or the maximum size of its body. */
export type Admission = { readonly refused: AppResponse } | { readonly bodyBytes: number };

export class RequestGate {
  readonly #token: string;

  constructor(token: string) {
    this.#token = digest(token);
  }

  /** `bytesOf` gives the limit of the operation that answers a method and path. */
  admit(
    head: Omit<AppRequest, "body">,
    bytesOf: (method: string, path: string) => number | undefined,
  ): Admission {
    const refused = this.refuses(head);
    if (refused !== undefined) return { refused };
    const path = pathOf(head);
    if (path === `${CONTROL_BASE}snapshot`) return { bodyBytes: REQUESTS.snapshot_body_bytes };
    if (isControl(head)) return { bodyBytes: REQUESTS.control_body_bytes };
    const { any_body_bytes: most } = REQUESTS;
    return { bodyBytes: Math.min(most, bytesOf(head.method, path) ?? most) };
  }

  /** The answer to a request that is refused for who sent it; its head is enough. Undefined when it may come in. */
  refuses(request: Omit<AppRequest, "body">): AppResponse | undefined {
    const strange = strangeness(request);
    if (strange !== undefined) return refusal(403, "PERMISSION_DENIED", strange).response;
    if (!isControl(request)) return undefined;
    const token = tokenIn(request.headers.authorization);
    if (token === undefined)
      return refusal(401, 401, "Control requests need the token of the start.").response;
    // Digests of equal length tell nothing of the token by the time that comparing them takes.
    return digest(token) === this.#token ? undefined : refusal(403, 403, "Invalid access token.").response;
  }
}

export function isControl(request: Pick<AppRequest, "path">): boolean {
  return request.path.startsWith(CONTROL_BASE);
}

/** A browser adds these headers to what a page sends; a name that was rebound to this machine shows in Host. */
function strangeness({ headers, remote }: Omit<AppRequest, "body">): string | undefined {
  if (remote !== undefined && !LOOPBACK.test(remote)) return "Requests are served to this machine only.";
  if (headers.host !== undefined && !LOOPBACK_HOST.test(headers.host))
    return "Requests are served to the host names of this machine only.";
  const site = headers["sec-fetch-site"];
  if (headers.origin !== undefined || (site !== undefined && !OWN_SITE.test(site)))
    return "Requests of a page in a browser are refused.";
  return undefined;
}
