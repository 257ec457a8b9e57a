// Every format of every report names the run that it is from.

import { describe, expect, test } from "vitest";
import { DRIFT_FORMATS, OUTCOME_FORMATS, PLAN_FORMATS, type Renderer } from "../../src/report/formats.ts";
import { colorsFor } from "../../src/report/text/terminal.ts";
import { driftView } from "../../src/report/view/drift-view.ts";
import { outcomeView } from "../../src/report/view/outcome-view.ts";
import { registry, viewOf } from "./plans.ts";
import { richNotes, richOutcome, richPlan } from "./rich.ts";
import { run as anyRun } from "./run.ts";

const run = { ...anyRun, host: richPlan.host };

/** GitHub's, GitLab's and SARIF's documents have their own members, and tests of their own. */
const DOCUMENTS = ["text", "json", "markdown", "html", "junit"];

type Loading<View> = Readonly<Record<string, () => Promise<Renderer<View>>>>;

async function missing<View>(formats: Loading<View>, view: View): Promise<readonly string[]> {
  const facts = [run.toolVersion, run.host, run.target ?? "", (run.commit ?? "").slice(0, 12), "2024-05-06"];
  const found: string[] = [];
  for (const name of DOCUMENTS) {
    const render = await formats[name]?.();
    if (render === undefined) continue;
    const { text } = render(view, run, colorsFor(false));
    found.push(...facts.filter((fact) => !text.includes(fact)).map((fact) => `${name}: ${fact}`));
  }
  return found;
}

describe("each format names version, host, target, commit, and time", () => {
  test("of a plan", async () => {
    expect(await missing(PLAN_FORMATS, viewOf(richPlan))).toEqual([]);
  });
  test("of drift", async () => {
    const view = driftView({ ...richPlan, diagnostics: richNotes }, 3, registry);
    expect(await missing(DRIFT_FORMATS, view)).toEqual([]);
  });
  test("of an apply", async () => {
    expect(await missing(OUTCOME_FORMATS, outcomeView(richOutcome))).toEqual([]);
  });
});
