// Stored access tokens, by their digest, and how the sign-in of a dialect issues them.

import type { Collection, World } from "./world.ts";

/** Who keeps a token of this user is refused from now on. */
export interface TokenRow {
  readonly user_id: string;
  /** A token without it does not expire. */
  readonly expires_at?: number;
  /** The audience of the token, if its issuer serves others than the workspace too. */
  readonly audience?: string;
  /** Issued by a sign-in of OAuth; the others are personal access tokens. */
  readonly oauth?: true;
}

export interface SignInSettings {
  /** Seconds that a new token lives. */
  readonly expires_in: number;
  /** The answer to an expired token of OAuth. */
  readonly expired_status: 401 | 403;
  /** Does the machine get tokens without credentials? */
  readonly managed_identity: boolean;
}

const SIGN_IN: SignInSettings = { expires_in: 3600, expired_status: 401, managed_identity: false };
const signInOf = (world: World): Collection<SignInSettings> => world.collection("sign-in");

export const signInSettings = (world: World): SignInSettings => signInOf(world).get("settings") ?? SIGN_IN;

export function putSignInSettings(world: World, settings: SignInSettings): void {
  signInOf(world).set("settings", settings);
}

export const userTokens = (world: World): Collection<TokenRow> => world.collection("tokens");
