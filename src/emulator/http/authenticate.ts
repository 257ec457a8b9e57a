// Authenticates callers: an access token as bearer token, or as the password of the user `token` (contract A 5).

import { digest } from "../../core/digest.ts";
import { isAdmin, userById } from "../world/directory.ts";
import type { Caller } from "../world/operation.ts";
import { signInSettings, type TokenRow, userTokens } from "../world/tokens.ts";
import type { World } from "../world/world.ts";

/** Refused before the service reads the request; the gateway's error codes are numbers (facts 4.1). */
export class AuthError extends Error {
  readonly status: 401 | 403;
  constructor(status: 401 | 403, message: string) {
    super(message);
    this.status = status;
  }
}

/** Tokens are kept as digests only; remembering the digest of those seen saves computing it for every request. */
export class Authentication {
  readonly #digests = new Map<string, string>();

  caller(world: World, authorization: string | undefined): Caller {
    const token = tokenIn(authorization);
    if (token === undefined)
      throw new AuthError(401, "Credential was not sent or was of an unsupported type for this API.");
    const row = userTokens(world).get(this.#digestOf(token));
    if (row !== undefined && !isUsable(world, row))
      throw new AuthError(row.oauth ? signInSettings(world).expired_status : 403, "Invalid access token.");
    const user = row && userById(world, row.user_id);
    if (!user?.active) throw new AuthError(403, "Invalid access token.");
    return { userId: user.id, userName: user.userName, admin: isAdmin(world, user.id) };
  }

  #digestOf(token: string): string {
    let known = this.#digests.get(token);
    if (known === undefined) {
      known = digest(token);
      if (this.#digests.size > 10_000) this.#digests.clear();
      this.#digests.set(token, known);
    }
    return known;
  }
}

/** Azure's name of the workspace service: its tokens for other audiences are not for this API. */
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
  const found = /^\s*(bearer|basic)\s+(\S+)\s*$/i.exec(authorization ?? "");
  const [, scheme, credential] = found ?? [];
  if (scheme === undefined || credential === undefined) return undefined;
  if (scheme.toLowerCase() === "bearer") return credential;
  try {
    return /^token:(.+)$/.exec(atob(credential))?.[1];
  } catch {
    return undefined;
  }
}
