// Each format of the registry shows where a change comes from, how much it matters, and what is known of drift. A new format has to be named here.

import { describe, expect, test } from "vitest";
import { addressOf, remoteId } from "../../src/core/address.ts";
import { error, warning } from "../../src/core/diagnostic.ts";
import { type Change, changeKey } from "../../src/planner/model/change.ts";
import type { Drift, Plan } from "../../src/planner/model/plan.ts";
import { registry } from "../../src/providers/index.ts";
import { driftReportJson } from "../../src/report/format/plan-json.ts";
import {
  DRIFT_FORMATS,
  OUTCOME_FORMATS,
  PLAN_FORMATS,
  type Renderer,
  VALIDATION_FORMATS,
} from "../../src/report/formats.ts";
import type { RunInfo } from "../../src/report/text/run-info.ts";
import { colorsFor } from "../../src/report/text/terminal.ts";
import { driftView } from "../../src/report/view/drift-view.ts";
import { outcomeView } from "../../src/report/view/outcome-view.ts";
import { planView } from "../../src/report/view/plan-view.ts";
import { INFO, planOf } from "./plans.ts";
import { richOutcome } from "./rich.ts";

const deleted = (name: string): Change => ({
  address: addressOf("pools", name),
  kind: "pools",
  name,
  action: "delete",
  cause: "spec",
  id: remoteId(`id-${name}`),
  before: {},
  fingerprint: "f",
  reasons: [],
  consequences: [],
  dependsOn: [],
});
const capacity = { path: ["max_capacity"], before: 3, after: 10, cause: "drift", replaces: false } as const;
const resized: Change = {
  ...deleted("shared"),
  action: "update",
  after: { max_capacity: 10 },
  unresolved: [],
  diffs: [capacity],
  steps: [{ operation: "edit" }],
} as Change;
const own = deleted("own");
const old = deleted("old");

const drift: Drift = {
  address: resized.address,
  kind: "pools",
  name: "shared",
  what: "changed",
  diffs: [capacity],
  origin: { by: "ada@example.com", at: Date.UTC(2026, 0, 2) },
};

const guard = (code: "GUARD_LIMIT" | "GUARD_DATA_LOSS", address: Change, origin: "caused" | "pending") => ({
  diagnostic: error(code, `${address.address} would be lost`),
  addresses: [address.address],
  origin,
});

const plan: Plan = planOf([own, old, resized], {
  drift: [drift],
  guards: [guard("GUARD_DATA_LOSS", own, "caused"), guard("GUARD_LIMIT", old, "pending")],
  split: {
    base: "origin/main",
    changes: {
      [changeKey(own)]: { origin: "caused", fields: [] },
      [changeKey(old)]: { origin: "pending", fields: [] },
      [changeKey(resized)]: { origin: "pending", fields: [] },
    },
    resolved: [{ change: deleted("healed") }],
    pendingErrors: [],
  },
});

/** Text as its reader sees it: without escapes, entities, tags, and code marks. */
const seen = (text: string): string =>
  text
    .replace(/<(style|script)>.*?<\/\1>/gs, "")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/<\/?(code|span|b)\b[^>]*>/g, "")
    .replaceAll("`", "");

type Formats<View> = Readonly<Record<string, () => Promise<Renderer<View>>>>;

async function textOf<View>(
  formats: Formats<View>,
  name: string,
  view: View,
  info: RunInfo = INFO,
): Promise<string> {
  const render = await formats[name]?.();
  if (render === undefined) throw new Error(`no format ${name}`);
  return render(view, info, colorsFor(false), true).text;
}

/** The JSON spellings of what people read in words. */
const MACHINE = { json: true, gitlab: true, sarif: true } as const;
const isMachine = (name: string): name is keyof typeof MACHINE => Object.hasOwn(MACHINE, name);

/** Where the form leaves no place for it. */
const COUNTS = "GitLab's widget has three counts";
const DESTRUCTIVE = "annotations are for findings, guards, and destructive changes";
const LIST = "GitLab's form is a list of problems";

describe("of a plan", () => {
  const view = planView(plan, registry);

  const SPLIT_EXCEPT: Readonly<Record<string, readonly string[]>> = {
    gitlab: ["pools.healed", COUNTS],
    codequality: ["origin/main", "pools.healed", LIST],
  };
  test.each(Object.keys(PLAN_FORMATS))("%s shows the split", async (name) => {
    const text = seen(await textOf<typeof view>(PLAN_FORMATS, name, view));
    const words = isMachine(name)
      ? ["caused", "pending", "resolved", "origin/main", "pools.healed"]
      : ["aused by this change", "lready pending", "origin/main", "pools.healed"];
    const missing = words.filter((word) => !text.includes(word));
    expect(missing).toEqual(words.filter((word) => SPLIT_EXCEPT[name]?.includes(word)));
  });

  const SEVERITY_EXCEPT: Readonly<Record<string, readonly string[]>> = {
    github: ["cost", DESTRUCTIVE],
    sarif: ["cost", DESTRUCTIVE],
    codequality: ["cost", DESTRUCTIVE],
    gitlab: ["cost", "availability", COUNTS],
  };
  test.each(Object.keys(PLAN_FORMATS))("%s shows severities", async (name) => {
    const text = await textOf<typeof view>(PLAN_FORMATS, name, view);
    const missing = ["cost", "availability"].filter((word) => !text.includes(word));
    expect(missing).toEqual(["cost", "availability"].filter((word) => SEVERITY_EXCEPT[name]?.includes(word)));
  });

  const ORIGIN_EXCEPT: Readonly<Record<string, string>> = {
    github: DESTRUCTIVE,
    sarif: DESTRUCTIVE,
    codequality: DESTRUCTIVE,
    gitlab: COUNTS,
  };
  test.each(Object.keys(PLAN_FORMATS))("%s says who changed what drifted, and when", async (name) => {
    const text = seen(await textOf<typeof view>(PLAN_FORMATS, name, view));
    const says = text.includes("ada@example.com") && text.includes("2026-01-02T00:00:00Z");
    expect(says).toBe(ORIGIN_EXCEPT[name] === undefined);
  });
});

describe("with --exitcode-for change", () => {
  const view = planView(plan, registry, { exitcodeFor: "change" });
  const render = (name: string) => textOf<typeof view>(PLAN_FORMATS, name, view);

  test("github has no annotation for what was pending, and counts it", async () => {
    const text = await render("github");
    expect(text).toContain("::error title=GUARD_DATA_LOSS");
    expect(text).toContain("delete pools.own");
    expect(text).not.toMatch(/GUARD_LIMIT|delete pools\.old/);
    expect(text).toMatch(/::notice .*1 caused by this change \(1 to delete\), 2 already pending/);
  });

  test("sarif has notes for what was pending", async () => {
    const { runs } = JSON.parse(await render("sarif")) as {
      runs: { results: { ruleId: string; level: string; properties: { origin: string } }[] }[];
    };
    const levels = runs[0]?.results.map(({ ruleId, level, properties }) => [
      ruleId,
      level,
      properties.origin,
    ]);
    expect(levels).toEqual([
      ["GUARD_DATA_LOSS", "error", "caused"],
      ["change.delete", "warning", "caused"],
      ["GUARD_LIMIT", "note", "pending"],
      ["change.delete", "note", "pending"],
    ]);
  });

  test("codequality rates what was pending as information", async () => {
    const items = JSON.parse(await render("codequality")) as { check_name: string; severity: string }[];
    expect(items.map(({ check_name, severity }) => `${check_name} ${severity}`)).toEqual([
      "GUARD_DATA_LOSS blocker",
      "change.delete major",
      "GUARD_LIMIT info",
      "change.delete info",
    ]);
  });

  test("gitlab counts what the change causes, and junit fails for nothing else", async () => {
    expect(JSON.parse(await render("gitlab"))).toMatchObject({
      create: 0,
      update: 0,
      delete: 1,
      split: { base: "origin/main", caused: { delete: 1 }, pending: { update: 1, delete: 1 }, resolved: 1 },
    });
    expect((await render("junit")).match(/<failure type="(\w+)"/g)).toEqual([
      '<failure type="GUARD_DATA_LOSS"',
    ]);
  });

  test("a pending finding keeps the fingerprint that it has as a caused one", async () => {
    const swapped = planView(
      { ...plan, guards: [guard("GUARD_LIMIT", old, "caused")], changes: [] },
      registry,
    );
    const print = (text: string) => /"fingerprint": "(\w+)",\s*"severity": "\w+"/.exec(text)?.[1];
    const only = planView({ ...plan, guards: [guard("GUARD_LIMIT", old, "pending")], changes: [] }, registry);
    const [one, other] = await Promise.all(
      [swapped, only].map((each) => textOf<typeof view>(PLAN_FORMATS, "codequality", each)),
    );
    expect(print(one ?? "")).toMatch(/^[0-9a-f]+$/);
    expect(print(one ?? "")).toBe(print(other ?? ""));
  });
});

describe("of drift", () => {
  const accepted = { until: Date.UTC(2999, 11, 31), reason: "load test", by: "grace@example.com" };
  const known: Drift = { ...drift, marks: [{ reported: false, acknowledged: accepted }] };
  const fresh: Drift = { ...drift, address: addressOf("pools", "fresh"), name: "fresh" };
  const context = { sinceLast: true, least: "other" } as const;
  const view = driftView({ ...plan, drift: [known, fresh] }, 3, registry, context);

  test.each(Object.keys(DRIFT_FORMATS))(
    "%s shows severity, who and when, what is new, and who accepted what until when and why",
    async (name) => {
      const text = seen(await textOf<typeof view>(DRIFT_FORMATS, name, view));
      const facts = [
        "cost",
        "ada@example.com",
        "2026-01-02T00:00:00Z",
        name === "json" ? '"reported": false' : "new",
        "acknowledged",
        "2999-12-31T00:00:00Z",
        "grace@example.com",
        "load test",
      ];
      const missing = facts.filter((fact) => !text.includes(fact));
      expect(missing).toEqual(name === "gitlab" ? facts : []);
    },
  );

  // GitLab's report of a plan has counts only.
  test.each(Object.keys(PLAN_FORMATS).filter((name) => name !== "gitlab"))(
    "%s of a plan marks the change that reverts acknowledged drift, with who, until when, and why",
    async (name) => {
      const reverting = { ...resized, reverts: [{ path: ["max_capacity"], ...accepted }] } as Change;
      const { split: _, ...whole } = plan;
      const reverts = planView({ ...whole, guards: [], changes: [reverting] }, registry);
      const text = seen(await textOf<typeof reverts>(PLAN_FORMATS, name, reverts));
      const facts = [
        "pools.shared",
        "max_capacity",
        "2999-12-31T00:00:00Z",
        "grace@example.com",
        "load test",
      ];
      expect(facts.filter((fact) => !text.includes(fact))).toEqual([]);
      expect(text).toMatch(/reverts( drift of|_acknowledged)/);
    },
  );

  test("acknowledged drift fails no test, and is a notice, a note, and information", async () => {
    const junit = await textOf<typeof view>(DRIFT_FORMATS, "junit", view);
    expect(junit).toContain('tests="2" failures="1"');
    const github = await textOf<typeof view>(DRIFT_FORMATS, "github", view);
    expect(github.match(/^::(\w+) title=drift in (\S+?)::/gm)).toEqual([
      "::warning title=drift in pools.fresh::",
      "::notice title=drift in pools.shared::",
    ]);
    const sarif = await textOf<typeof view>(DRIFT_FORMATS, "sarif", view);
    expect(sarif.match(/"level": "(\w+)",\s*"message"/g)?.map((one) => one.split('"')[3])).toEqual([
      "warning",
      "note",
    ]);
  });

  test("each difference of a resource has its own acknowledgement in JSON, and counts once in the title", () => {
    const diffs = [
      { path: ["max_capacity"], before: 7, after: 5, cause: "drift", replaces: false },
      { path: ["min_idle_instances"], before: 2, after: 1, cause: "drift", replaces: false },
    ] as const;
    const marks = [{ reported: true, acknowledged: accepted }, { reported: false }];
    const partly = driftView({ ...plan, drift: [{ ...drift, diffs, marks }] }, 3, registry, context);
    expect(JSON.parse(JSON.stringify(driftReportJson(partly, INFO))).drift[0].differences).toMatchObject([
      { path: ["max_capacity"], reported: true, acknowledged: { reason: "load test" } },
      { path: ["min_idle_instances"], reported: false },
    ]);
    expect(JSON.stringify(driftReportJson(partly, INFO)).match(/load test/g)).toHaveLength(1);
    // An acknowledged difference was reported, too, and counts once.
    expect(partly.title).toMatch(/ Differences: 1 new, 0 reported before, 1 acknowledged\.$/);
  });

  test("drift below --fail-on fails no test, and is a notice, a note, and information", async () => {
    const least = "security";
    expect(view.drift[1]?.severity).not.toBe(least);
    const lenient = driftView({ ...plan, drift: [fresh] }, 3, registry, { ...context, least });
    const formats = ["junit", "github", "sarif", "codequality"] as const;
    const [junit, github, sarif, codequality] = await Promise.all(
      formats.map((name) => textOf<typeof lenient>(DRIFT_FORMATS, name, lenient)),
    );
    expect(junit).toContain('tests="1" failures="0"');
    expect(github).toContain("::notice title=drift in pools.fresh::");
    expect(sarif).toMatch(/"level": "note",\s*"message"/);
    expect(codequality).toContain('"severity": "info"');
  });
});

describe("the run", () => {
  const info: RunInfo = { ...INFO, target: "dev-7301", modes: ["untrusted"], partial: "--only" };
  const reports = [
    ...Object.keys(PLAN_FORMATS).map((name) => ["plan", name] as const),
    ...Object.keys(DRIFT_FORMATS).map((name) => ["drift", name] as const),
    ...Object.keys(OUTCOME_FORMATS).map((name) => ["outcome", name] as const),
    ...Object.keys(VALIDATION_FORMATS).map((name) => ["validation", name] as const),
  ];
  const shown = (report: string, name: string): Promise<string> => {
    const restricted: Plan = { ...plan, modes: ["untrusted"], part: { planned: 1, total: 2 } };
    if (report === "plan") return textOf(PLAN_FORMATS, name, planView(restricted, registry), info);
    if (report === "drift") return textOf(DRIFT_FORMATS, name, driftView(plan, 3, registry), info);
    if (report === "outcome") return textOf(OUTCOME_FORMATS, name, outcomeView(richOutcome), info);
    const diagnostics = [warning("SPEC_VALUE", "odd")];
    return textOf(VALIDATION_FORMATS, name, { sentence: "fine", diagnostics }, info);
  };

  test.each(reports)(
    "of a %s is named as %s: version, host, target, commit, time, partial, untrusted",
    async (...of) => {
      const [report, name] = of;
      const text = seen(await shown(report, name)).replaceAll("%3A", ":");
      const facts = [
        "1.2.3",
        // `validate` speaks to no host.
        ...(report === "validation" ? [] : ["ws.example.com"]),
        "dev-7301",
        "fedcba98fedc",
        "2026-11-22T08:00:00",
        "partial",
        "untrusted",
      ];
      const missing = facts.filter((fact) => !text.toLowerCase().includes(fact.toLowerCase()));
      expect(missing).toEqual(name === "codequality" ? facts : []);
    },
  );
});
