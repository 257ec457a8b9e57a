// The promise of every store about damage: the same state or a diagnostic, never silently fewer resources.

import { describe, expect, test } from "vitest";
import { Corruption } from "./corruption.ts";
import type { Shared } from "./sharing.ts";

/** `stride`: every so many bytes of a plain state, thrice that of an encrypted one; all of them with `npm run simulate -- --suite corrupt`. */
export function corruptionContract(title: string, open: () => Promise<Shared>, stride: number): void {
  describe(`${title}, damaged`, () => {
    for (const sealed of [false, true])
      test(`${sealed ? "encrypted" : "plain"}: bytes cut or flipped, parts and lines gone, swapped, repeated, strange, older or newer are never passed over`, {
        timeout: 300_000,
      }, async () => {
        const corruption = new Corruption(await open(), sealed);
        await corruption.prepare(open);
        const wrong: string[] = [];
        let tried = 0;
        for (const damage of corruption.damages(sealed ? 3 * stride : stride)) {
          tried += 1;
          const verdict = await corruption.verdict(damage);
          if (verdict !== undefined) wrong.push(`${damage.name}: ${verdict}`);
        }
        expect(await corruption.isWhole()).toBe(true);
        await corruption.shared.close();
        expect(wrong).toEqual([]);
        expect(tried).toBeGreaterThan(100);
      });
  });
}
