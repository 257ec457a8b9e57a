// A token that is renewed before it expires and after a refusal. Requests that wait share one renewal.

import { Refused } from "../../core/request-failure.ts";

/** A token and when it expires, in epoch milliseconds. */
export interface AccessToken {
  readonly value: string;
  readonly expiresAt: number;
}

export interface RenewedTokenOptions {
  readonly fetch: () => Promise<AccessToken>;
  readonly clock: () => number;
  /** How long before its end a token is renewed; half of its lifetime at most. */
  readonly aheadMs: number;
}

export interface RenewedToken {
  /** A token that is valid now. Throws what `fetch` throws where none can be had. */
  current(): Promise<string>;
  /** Replaces a token that was refused, unless it was replaced meanwhile. */
  replace(refused: string): Promise<void>;
}

export function renewedToken({ fetch, clock, aheadMs }: RenewedTokenOptions): RenewedToken {
  let token: AccessToken | undefined;
  let hadToken = false;
  let renewAt = 0;
  let renewal: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    const since = clock();
    const next = await fetch();
    token = next;
    hadToken = true;
    renewAt = next.expiresAt - Math.min(aheadMs, Math.max(0, next.expiresAt - since) / 2);
    return next.value;
  };
  const renewed = (): Promise<string> => {
    renewal ??= renew().then(
      (value) => {
        renewal = undefined;
        return value;
      },
      (failure: unknown) => {
        // A credential that was refused at the first sign-in is not sent again.
        const isFinal = !hadToken && failure instanceof Refused && [401, 403].includes(failure.status);
        if (!isFinal) renewal = undefined;
        throw failure;
      },
    );
    return renewal;
  };

  return {
    async current() {
      if (token !== undefined && clock() < renewAt) return token.value;
      try {
        return await renewed();
      } catch (failure) {
        // The old token serves until its end, as long as no new one can be had.
        if (token !== undefined && clock() < token.expiresAt) return token.value;
        throw failure;
      }
    },
    async replace(refused) {
      if (token !== undefined && token.value !== refused) return;
      token = undefined;
      await renewed();
    },
  };
}
