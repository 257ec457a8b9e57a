// Names and values that try to steer a terminal, a CI service or a reviewer, and what must hold of every output that names them.

import { addressOf, remoteId } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import type { Change } from "../../src/planner/model/change.ts";
import type { ApplyOutcome, Plan } from "../../src/planner/model/plan.ts";
import { failureHtml } from "../../src/report/html/failure-page.ts";
import { driftHtml, planHtml } from "../../src/report/html/plan-html.ts";
import { graphDot, graphJson, graphMermaid, graphOf } from "../../src/report/inspect/dependency-graph.ts";
import { runsText } from "../../src/report/inspect/job-run-text.ts";
import { driftJunit, findingsJunit, outcomeJunit, planJunit } from "../../src/report/outcome/junit.ts";
import { changeOutcomeJson, eventJson, outcomeJson } from "../../src/report/outcome/outcome-json.ts";
import { outcomeMarkdown } from "../../src/report/outcome/outcome-markdown.ts";
import { outcomeText } from "../../src/report/outcome/outcome-text.ts";
import { outcomeView } from "../../src/report/outcome/outcome-view.ts";
import { plainProgress } from "../../src/report/outcome/progress.ts";
import { driftText } from "../../src/report/plan/drift-text.ts";
import { driftView } from "../../src/report/plan/drift-view.ts";
import { driftReportJson, planJson } from "../../src/report/plan/plan-json.ts";
import { driftMarkdown, planMarkdown } from "../../src/report/plan/plan-markdown.ts";
import { planText } from "../../src/report/plan/plan-text.ts";
import { planView } from "../../src/report/plan/plan-view.ts";
import { colorsFor } from "../../src/report/text/color.ts";
import { diagnosticsText } from "../../src/report/text/diagnostic-text.ts";
import { printable, printableJson } from "../../src/report/text/printable.ts";
import { create, planOf, registry, remove, replace, update } from "./plans.ts";
import { run } from "./run.ts";

const plain = colorsFor(false);

/** 2,000 strings: each piece alone, doubled, inside words, at a line's start, and pairs of them. */
const PIECES = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 33 }, (_, code) => String.fromCharCode(0x7f + code)),
  ...[
    "\u061c",
    "\u200b",
    "\u200e",
    "\u200f",
    "\u2028",
    "\u2029",
    "\u202a",
    "\u202e",
    "\u2066",
    "\u2069",
    "\ufeff",
    "\u00ad",
    "\u{e0001}",
    "\u{e0041}",
  ],
  ...[
    "\u001b[2J",
    "\u001b]0;title\u0007",
    "\u009b31m",
    "\ud800",
    "\udfff",
    "::error::x",
    "::set-output name=a::b",
    "##[error]x",
    "##vso[task.complete]",
  ],
  ...[
    "`",
    "```",
    "~~~",
    "</details>",
    "<script>x</script>",
    "@all",
    "[a](https://evil.example)",
    "![x](x)",
    "| a | b |",
    "# head",
    "- item",
    "> quote",
    "\\",
    '"',
    "'",
    "$(x)",
    "${x}",
  ],
];
export const NAMES: readonly string[] = [
  ...PIECES.flatMap((piece) => [
    piece,
    piece + piece,
    `a${piece}b`,
    `\n${piece}`,
    `${piece}\n- DELETE everything`,
  ]),
  ...PIECES.flatMap((piece, at) =>
    Array.from({ length: 15 }, (_, step) => piece + (PIECES[(at + step * 7 + 1) % PIECES.length] ?? "")),
  ),
].slice(0, 2000);

/** Characters that nobody sees, or that see to what is seen. */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

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
    drift: [{ address, kind: "pools", name, what: "changed", diffs: [diff] }],
    unmanaged: [{ kind: "pools", name, id: name }],
    guards: [{ diagnostic: found, addresses: [address] }],
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
    { ...one, result: "blocked", because: address },
  ] as const;
  return { changes, diagnostics: [diagnostic], interrupted: false, elapsedMs: 1 };
}

function outputs(name: string): Readonly<Record<string, string>> {
  const hostile = hostilePlan(name);
  const plan = planView(hostile, registry);
  const drift = driftView(hostile, 1, registry);
  const outcome = hostileOutcome(name);
  const view = outcomeView(outcome);
  const graph = graphOf([{ address: addressOf("pools", name), dependsOn: [addressOf("pools", `${name}2`)] }]);
  let progress = "";
  const lines = plainProgress({ colors: plain, write: (text) => (progress += text) });
  const [applied] = outcome.changes;
  if (applied !== undefined) lines.apply({ type: "apply_complete", outcome: applied });
  lines.apply({ type: "apply_waiting", address: addressOf("pools", name), kind: "pools", what: name });
  return {
    planText: planText(plan, plain),
    planMarkdown: planMarkdown(plan).text,
    planJson: printableJson(planJson(plan, run), 2),
    driftText: driftText(drift, plain),
    driftMarkdown: driftMarkdown(drift).text,
    driftJson: printableJson(driftReportJson(drift, run)),
    outcomeText: outcomeText(view, plain),
    outcomeMarkdown: outcomeMarkdown(view).text,
    outcomeJson:
      outcome.changes.map((change) => printableJson(changeOutcomeJson(change))).join("\n") +
      printableJson(outcomeJson(view)),
    planHtml: planHtml(plan),
    driftHtml: driftHtml(drift),
    troubleHtml: failureHtml(name, plan.diagnostics),
    planJunit: planJunit(plan),
    driftJunit: driftJunit(drift),
    outcomeJunit: outcomeJunit(view),
    findingsJunit: findingsJunit(name, name, plan.diagnostics),
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

const tags = (text: string) => text.split(/[<>]/).length;
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
    ...(/::|##\w*\[/.test(text) ? [`${output}: command`] : []),
    ...(/(Html|Junit)$/.test(output) && tags(text) !== tags(harmless[output] ?? "")
      ? [`${output}: other tags`]
      : []),
    ...(shape(text) === shape(harmless[output] ?? "") ? [] : [`${output}: other lines`]),
  ]);
  const { resource_changes } = JSON.parse(shown.planJson ?? "") as {
    resource_changes: readonly { name: string }[];
  };
  const back = resource_changes[0]?.name === name ? [] : ["planJson: read back as another name"];
  return [...leaks, ...back].map((leak) => `${leak} of ${JSON.stringify(name)}`);
}

export const OUTPUTS: readonly string[] = Object.keys(outputs("harmless"));
