// No expression exhausts the time or the memory of a run: each bomb ends with a diagnostic, or with a small value.

import { describe, expect, test } from "vitest";
import { BOMBS } from "./expression-bombs.ts";
import { load } from "./folder.ts";

/** A hang fails; the limits are steps, and take about a second. */
const HANG_MS = 14_000;

describe("an untrusted spec", () => {
  test.each(Object.entries(BOMBS))(
    "with %s ends with a diagnostic",
    async (_, files) => {
      const { told, spec } = await load(files, { untrusted: true });
      expect(spec).toBeUndefined();
      expect(told.length).toBeGreaterThan(0);
      expect(told[0]).toMatch(/^SPEC_(?:TOO_LARGE|EXPRESSION|VARIABLE|MODULE)/);
    },
    HANG_MS,
  );
});
