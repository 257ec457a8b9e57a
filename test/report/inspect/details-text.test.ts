// Details at the prompt of an apply: the list of changes, and those that a number, an address, or a filter selects.

import { expect, test } from "vitest";
import { registry } from "../../../src/providers/index.ts";
import { detailsText } from "../../../src/report/inspect/details-text.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";
import { planView } from "../../../src/report/view/plan-view.ts";
import { richPlan } from "../rich.ts";

const view = planView(richPlan, registry);
const details = (request: string) => detailsText(view, request, colorsFor(false));
const { touching } = view;

test("without a request, every change has a number and a line", () => {
  const lines = details("").trimEnd().split("\n");
  expect(lines).toHaveLength(touching.length);
  expect(lines[0]).toMatch(new RegExp(`^ +1 {2}. \\w+ +${touching[0]?.address.replaceAll(".", "\\.")}$`));
});

test("a number and an address show one change, a filter shows all that fit", () => {
  const [first] = touching;
  expect(details("1")).toContain(first?.address);
  expect(details(first?.address ?? "")).toBe(details("1"));
  const destroyed = touching.filter(({ destroys }) => destroys);
  expect(destroyed.length).toBeGreaterThan(0);
  for (const { address } of destroyed) expect(details("destroys")).toContain(address);
});

test("a request that selects nothing is answered with what can be entered", () => {
  expect(details("99999")).toBe(
    `The plan has ${touching.length} changes; enter a number from 1 to ${touching.length}.\n`,
  );
  expect(details("nothing.here")).toBe(
    `The plan has ${touching.length} changes, and none fits "nothing.here".\n`,
  );
  expect(details("destroyz")).toContain('"destroyz" selects no change: did you mean "destroys"?');
});

test("no sensitive value is shown", () => {
  const all = touching.map((_, at) => details(String(at + 1))).join("");
  expect(all).toContain("(sensitive)");
});
