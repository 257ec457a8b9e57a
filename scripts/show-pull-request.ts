// Writes docs/ci/example.md and its picture from a real run: one pull request with every report (`npm run show`).

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { example } from "../test/ci/example.ts";
import { COMMENT_WIDTH, commentPage } from "../test/report/comment-page.ts";
import { CHROMIUM, Reader } from "../test/report/html/chromium.ts";

const DOCS = join(import.meta.dirname, "../docs");

if (CHROMIUM === undefined) throw new Error("no Chromium: set WORKSPACE_TEST_CHROMIUM");
const { page, comment } = await example();
writeFileSync(join(DOCS, "ci/example.md"), page);
const reader = await Reader.start();
try {
  const opened = await reader.open(commentPage(comment), { viewport: { width: COMMENT_WIDTH, height: 600 } });
  mkdirSync(join(DOCS, "images"), { recursive: true });
  await opened.page.screenshot({ path: join(DOCS, "images/pull-request.png"), fullPage: true });
  if (opened.problems.length > 0) throw new Error(opened.problems.join("\n"));
} finally {
  await reader.close();
}
process.stdout.write("Wrote docs/ci/example.md and docs/images/pull-request.png.\n");
