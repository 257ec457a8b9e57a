// `--show` and `--hide`: which rows fit, and what is counted.

import { describe, expect, test } from "vitest";
import { globMatcher } from "../../../src/core/address.ts";
import { registry } from "../../../src/providers/index.ts";
import { planJson } from "../../../src/report/format/plan-json.ts";
import { planHtml } from "../../../src/report/html/plan-html.ts";
import {
  type Entry,
  hiddenLine,
  isChosen,
  isRunChosen,
  rowFilter,
  SHOW_ALL,
  unknownKinds,
} from "../../../src/report/view/choice.ts";
import { planView } from "../../../src/report/view/plan-view.ts";
import { INFO } from "../plans.ts";
import { richPlan } from "../rich.ts";

const filter = (text: string) =>
  rowFilter(text, (why) => {
    throw new Error(why);
  });
const filters = (...texts: readonly string[]) => texts.map(filter);

const entries: readonly Entry[] = [
  { address: "jobs.nightly", kind: "jobs", words: ["updates", "availability"] },
  { address: "jobs.old", kind: "jobs", words: ["deletes", "destroys", "availability"] },
  { address: "groups.team", kind: "groups", words: ["updates", "security"] },
];
const chosen = (show: readonly string[], hide: readonly string[] = []) =>
  entries
    .filter((entry) => isChosen({ show: filters(...show), hide: filters(...hide) }, entry))
    .map(({ address }) => address);

describe("a choice", () => {
  test("shows everything without filters", () => {
    expect(entries.every((entry) => isChosen(SHOW_ALL, entry))).toBe(true);
  });

  test("shows what fits one of the terms of each filter", () => {
    expect(chosen(["destroys,security"])).toEqual(["jobs.old", "groups.team"]);
    expect(chosen(["kind=jobs", "updates"])).toEqual(["jobs.nightly"]);
    expect(chosen(["address=jobs.*"])).toEqual(["jobs.nightly", "jobs.old"]);
    expect(chosen(["jobs.old"])).toEqual(["jobs.old"]);
    expect(chosen(["destroy"])).toEqual(["jobs.old"]);
  });

  test("reads a glob as --only does", () => {
    expect(chosen(["jobs.{nightly,other}"])).toEqual(["jobs.nightly"]);
    expect(chosen(["*.{old,team}", "updates"])).toEqual(["groups.team"]);
    expect(chosen(["jobs.ol?"])).toEqual(["jobs.old"]);
    expect(chosen(["address=[gj]*s.[n-t]*"])).toEqual(["jobs.nightly", "jobs.old", "groups.team"]);
    expect(chosen(["kind={groups,pools},deletes"])).toEqual(["jobs.old", "groups.team"]);
    expect(filters("kind={groups,pools}", "kind=job?").flatMap(({ kinds }) => kinds)).toEqual([]);
  });

  test("hides what fits any filter", () => {
    expect(chosen([], ["updates", "kind=groups"])).toEqual(["jobs.old"]);
    expect(chosen(["kind=jobs"], ["deletes"])).toEqual(["jobs.nightly"]);
  });

  test("hides a run only if everything that it changed fits", () => {
    const isShown = (hide: string) => isRunChosen({ show: [], hide: filters(hide) }, entries);
    expect(isShown("kind=jobs")).toBe(true);
    expect(isShown("kind=jobs,kind=groups")).toBe(false);
    expect(isRunChosen({ show: filters("kind=pools"), hide: [] }, entries)).toBe(false);
  });

  test("counts what is hidden in one sentence that names the options", () => {
    const choice = { show: filters("destroys"), hide: filters("updates") };
    expect(hiddenLine(choice, { drift: 1, unmanaged: 2 })).toBe(
      "Hidden by --show and --hide: drift of 1 resource, 2 unmanaged objects.",
    );
    expect(hiddenLine(choice, {})).toBeUndefined();
  });

  test("has an error for a kind that does not exist", () => {
    expect(unknownKinds({ show: filters("kind=job"), hide: filters("kind=x*") }, ["jobs"])).toMatchObject([
      { code: "CLI_USAGE", message: 'no kind is named "job"', hint: 'did you mean "jobs"?' },
    ]);
  });
});

test("documents have every change and say what is hidden, and a page for readers leaves it out", () => {
  const choice = { show: filters("destroys"), hide: [] };
  const view = planView(richPlan, registry, { choice });
  const document = planJson(view, { ...INFO });
  const left = view.touching.filter((change) => !view.shown.changes.includes(change));
  expect(left.length).toBeGreaterThan(0);
  expect(document.chosen).toMatchObject({ show: ["destroys"], hide: [], hidden_changes: left.length });
  expect(document.resource_changes).toHaveLength(richPlan.changes.length);
  const page = planHtml(view);
  for (const { address } of left) expect(page).not.toContain(`id="${address}"`);
  expect(page).toContain("Hidden by --show:");
  expect(planJson(planView(richPlan, registry), { ...INFO })).not.toHaveProperty("chosen", expect.anything());
});

test("an unknown term is refused with the nearest one, or with all", () => {
  expect(() => filter("destroyz")).toThrow('did you mean "destroys"?');
  expect(() => filter("nothing-like-it")).toThrow(
    /use one of destroys, creates, .*, kind=KIND, address=ADDRESS/,
  );
});

test.each([
  ["jobs.nightly", "jobs.*", true],
  ["notebooks./Shared/a.b", "notebooks.*", true],
  ["jobs.nightly", "*night*", true],
  ["jobs.nightly", "nightly", false],
  ["jobs.nightly", "jobs.*x", false],
  ["aba", "ab*ba", false],
  ["abba", "ab*ba", true],
  ["a", "*", true],
  ["a.b", "*.b", true],
])("%s fits %s: %s", (text, glob, fits) => {
  expect(globMatcher(glob)(text)).toBe(fits);
});
