// A claim as text, wherever it is kept.

import { shapeOf } from "./decode.ts";
import type { Claim } from "./lock.ts";

export function claimText(claim: Claim): string {
  return `${JSON.stringify(claim)}\n`;
}

/** Undefined for what is torn or not a claim. The number is the one that it stands under, whatever it says itself. */
export function readClaim(text: string, fence: number): Claim | undefined {
  try {
    const from = shapeOf(JSON.parse(text), "lock");
    const owner = from.object("owner");
    return {
      fence,
      nonce: from.text("nonce"),
      owner: {
        user: owner.text("user"),
        host: owner.text("host"),
        pid: owner.number("pid"),
        machine: owner.text("machine"),
        started: owner.text("started"),
      },
      taken_at: from.number("taken_at"),
      renewed_at: from.number("renewed_at"),
      lease_ms: from.number("lease_ms"),
      request_ms: from.number("request_ms"),
      ...(from.has("released") ? { released: true } : {}),
      ...(from.has("seq") ? { seq: from.number("seq") } : {}),
    };
  } catch {
    return undefined;
  }
}
