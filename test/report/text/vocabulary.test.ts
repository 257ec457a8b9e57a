import { expect, test } from "vitest";
import { ordinal } from "../../../src/report/text/vocabulary.ts";

test("an ordinal number ends as it is spoken", () => {
  expect([1, 2, 3, 4, 7, 11, 12, 13, 21, 22, 101, 111].map(ordinal).join(" ")).toBe(
    "1st 2nd 3rd 4th 7th 11th 12th 13th 21st 22nd 101st 111th",
  );
});
