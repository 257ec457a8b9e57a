// Tokens of the sign-in paths, each with its user, audience, and expiry by the emulator's clock.

import { digest } from "../../../core/digest.ts";
import type { JsonObject } from "../../../core/json.ts";
import { signInSettings, userTokens } from "../../world/tokens.ts";
import type { TimerRun, World } from "../../world/world.ts";

export const MANAGEMENT = "https://management.core.windows.net";
/** ID tokens prove an identity; no API accepts them. */
export const ID_TOKEN = "id-token";

/** Answered as OAuth requires (RFC 6749, section 5.2). */
export class SignInError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** How long an expired token is reported as expired; later it is unknown. */
const REMEMBERED_MS = 3_600_000;
export const FORGET_TOKEN = "sign-in.forget";

export const forgetToken: TimerRun = (world, { token }) => {
  userTokens(world).delete(String(token));
};

/** A token for a user that expires; for the workspace unless an audience is given. */
export function issueToken(world: World, user: string, audience?: string) {
  const { expires_in } = signInSettings(world);
  const token = `oauth${world.hex(40)}`;
  keep(world, token, user, expires_in, audience);
  return { token, expires_in };
}

/** A token in JWT format with a random signature: the emulator accepts it because it issued it. */
export function idTokenFor(world: World, user: string, iss: string, aud: string): string {
  const seconds = 300;
  const iat = Math.floor(world.now / 1000);
  const claims = { iss, aud, sub: "repo:example/workspace:ref:refs/heads/main", iat, exp: iat + seconds };
  const parts = [{ alg: "RS256", typ: "JWT" }, claims, world.hex(32)];
  const token = parts.map(base64Url).join(".");
  keep(world, token, user, seconds, ID_TOKEN);
  return token;
}

function base64Url(part: JsonObject | string): string {
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

function keep(world: World, token: string, user: string, seconds: number, audience?: string): void {
  const key = digest(token);
  const expires_at = world.now + seconds * 1000;
  const row = { user_id: user, expires_at, oauth: true } as const;
  userTokens(world).set(key, audience === undefined ? row : { ...row, audience });
  world.timers.set(`${FORGET_TOKEN}/${key}`, expires_at + REMEMBERED_MS, FORGET_TOKEN, { token: key });
}

/** The user of a token that is valid for the audience; without an audience, only personal access tokens are. */
export function ownerOf(world: World, token: string, audience: string | undefined): string | undefined {
  const row = userTokens(world).get(digest(token));
  if (row === undefined || row.audience !== audience) return undefined;
  if (audience === undefined && row.oauth) return undefined;
  return row.expires_at !== undefined && row.expires_at <= world.now ? undefined : row.user_id;
}
