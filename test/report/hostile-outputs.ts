// What must hold of every output of every format, whatever the names and values in it try.

import { addressOf, remoteId } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import { type Change, changeKey } from "../../src/planner/model/change.ts";
import type { ApplyOutcome, Plan } from "../../src/planner/model/plan.ts";
import { findingsJunit } from "../../src/report/format/junit.ts";
import {
  ACCESS_FORMATS,
  DRIFT_FORMATS,
  EXPLANATION_FORMATS,
  HISTORY_FORMATS,
  OUTCOME_FORMATS,
  PLAN_FORMATS,
  type Renderer,
  VALIDATION_FORMATS,
} from "../../src/report/formats.ts";
import { failureHtml } from "../../src/report/html/page.ts";
import { runsText } from "../../src/report/inspect/cluster-text.ts";
import { graphDot, graphJson, graphMermaid, graphOf } from "../../src/report/inspect/graph-text.ts";
import { plainProgress } from "../../src/report/inspect/progress.ts";
import { diagnosticsText } from "../../src/report/text/diagnostic-text.ts";
import { printable, printableJson } from "../../src/report/text/printable.ts";
import type { RunInfo } from "../../src/report/text/run-info.ts";
import { colorsFor } from "../../src/report/text/terminal.ts";
import { driftView } from "../../src/report/view/drift-view.ts";
import { changeOutcomeJson, eventJson, outcomeView } from "../../src/report/view/outcome-view.ts";
import { planView } from "../../src/report/view/plan-view.ts";
import { explained, personAccess, recordedRun, scopeAccess } from "./answers.ts";
import { HIDDEN } from "./hostile-names.ts";
import { create, planOf, registry, remove, replace, update } from "./plans.ts";
import { run } from "./run.ts";

const plain = colorsFor(false);

function hostilePlan(name: string): Plan {
  const address = addressOf("pools", name);
  // A value of several lines is shown on several, each behind a sign.
  const line = name.replaceAll("\n", " ");
  const value = { node_type_id: name, tags: { [name]: name } };
  const diff = {
    path: ["tags", name],
    before: line,
    after: `${line}2`,
    cause: "spec",
    replaces: false,
  } as const;
  const changes = [
    { ...create, address, name, after: value, reasons: [name], consequences: [name] },
    {
      ...update,
      address,
      name,
      diffs: [diff, { ...diff, path: ["versions"], before: [name], after: [] }],
      before: value,
    },
    { ...replace, address, name, before: value },
    { ...remove, address, name: `${name}!`, id: remoteId(name) },
    {
      ...update,
      address: addressOf("pools", `${name}3`),
      name,
      dependsOn: [address],
      content: { lines: ["@@ -1,1 +1,1 @@", `-${line}`, `+${line}2`], added: 1, removed: 1 },
    },
  ] as Change[];
  const found = error("GUARD_DATA_LOSS", name, {
    hint: name,
    cause: name,
    at: { file: name, line: 1, column: 1, frame: `> 1 | ${line}` },
  });
  return planOf(changes, {
    host: name,
    drift: [
      {
        address,
        kind: "pools",
        name,
        what: "changed",
        diffs: [diff],
        origin: { by: name, creator: name, at: 1_767_225_600_000 },
      },
    ],
    split: {
      base: name,
      changes: Object.fromEntries(
        changes.map((change, at) => [
          changeKey(change),
          { origin: at % 2 === 0 ? "caused" : "pending", fields: [] },
        ]),
      ),
      resolved: changes.map((change) => ({ change, fields: [[name]] })),
      pendingErrors: [],
    },
    unmanaged: [{ kind: "pools", name, id: name }],
    guards: [{ diagnostic: found, addresses: [address], origin: "pending" }],
    diagnostics: [found],
  });
}

function hostileOutcome(name: string): ApplyOutcome {
  const address = addressOf("pools", name);
  const diagnostic = error("API_REFUSED", name, { cause: name });
  const one = { address, kind: "pools", action: "create", elapsedMs: 1 } as const;
  const changes = [
    { ...one, result: "applied" },
    { ...one, result: "failed", diagnostic },
    { ...one, result: "blocked", blockedBy: address },
  ] as const;
  return { changes, diagnostics: [diagnostic], interrupted: false, elapsedMs: 1 };
}

/** Where a run is from, as far as a CI service or a checkout says it. */
const hostileRun = (name: string): RunInfo => ({
  ...run,
  host: name,
  target: name,
  runUrl: `https://ci.example.com/${name}`,
  spec: name,
  checkout: { root: "/repo", cwd: `/repo/${name}` },
});

async function loaded<View>(
  formats: Readonly<Record<string, () => Promise<Renderer<View>>>>,
): Promise<readonly (readonly [string, Renderer<View>])[]> {
  const different = Object.entries(formats).filter(([name]) => name !== "markdown-summary");
  return Promise.all(different.map(async ([name, load]) => [name, await load()] as const));
}

const FORMATS = {
  plan: await loaded(PLAN_FORMATS),
  drift: await loaded(DRIFT_FORMATS),
  outcome: await loaded(OUTCOME_FORMATS),
  validation: await loaded(VALIDATION_FORMATS),
  access: await loaded(ACCESS_FORMATS),
  explanation: await loaded(EXPLANATION_FORMATS),
  history: await loaded(HISTORY_FORMATS),
};

function rendered<View>(
  report: string,
  formats: readonly (readonly [string, Renderer<View>])[],
  view: View,
  info: RunInfo,
): readonly (readonly [string, string])[] {
  return formats.map(([format, render]) => [`${report}.${format}`, render(view, info, plain, true).text]);
}

function outputs(name: string): Readonly<Record<string, string>> {
  const hostile = withHostileAcknowledgements(name, hostilePlan(name));
  const info = hostileRun(name);
  const plan = planView(hostile, registry, { notes: hostile.diagnostics });
  const drift = driftView(hostile, 1, registry, { sinceLast: true });
  const outcome = hostileOutcome(name);
  const view = outcomeView(outcome, hostile.diagnostics, plan);
  const graph = graphOf([{ address: addressOf("pools", name), dependsOn: [addressOf("pools", `${name}2`)] }]);
  let progress = "";
  const lines = plainProgress({ colors: plain, write: (text) => (progress += text) });
  const [applied] = outcome.changes;
  if (applied !== undefined) lines.apply({ type: "apply_complete", outcome: applied });
  lines.apply({ type: "apply_waiting", address: addressOf("pools", name), kind: "pools", what: name });
  return {
    ...Object.fromEntries([
      ...rendered("plan", FORMATS.plan, plan, info),
      ...rendered("drift", FORMATS.drift, drift, info),
      ...rendered("outcome", FORMATS.outcome, view, info),
      ...rendered(
        "validation",
        FORMATS.validation,
        { sentence: name, diagnostics: hostile.diagnostics },
        info,
      ),
      ...rendered("access", FORMATS.access, scopeAccess(2, name), info),
      ...rendered("access of a person", FORMATS.access, personAccess(2, name), info),
      ...rendered("history", FORMATS.history, recordedRun(name, name.replaceAll("\n", " ")), info),
      ...rendered("explanation", FORMATS.explanation, explained(name, name.replaceAll("\n", " ")), info),
    ]),
    events: outcome.changes.map((change) => printableJson(changeOutcomeJson(change))).join("\n"),
    "trouble.html": failureHtml(name, plan.diagnostics, info),
    "findings.junit": findingsJunit(name, name, plan.diagnostics, info),
    eventJson: printableJson(
      eventJson({ type: "apply_waiting", address: addressOf("pools", name), kind: "pools", what: name }),
    ),
    diagnostics: diagnosticsText(plan.diagnostics, plain),
    graphDot: graphDot(graph),
    graphMermaid: graphMermaid(graph),
    graphJson: printableJson(graphJson(graph), 2),
    runs: runsText(
      [{ run_id: 1, run_name: name, state: { life_cycle_state: "RUNNING", state_message: name } }],
      plain,
    ),
    progress,
  };
}

/** The drift is acknowledged, with this reason, and each change reverts some. */
function withHostileAcknowledgements(name: string, plan: Plan): Plan {
  const accepted = { until: 4_000_000_000_000, reason: name, by: name };
  return {
    ...plan,
    changes: plan.changes.map((change) => ({ ...change, reverts: [{ path: [name], ...accepted }] })),
    drift: plan.drift.map((item) => ({
      ...item,
      marks: Array.from({ length: Math.max(1, item.diffs.length) }, () => ({
        reported: false,
        acknowledged: accepted,
      })),
    })),
  };
}

/** Removes the commands of annotations, one on each line. */
function withoutAnnotations(output: string, text: string): string {
  return output.endsWith(".github") ? text.replace(/^::(error|warning|notice) [^:\n]*::/gm, "") : text;
}

/** The marks on the words that differ depend on the words.. */
const tags = (text: string) => text.replaceAll(/<\/?mark>/g, "").split(/[<>]/).length;
const shape = (text: string) => text.split("\n").length;

/** Outputs of a harmless name that is as long when it is printed: long values take lines of their own. */
const harmlessOutputs = new Map<number, ReturnType<typeof outputs>>();
function harmlessAs(name: string): ReturnType<typeof outputs> {
  const { length } = printable(name);
  const made = harmlessOutputs.get(length) ?? outputs("h".repeat(length));
  harmlessOutputs.set(length, made);
  return made;
}

/** What a name does to any output that it should not: it hides, it commands, it adds lines, or it comes back as another. */
export function leaksOf(name: string): readonly string[] {
  const shown = outputs(name);
  const harmless = harmlessAs(name);
  const leaks = Object.entries(shown).flatMap(([output, text]) => [
    ...(HIDDEN.test(text.replaceAll("\n", "")) ? [`${output}: hidden character`] : []),
    ...(/::|##\w*\[/.test(withoutAnnotations(output, text)) ? [`${output}: command`] : []),
    ...(/[.](html|junit)$/.test(output) && tags(text) !== tags(harmless[output] ?? "")
      ? [`${output}: other tags`]
      : []),
    ...(shape(text) === shape(harmless[output] ?? "") ? [] : [`${output}: other lines`]),
  ]);
  const { resource_changes } = JSON.parse(shown["plan.json"] ?? "") as {
    resource_changes: readonly { name: string }[];
  };
  const back = resource_changes[0]?.name === name ? [] : ["plan.json: read back as another name"];
  return [...leaks, ...back].map((leak) => `${leak} of ${JSON.stringify(name)}`);
}

export const OUTPUTS: readonly string[] = Object.keys(outputs("harmless"));
