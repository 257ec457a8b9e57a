// The Authorization header (part A, section 5): the bearer form, or HTTP Basic with the user `token`.

import { error, Failure } from "../core/diagnostic.ts";

export type Scheme = "bearer" | "basic";

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** Throws Failure (API_UNAUTHENTICATED) for a token that no header can carry; the token is not repeated in it. */
export function authorization(token: string, scheme: Scheme): string {
  if (token === "")
    throw new Failure(
      error("API_UNAUTHENTICATED", "no token is set", {
        hint: "set WORKSPACE_TOKEN, or a token in the profile",
      }),
    );
  if (!VISIBLE_ASCII.test(token))
    throw new Failure(
      error("API_UNAUTHENTICATED", "the token holds blanks, line ends or characters outside ASCII", {
        hint: "copy it again, without anything around it",
      }),
    );
  return scheme === "bearer" ? `Bearer ${token}` : `Basic ${btoa(`token:${token}`)}`;
}
