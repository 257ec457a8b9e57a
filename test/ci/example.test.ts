// docs/ci/example.md is what a real run writes.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectedText } from "../acceptance/expected-output.ts";
import { stable } from "../acceptance/stable.ts";
import { example } from "./example.ts";
import { ROOT } from "./runners/pipeline.ts";

test("docs/ci/example.md shows what one pull request and two runs for drift write", {
  timeout: 120_000,
}, async () => {
  const path = join(ROOT, "docs/ci/example.md");
  const compared = (text: string): string => stable(text, "~/project", "https://workspace.example.com");
  const { page } = await example();
  const text = readFileSync(path, "utf8");
  const expected = compared(page) === compared(text) ? text : expectedText(path, text, page);
  expect(compared(page)).toBe(compared(expected));
  const pictures = [...page.matchAll(/!\[[^\]]+\]\((\S+)\)/g)].map(([, picture = ""]) => picture);
  expect(pictures).toEqual(["../images/pull-request.png"]);
  expect(pictures.every((picture) => existsSync(join(ROOT, "docs/ci", picture)))).toBe(true);
});
