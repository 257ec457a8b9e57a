// The picture of the rooms in ARCHITECTURE.md is drawn from the imports of today.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOMS_PICTURE, roomsPicture } from "../../scripts/map.ts";

test("the picture of the rooms shows the imports of today (else run npm run map)", async () => {
  expect(readFileSync(ROOMS_PICTURE, "utf8")).toBe(await roomsPicture());
  expect(readFileSync("ARCHITECTURE.md", "utf8")).toContain(`](${ROOMS_PICTURE})`);
});
