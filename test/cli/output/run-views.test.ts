import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { viewsOf, writeViews } from "../../../src/cli/output/job-run.ts";
import { Failure } from "../../../src/core/diagnostic.ts";
import { contextWith } from "../context.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "views-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const VIEWS = viewsOf({
  views: [{ name: "night", content: "<1>" }, { name: "dash", content: "<2>" }, { content: 3 }],
});

test("several views get a number each, before the extension", () => {
  const context = contextWith({}, folder);
  writeViews(context, VIEWS, { run: 1, out: "a.b.html", force: false });
  expect(readFileSync(join(folder, "a.b.html"), "utf8")).toBe("<1>");
  expect(readFileSync(join(folder, "a.b-2.html"), "utf8")).toBe("<2>");
  expect(readFileSync(join(folder, "a.b-3.html"), "utf8")).toBe("");
  expect(context.out()).toBe("Wrote a.b.html (night).\nWrote a.b-2.html (dash).\nWrote a.b-3.html.\n");
});

test("one output takes one view", () => {
  const context = contextWith({}, folder);
  writeViews(context, VIEWS.slice(0, 1), { run: 1, out: undefined, force: false });
  expect(context.out()).toBe("<1>");
  expect(() => writeViews(context, VIEWS, { run: 1, out: undefined, force: false })).toThrow(Failure);
  expect(() => writeViews(context, [], { run: 1, out: undefined, force: false })).toThrow(Failure);
});
