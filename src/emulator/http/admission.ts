// Who may call: only programs of this machine, control requests only with the token of this start, and the API with an access token (contract A 5).

import { digest } from "../../core/digest.ts";
import {
  isAdmin,
  servicePrincipals,
  signInSettings,
  type TokenRow,
  userById,
  userTokens,
} from "../world/directory.ts";
import { REQUESTS } from "../world/limits.ts";
import type { Caller, World } from "../world/world.ts";
import { type AppRequest, type AppResponse, pathOf, refusal } from "./message.ts";

/** Refused before the service reads the request; the gateway's error codes are numbers (facts 4.1). */
export class AuthError extends Error {
  readonly status: 401 | 403;
  constructor(status: 401 | 403, message: string) {
    super(message);
    this.status = status;
  }
}

/** A service principal as a caller, by the name that access lists have for it. */
function programOf(world: World, id: string) {
  const { applicationId: userName, active = true } = servicePrincipals(world).get(id) ?? {};
  return userName === undefined ? undefined : { id, userName, active };
}

/** Tokens are stored as digests only. The cache avoids computing the digest for each request. */
export class Authentication {
  readonly #digests = new Map<string, string>();

  caller(world: World, authorization: string | undefined): Caller {
    const token = tokenIn(authorization);
    if (token === undefined)
      throw new AuthError(401, "Credential was not sent or was of an unsupported type for this API.");
    const row = userTokens(world).get(this.#digestOf(token));
    if (row !== undefined && !isUsable(world, row))
      throw new AuthError(row.oauth ? signInSettings(world).expired_status : 403, "Invalid access token.");
    const user = row && (userById(world, row.user_id) ?? programOf(world, row.user_id));
    if (!user?.active) throw new AuthError(403, "Invalid access token.");
    return { userId: user.id, userName: user.userName, admin: isAdmin(world, user.id) };
  }

  #digestOf(token: string): string {
    let hashed = this.#digests.get(token);
    if (hashed === undefined) {
      hashed = digest(token);
      if (this.#digests.size > 10_000) this.#digests.clear();
      this.#digests.set(token, hashed);
    }
    return hashed;
  }
}

/** Azure's ID of the workspace service; Azure tokens for other audiences are rejected. */
export const WORKSPACE_AUDIENCE = "2ff814a6-3304-4ab8-85cb-cd0e6f879c1d";

function isUsable(world: World, { expires_at, audience }: TokenRow): boolean {
  if (audience !== undefined && audience !== WORKSPACE_AUDIENCE) return false;
  return expires_at === undefined || expires_at > world.now;
}

export function grantToken(world: World, token: string, userId: string): void {
  userTokens(world).set(digest(token), { user_id: userId });
}

/** The token in an Authorization header: `Bearer T`, or `Basic` with the user `token`. */
export function tokenIn(authorization: string | undefined): string | undefined {
  const match = /^\s*(bearer|basic)\s+(\S+)\s*$/i.exec(authorization ?? "");
  const [, scheme, credential] = match ?? [];
  if (scheme === undefined || credential === undefined) return undefined;
  if (scheme.toLowerCase() === "bearer") return credential;
  try {
    return /^token:(.+)$/.exec(atob(credential))?.[1];
  } catch {
    return undefined;
  }
}

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
