// A plan as text for a terminal: every change in its order, then what is off, what objects, what is lost, and one line that sums up.

import { count, listed } from "../core/words.ts";
import type { Change } from "../planner/change.ts";
import type { Drift, Plan } from "../planner/plan.ts";
import type { Registry } from "../resource/registry.ts";
import { type ChangeView, changeView } from "./change-view.ts";
import type { Colors, Paint } from "./color.ts";
import { contentBlock } from "./content-lines.ts";
import { diagnosticText } from "./diagnostic-text.ts";
import { driftLines } from "./drift-text.ts";
import { fieldBlock } from "./field-block.ts";
import { printable } from "./printable.ts";
import { changesAnything, destroys, kindTable, refusalLine, summaryLine } from "./summary.ts";

export function planText(plan: Plan, registry: Registry, colors: Colors): string {
  const sections = [
    changesSection(plan, registry, colors),
    driftSection(plan, registry, colors),
    unmanagedSection(plan, colors),
    diagnosticsSection(plan, colors),
    tableSection(plan, colors),
    lossSection(plan, colors),
    summarySection(plan, colors),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function changesSection(plan: Plan, registry: Registry, colors: Colors): readonly string[] {
  const shown = plan.changes.filter((change) => change.action !== "noop" && change.action !== "report");
  const lines: string[] = [];
  let kind = "";
  let roomy = false;
  for (const change of shown) {
    const block = changeLines(changeView(change, registry), colors);
    if (lines.length > 0 && (roomy || block.length > 1 || change.kind !== kind)) lines.push("");
    lines.push(...block);
    roomy = block.length > 1;
    kind = change.kind;
  }
  return lines;
}

export function changeLines(view: ChangeView, colors: Colors): readonly string[] {
  const paint = paintOf(view.action, colors);
  const remarks = view.remarks.length === 0 ? "" : colors.dim(`  (${view.remarks.join("; ")})`);
  const verb = view.action === "delete" ? `${colors.alarm(view.verb)}  ` : view.verb.padEnd(8);
  return [
    `  ${paint(view.sign)} ${paint(verb)} ${colors.bold(view.address)}${remarks}`,
    ...fieldBlock(view.fields, colors),
    ...contentBlock(view.content, colors),
    ...view.reasons.map((reason) => colors.dim(`      because ${reason}`)),
    ...view.consequences.map((sentence) => `      ${colors.yellow("!")} ${sentence}`),
  ];
}

function paintOf(action: ChangeView["action"], colors: Colors): Paint {
  switch (action) {
    case "create":
      return colors.green;
    case "update":
      return colors.yellow;
    case "replace":
      return colors.magenta;
    case "delete":
      return colors.red;
    case "adopt":
    case "forget":
      return colors.cyan;
    case "noop":
    case "report":
      return colors.dim;
  }
  return action satisfies never;
}

/** Drift that no change of this plan puts right; the rest is marked at its change. */
function driftSection(plan: Plan, registry: Registry, colors: Colors): readonly string[] {
  const changed = new Set(
    plan.changes.filter((change) => change.action !== "noop").map((change) => change.address),
  );
  const rest = plan.drift.filter((one) => !changed.has(one.address));
  const kept = new Set(plan.changes.map((change) => change.address));
  const [wanted, open] = [
    rest.filter((one) => kept.has(one.address)),
    rest.filter((one) => !kept.has(one.address)),
  ];
  const section = (title: string, drift: readonly Drift[]) =>
    drift.length === 0 ? [] : [colors.bold(title), ...driftLines(drift, registry, colors)];
  return [
    ...section("Changed outside since the last apply, and as the spec wants it:", wanted),
    ...section("Changed outside since the last apply, and not put right by this plan:", open),
  ];
}

/** What is there and not in the spec, a few by name: kind by kind, and what lies inside something by what it lies in. */
function unmanagedSection(plan: Plan, colors: Colors): readonly string[] {
  const strangers = plan.unmanaged.map((one) => ({ group: one.kind, name: one.name }));
  const groups = Map.groupBy([...strangers, ...plan.changes.flatMap(foundInside)], (one) => one.group);
  const lines = [...groups].map(
    ([group, all]) =>
      `${printable(group)} (${listed(
        all.map((one) => printable(one.name)),
        "and",
        5,
      )})`,
  );
  const head = "Not in the spec and left alone:";
  const [only, ...more] = lines;
  if (only === undefined) return [];
  return (more.length === 0 ? [`${head} ${only}.`] : [head, ...lines.map((line) => `  ${line}`)]).map(
    colors.dim,
  );
}

function foundInside({
  action,
  kind,
  name,
}: Change): readonly { readonly group: string; readonly name: string }[] {
  if (action !== "report") return [];
  const slash = name.indexOf("/");
  return [{ group: `${kind} in ${name.slice(0, slash)}`, name: name.slice(slash + 1) }];
}

function diagnosticsSection(plan: Plan, colors: Colors): readonly string[] {
  const all = [...plan.diagnostics, ...plan.guards.map((guard) => guard.diagnostic)];
  return all.map((one) => diagnosticText(one, colors).trimEnd());
}

function tableSection(plan: Plan, colors: Colors): readonly string[] {
  const rows = kindTable(plan.changes);
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row, at) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return at === 0 ? colors.dim(`  ${cells.join("  ")}`) : `  ${cells.join("  ")}`;
  });
}

function summarySection(plan: Plan, colors: Colors): readonly string[] {
  const refusal = refusalLine(plan);
  return [
    colors.bold(summaryLine(plan)),
    ...(refusal === undefined ? [] : [colors.red(colors.bold(refusal))]),
  ];
}

/** What goes, once more, where nobody can miss it. */
function lossSection(plan: Plan, colors: Colors): readonly string[] {
  const going = plan.changes.filter(destroys);
  if (going.length === 0 || !changesAnything(plan)) return [];
  const names = going.map((change) => printable(change.address));
  return [colors.red(`This plan destroys ${count(going.length, "object")}: ${listed(names)}.`)];
}
