// The Markdown form of a plan: what goes comes first, and a cut never hides it.

import { describe, expect, test } from "vitest";
import { type Address, addressOf, remoteId } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { ApplyOutcome } from "../../../src/planner/model/plan.ts";
import { registry as realRegistry } from "../../../src/providers/index.ts";
import { driftMarkdown } from "../../../src/report/format/drift-markdown.ts";
import { driftText } from "../../../src/report/format/drift-text.ts";
import { outcomeMarkdown } from "../../../src/report/format/outcome-markdown.ts";
import { planMarkdown } from "../../../src/report/format/plan-markdown.ts";
import { driftHtml } from "../../../src/report/html/drift-html.ts";
import { outcomeHtml } from "../../../src/report/html/outcome-html.ts";
import { html } from "../../../src/report/html/page.ts";
import { planHtml } from "../../../src/report/html/plan-html.ts";
import { markdownText } from "../../../src/report/text/printable.ts";
import { SUMMARY_SIZE } from "../../../src/report/text/shorten-markdown.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";
import { briefDifference } from "../../../src/report/view/change-groups.ts";
import { outcomeView } from "../../../src/report/view/outcome-view.ts";
import { type PlanView, planView } from "../../../src/report/view/plan-view.ts";
import { teamDrift, teamPlan, teamView } from "../html/team-plan.ts";
import { create, everything, INFO, noop, planOf, remove, replace, secret, update, viewOf } from "../plans.ts";
import { richOutcome } from "../rich.ts";

const markdown = (plan: Parameters<typeof viewOf>[0]) => planMarkdown(viewOf(plan)).text;
const each = (plan: Parameters<typeof viewOf>[0]) => planMarkdown({ ...viewOf(plan), expand: true }).text;
const many = (number: number) =>
  Array.from({ length: number }, (_, at) => ({
    ...create,
    address: addressOf("pools", `p${at}`),
    name: `p${at}`,
  }));

/** Parts of changes that differ by a number. */
const poolAt = (at: number) => ({ address: addressOf("pools", `p${at}`), name: `p${at}` });
const secretAt = (at: number) => ({ address: addressOf("secrets", `etl/s${at}`), name: `etl/s${at}` });
const diffsOf = (at: number) => [
  { path: ["max_capacity"], before: at, after: at + 1, cause: "spec", replaces: false },
];
const compare = {
  ...secret,
  action: "compare",
  id: remoteId("1"),
  before: {},
  fingerprint: "f",
  steps: [],
  source: "env",
};

describe("plan as Markdown", () => {
  test("deletions come before creations", () => {
    const shown = markdown(everything);
    expect(shown.indexOf("pools.gone")).toBeLessThan(shown.indexOf("pools.new"));
  });

  test("drift shows the diff of a content unless a change reverts it", () => {
    const content = { lines: ["-print(1)", "+print(2)"], added: 1, removed: 1 };
    const drift = (address: Address) =>
      ({ address, kind: "pools", name: "a", what: "changed", diffs: [], content }) as const;
    const reverted = planOf([update], { drift: [drift(update.address)] });
    expect(markdown(reverted)).not.toContain("+print(2)");
    expect(planHtml(viewOf(reverted))).not.toContain("print(2)");
    const matching = planOf([update], { drift: [drift(addressOf("pools", "same"))] });
    expect(markdown(matching)).toContain("  -print(1)\n  +print(2)");
    expect(planHtml(viewOf(matching))).toContain("print(2)");
  });

  test("a replace that keeps the old object destroys nothing and needs attention", () => {
    expect(markdown(planOf([replace]))).toContain("### Destroys: 1 resource");
    const kept = markdown(planOf([{ ...replace, keepsOld: true } as typeof replace]));
    expect(kept).toContain("### Needs attention: 1 resource");
    expect(kept).not.toContain("Destroys");
  });

  test("the marker comes first, then the title, the verdict, the run, the side effects, and the reason", () => {
    const { text } = planMarkdown(viewOf(everything), INFO);
    expect(text.split("\n").slice(0, 15)).toEqual([
      "<!-- workspace:prod -->",
      "",
      "## Plan: 2 to create, 1 to update, 1 to replace, 1 to delete.",
      "",
      "> [!CAUTION]",
      "> **Blocked by GUARD_PREVENT_DESTROY.**",
      "",
      "Workspace `https://ws.example.com` · target prod · commit fedcba98fedc · workspace 1.2.3 · 2026-11-22T08:00:00Z · [run](https://ci.example.com/runs/7)",
      "",
      "- **Side effects**: pools.shared: 2 running clusters restart",
      "",
      "> **error** `GUARD_PREVENT_DESTROY` pools.gone would be deleted, but prevent_destroy is set — take it away",
      "",
      "### Destroys: 2 resources",
      "",
    ]);
    expect(text).toContain("| **total** | **2** | **1** | **1** | **1** |");
  });

  test("a side effect of one deletion is only in the section of what is destroyed", () => {
    const lost = { ...remove, consequences: ["its run history is no longer available"] };
    const { text } = planMarkdown(viewOf(planOf([update, lost])));
    expect(text.match(/its run history is no longer available/g)).toHaveLength(1);
    expect(text).toContain("- **Side effects**: pools.shared: 2 running clusters restart\n");
    expect(text.slice(text.indexOf("### Destroys"))).toContain("  - ⚠ its run history");
  });

  test("the cost of a plan follows its label without a second heading", () => {
    const { text } = planMarkdown({ ...viewOf(everything), costTotal: "+1.00 USD per hour always." });
    expect(text).toContain("- **Cost**: +1.00 USD per hour always.\n");
  });

  test("a deletion shows why, unless nothing but the spec is why", () => {
    const because = (reasons: readonly string[]) =>
      planMarkdown(viewOf(planOf([{ ...remove, reasons }]))).text;
    expect(because(["a resource that it depends on is destroyed"])).toContain(
      "  - because a resource that it depends on is destroyed",
    );
    expect(because(["it is no longer in the spec"])).not.toContain("because");
  });

  test("a side effect of a deletion that is not open is also among the side effects", () => {
    const deletions = Array.from({ length: 12 }, (_, at) => ({
      ...remove,
      address: addressOf("pools", `p${at}`),
      consequences: at === 11 ? ["the last one stops"] : [],
    }));
    const { text } = planMarkdown(viewOf(planOf(deletions)));
    expect(text).toContain("- **Side effects**: pools.p11: the last one stops\n");
  });

  test("changes that destroy, are guarded, or have side effects are expanded, and the others are collapsed by kind", () => {
    const { text } = planMarkdown(viewOf(everything), INFO);
    const expanded = text.slice(0, text.indexOf("<details>"));
    for (const address of ["pools.old", "pools.gone", "pools.shared"]) expect(expanded).toContain(address);
    for (const address of ["pools.new", "pools.theirs"]) expect(expanded).not.toContain(address);
    expect(text).toContain("<details><summary><b>pools</b>: 1 to create</summary>");
    expect(text).toContain("<details><summary>Drift since the last apply: 1 resource</summary>");
  });

  test("a comment of any size has its destroys and access changes open, and at most ten changes with their differences", () => {
    for (const size of [165, 3552]) {
      const { text } = planMarkdown(teamView(size, true), INFO);
      const open = text.slice(0, text.indexOf("<details>"));
      const blocks = open.match(/^- \*\*(DELETE|update|create|replace)\*\* `/gm) ?? [];
      expect(blocks.length).toBeLessThanOrEqual(10);
      expect(open).toMatch(/^- \*\*update\*\* \d+ acls: /m);
      expect(open).toMatch(/^> \*\*\d+ warnings\*\* `SPEC_SECRET_UNSET` /m);
      expect(open.split("\n").length).toBeLessThan(70);
    }
  });

  test("access changes that share a line have their differences there, each if they are few, or counted, so that no right is only in a closed block", () => {
    const lineOf = (view: PlanView, kind: string) =>
      new RegExp(`^- \\*\\*update\\*\\* \\d+ ${kind}: .*$`, "m").exec(planMarkdown(view, INFO).text)?.[0] ??
      "";
    const { changes, ...rest } = teamPlan(300);
    const groups = changes.filter(({ kind }) => kind === "groups");
    const few = planView({ ...rest, changes: groups, diagnostics: [] }, realRegistry);
    expect(lineOf(few, "groups").match(/`\+ members\.users: bob-\d+@example\.com`/g)).toHaveLength(5);
    expect(lineOf(teamView(3_552, true), "groups")).toMatch(
      / (\d+) groups: `members\.users` in \1 \(`groups\./,
    );
    expect(lineOf(teamView(165, true), "acls")).toContain("`permission: READ → WRITE`");
  });

  test("secrets that an apply compares are one line outside of the access changes, and Needs attention counts every change", () => {
    const compares = Array.from(
      { length: 12 },
      (_, at) => ({ ...compare, ...secretAt(at) }) as unknown as Change,
    );
    const risky = Array.from(
      { length: 12 },
      (_, at) => ({ ...update, ...poolAt(at), diffs: diffsOf(at) }) as unknown as Change,
    );
    const view = viewOf(planOf([...compares, ...risky]));
    const { text } = planMarkdown(view);
    const open = text.slice(0, text.indexOf("<details>"));
    expect(open).toContain("- **Secrets not compared**: 12\n");
    expect(open).not.toContain("### Access");
    expect(open).not.toContain("**compare**");
    expect(open).toContain("### Needs attention: 12 resources");
    expect(open.match(/^- \*\*update\*\* `pools\.p\d+`/gm)).toHaveLength(10);
    expect(open).toContain("- **update** 2 pools: `pools.p10`, `pools.p11`\n");
    expect(text).toContain("<details><summary>All changes that need attention: 12 resources</summary>");
    const page = planHtml(view);
    expect(page).toContain("<dt>Secrets</dt><dd>Not compared: 12<");
    expect(page).not.toContain("<dt>Access</dt>");
    expect(page).toContain('<span class="address">12 secrets</span>');
  });

  test("a missing record of who changed objects is reported once for all drift, in the comment and on the page", () => {
    const view = teamView(165);
    const drift = teamDrift(165);
    for (const text of [
      planMarkdown(view, INFO).text,
      planHtml(view),
      driftMarkdown(drift).text,
      driftHtml(drift),
    ]) {
      expect(text.match(/does not record who/g)).toHaveLength(1);
      expect(text.match(/created by ada/g)?.length).toBeGreaterThan(0);
    }
  });

  test("equal changes are one block with all their names", () => {
    const text = markdown(planOf(many(4)));
    expect(text).toContain("- **create** 4 pools: `pools.p0`, `pools.p1`, `pools.p2`, `pools.p3`\n");
    expect(text.match(/\+ node_type_id: small/g)).toHaveLength(1);
  });

  test("the fence has + for what comes, - for what goes, and ! for what changes", () => {
    const text = markdown(everything);
    expect(text).toContain("  + node_type_id: small\n");
    expect(text).toContain("  ! max_capacity: 10 → 50\n");
    expect(text).toMatch(/ {2}- versions: a {2}# changed outside\n {2}\+ c\n/);
    const long = "x".repeat(80);
    const diff = { path: ["node_type_id"], before: long, after: `${long}y`, cause: "spec", replaces: false };
    const wide = markdown(planOf([{ ...update, diffs: [diff] } as typeof update]));
    expect(wide).toContain(`  - node_type_id: ${long}\n  + node_type_id: ${long}y`);
  });

  test("a plan that is too long keeps its deletions and says what was omitted", () => {
    const shown = each(planOf([...many(5000), remove]));
    // A comment on GitHub has at most 65,536 characters; the pipeline adds to them.
    expect(shown.length).toBeLessThanOrEqual(65_000);
    expect(shown.length).toBeGreaterThan(60_000);
    expect(shown).toContain("pools.gone");
    expect(shown).toMatch(
      /\*\*Shortened to fit\*\*: \d[\d,]* changes left out; [\d,]+ changes shown without details/,
    );
  });

  test("a plan that is too long keeps the table of its changes by kind", () => {
    const { text, cut } = planMarkdown(teamView(3_552));
    expect(cut).toBe(true);
    expect(text).toContain("<details><summary>By kind</summary>");
    expect(text).toContain("| **total** | **709** | **2,748** | **95** |");
  });

  test("a change of access has its differences in one line, without the word that is in the heading", () => {
    const entitled = {
      path: ["entitlements"],
      before: ["allow-cluster-create"],
      after: ["allow-instance-pool-create"],
      cause: "spec",
      replaces: false,
    };
    const base = teamPlan(165);
    const [group] = base.changes.filter(({ kind }) => kind === "groups");
    const user = {
      ...group,
      kind: "users",
      name: "ada@example.com",
      address: addressOf("users", "ada@example.com"),
      diffs: [entitled],
    } as typeof update;
    const { text } = planMarkdown(planView({ ...base, changes: [user] }, realRegistry));
    expect(text).toContain(
      "- **update** `users.ada@example.com`: `- entitlements: allow-cluster-create`, `+ allow-instance-pool-create`\n",
    );
    expect(text).not.toContain("# security");
  });

  test("the details of what is destroyed stay longer than the lines of the rest", () => {
    const shown = each(planOf([...many(5000), replace]));
    expect(shown).toContain("`node_type_id: small → large  # forces replacement`");
  });

  test("the summary of a job has room for what a comment leaves out", () => {
    const view = { ...viewOf(planOf([...many(2000), remove])), expand: true };
    expect(planMarkdown(view, INFO, SUMMARY_SIZE)).toMatchObject({ cut: false });
    const { text, cut } = planMarkdown(
      { ...viewOf(planOf([...many(20_000), remove])), expand: true },
      INFO,
      SUMMARY_SIZE,
    );
    expect(cut).toBe(true);
    // A summary on GitHub has at most 1 MiB.
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000_000);
  });

  test("a name cannot leave its code span, mention anyone, or close a tag", () => {
    const evil = "a`b</details>@all|x\n# y";
    const shown = markdown(planOf([{ ...remove, address: addressOf("pools", evil), name: evil }]));
    expect(shown).toContain("``pools.a`b</details>@all|x\\n# y``");
  });

  test("a value cannot close the fence of its block", () => {
    const shown = markdown(planOf([{ ...create, after: { node_type_id: "x ``` y" } } as typeof create]));
    expect(shown).toContain("````diff");
  });
});

describe("findings of an outcome and of drift as Markdown", () => {
  const unset = Array.from({ length: 50 }, (_, at) =>
    warning("PLAN_UNKNOWN_NAME", `jobs.job-${at}: notebook_task.notebook_path is not a notebook`, {
      address: addressOf("jobs", `job-${at}`),
    }),
  );

  test("equal warnings are one quote, and each of them is in a closed block", () => {
    for (const { text } of [
      outcomeMarkdown(outcomeView(richOutcome, unset)),
      driftMarkdown({ ...teamDrift(165), diagnostics: unset }),
    ]) {
      const open = text.slice(0, text.indexOf("<details>"));
      expect(open.match(/PLAN_UNKNOWN_NAME/g)).toHaveLength(1);
      expect(open).toContain("> **50 warnings** `PLAN_UNKNOWN_NAME`");
      expect(text).toContain("<details><summary>All 50 warnings PLAN_UNKNOWN_NAME</summary>");
      expect(text).toContain("jobs.job-49: notebook_task");
    }
  });
});

describe("a plan or an apply that did not succeed", () => {
  const lost = error("STATE_LOCK_LOST", "the lock on the state was lost", { hint: "run it again" });
  const failed = Array.from({ length: 12 }, (_, at) => ({
    ...poolAt(at),
    kind: "pools",
    action: "create",
    result: "failed",
    elapsedMs: 5,
    diagnostic: { ...lost, address: poolAt(at).address },
  }));
  const outcome = { changes: failed, diagnostics: [], interrupted: false, elapsedMs: 200 };
  const view = outcomeView(outcome as unknown as ApplyOutcome);

  test("has its verdict first in the title of its page and its comment", () => {
    expect(planHtml(viewOf(everything))).toContain("<h1>Blocked: 2 to create, 1 to update");
    expect([...outcomeHtml(view, INFO)].join("")).toContain("<h1>Failed after 0.2 s: 12 failed; 0 created, ");
    expect(outcomeMarkdown(view).text).toContain("## Failed after 0.2 s: 12 failed; 0 created, ");
  });

  test("has a cause of several failures once, and closed cards for them", () => {
    const page = [...outcomeHtml(view, INFO)].join("");
    expect(page).toContain('<dt>Failed</dt><dd>12 pools: <a href="#pools.p0">pools.p0</a>, ');
    expect(page).toContain(
      "<strong>STATE_LOCK_LOST</strong> the lock on the state was lost; hint: run it again</p>",
    );
    expect(page.match(/class="note error"/g)).toHaveLength(12);
    expect(page).not.toMatch(/<details class="delete item"[^>]* open>/);
    const { text } = outcomeMarkdown(view);
    expect(text.match(/the lock on the state was lost/g)).toHaveLength(1);
    expect(text).toContain("`pools.p0`, `pools.p1`, `pools.p2`, `pools.p3`, `pools.p4`, and 7 more");
  });

  test("has one cause for requests that differ in their attempts, and one for changes that a stop left out", () => {
    const unknown = failed.map((item, at) => ({
      ...item,
      result: "unknown",
      diagnostic: { ...lost, cause: `secrets/put failed, ${at} attempts in ${at} s: no answer` },
    }));
    const stopped = failed.map((item) => ({
      ...item,
      result: "skipped",
      diagnostic: error("APPLY_INTERRUPTED", `${item.address} was not started because the run was stopped`),
    }));
    for (const [changes, sentence] of [
      [unknown, "12 changes unknown: the lock on the state was lost"],
      [stopped, "12 changes skipped: the run was stopped"],
    ] as const) {
      const view = outcomeView({ ...outcome, changes } as unknown as ApplyOutcome);
      const { text } = outcomeMarkdown(view);
      expect(text.slice(0, text.indexOf("<details>"))).toContain(sentence);
      expect(text.slice(0, text.indexOf("<details>")).match(/pools\.p0/g)).toHaveLength(1);
      expect([...outcomeHtml(view, INFO)].join("")).not.toMatch(
        /<details class="(delete|update) item"[^>]* open>/,
      );
    }
  });

  test("an apply names what it destroyed and whose access it changed before its changes, which have their first difference", () => {
    const plan = viewOf(everything);
    const changes = plan.touching.map(({ address, kind, action }) => ({
      ...{ address, kind, action, result: "applied", elapsedMs: 5 },
    }));
    const view = outcomeView({ ...outcome, changes } as unknown as ApplyOutcome, [], plan);
    const page = [...outcomeHtml(view, INFO)].join("");
    const destroyed = plan.touching.filter(({ destroys }) => destroys);
    expect(destroyed.length).toBeGreaterThan(0);
    expect(page).toContain("<dt>Destroyed</dt>");
    expect(page).toContain(`<h2>Destroyed: ${destroyed.length} changes</h2>`);
    expect(page.indexOf("<h2>Destroyed: ")).toBeLessThan(page.indexOf("<h2>Applied: "));
    const { text } = outcomeMarkdown(view);
    expect(text).toMatch(/^- \*\*Destroyed\*\*: /m);
    for (const { address } of destroyed) expect(text).toContain(`\`${address}\``);
    const briefs = plan.touching.map(({ fields }) => briefDifference(fields)).filter((brief) => brief !== "");
    expect(briefs.length).toBeGreaterThan(0);
    for (const brief of briefs) expect(page).toContain(html`<span class="remark">${brief}</span>`.html);
  });

  test("says what to do next, and a pipeline is not told to run a command", () => {
    const local = { ...INFO, runUrl: undefined };
    expect(outcomeMarkdown(view, local).text).toMatch(
      /^- \*\*Next\*\*: fix the causes, then run the same command again/m,
    );
    expect([...outcomeHtml(view, INFO)].join("")).toContain(
      "<dt>Next</dt><dd>fix the causes, then run the pipeline again",
    );
    const team = { ...teamView(8), refusal: undefined };
    const next = (info: typeof INFO & Record<string, unknown>) =>
      /^- \*\*Next\*\*: (.*)$/m.exec(planMarkdown(team, info).text)?.[1];
    expect(next({ ...local, spec: "/builds/lake/workspace.yaml", target: "dev" })).toBe(
      "to make these changes, run `workspace apply --target dev`",
    );
    expect(next({ ...local, spec: "/builds/lake/prod.yaml", target: undefined, partial: "--only" })).toBe(
      "to make these changes, run `workspace apply --file prod.yaml` with the same --only",
    );
    expect(next({ ...INFO, runUrl: "https://ci.test/7" })).toMatch(/^review and approve; /);
    const unchanged = planOf([noop]);
    expect(planMarkdown(viewOf(unchanged), local).text).not.toContain("**Next**");
    const marks = [{ reported: false, declared: true }];
    const recording = viewOf({ ...unchanged, drift: everything.drift.map((item) => ({ ...item, marks })) });
    expect(planMarkdown(recording, local).text).toContain(
      "- **Next**: to record the drift, run `workspace apply",
    );
    expect(planMarkdown(recording, { ...INFO, runUrl: "https://ci.test/7" }).text).toMatch(
      /then records the drift$/m,
    );
    const onlyDeletes = viewOf(planOf(everything.changes.filter(({ action }) => action === "delete")));
    expect(planHtml({ ...onlyDeletes, refusal: undefined })).not.toContain("<dt>Next</dt>");
    expect(planHtml({ ...team, modes: ["offline"] })).not.toContain("<dt>Next</dt>");
    expect(planHtml(viewOf(everything))).not.toContain("<dt>Next</dt>");
  });
});

describe("a report of a run", () => {
  const drift = teamDrift(165);

  test("names its actor and its caller on the page and in the comment", () => {
    const info = { ...INFO, actor: "ada", caller: "ci@example.com" };
    expect(driftHtml(drift, info)).toContain("<span>by ada as ci@example.com</span>");
    expect(driftMarkdown(drift, info).text).toContain(markdownText("by ada as ci@example.com"));
    expect(driftHtml(drift, { ...info, caller: "ada" })).toContain("<span>by ada</span>");
  });

  test("of drift says how to undo, keep, and acknowledge it", () => {
    for (const text of [driftHtml(drift, INFO), driftMarkdown(drift, INFO).text])
      for (const command of ["apply", "drift accept", "drift acknowledge"])
        expect(text).toMatch(new RegExp(`(<code>|\`)workspace ${command}`));
    expect(driftHtml({ ...drift, drift: [] })).not.toContain("<dt>Next</dt>");
  });

  test("of drift has deleted objects first, and equal differences once with each name", () => {
    const [changed] = drift.drift.filter(({ what, fields }) => what === "changed" && fields.length === 1);
    if (changed === undefined) throw new Error("the sample drift changes no single field");
    const equal = Array.from({ length: 12 }, (_, at) => ({ ...changed, address: `pools.p${at}` }));
    const deleted = { ...changed, address: "pools.lost", what: "deleted", fields: [] } as const;
    const shown = [...equal, deleted];
    const { text } = driftMarkdown({ ...drift, drift: shown, shown });
    const page = driftHtml({ ...drift, drift: shown, shown });
    for (const { address } of shown) expect(text).toContain(`\`${address}\``);
    const open = text.replaceAll(/<details>[\s\S]*?<\/details>/g, "");
    expect(open.match(/^- \*\*\w+\*\* \S+/gm)).toEqual(["- **deleted** `pools.lost`", `- **changed** 12`]);
    expect(text).toContain("`pools.p9`, and 2 more");
    expect(page.match(/<details class="\w+ item"/g)).toHaveLength(2);
    expect(page.indexOf('id="pools.lost"')).toBeLessThan(page.indexOf('id="pools.p0"'));
    expect(page).toContain('<li id="pools.p11"><code>pools.p11</code>');
  });

  test("of drift has equal deleted objects once, with each name, in the comment, on the page, and in text", () => {
    const [changed] = drift.drift;
    if (changed === undefined) throw new Error("the sample drift changes nothing");
    const gone = { ...changed, what: "deleted", fields: [], remark: "", remarks: [] } as const;
    const shown = Array.from({ length: 30 }, (_, at) => ({
      ...gone,
      address: `pools.p${at}`,
      kind: "pools",
    }));
    const view = { ...drift, drift: shown, shown };
    expect(driftMarkdown(view).text).toContain("- **deleted** 30 pools");
    expect(driftHtml(view).match(/<details class="\w+ item"/g)).toHaveLength(1);
    expect(driftText(view, colorsFor(false)).match(/- deleted/g)).toHaveLength(1);
  });

  test("of drift has what is acknowledged last", () => {
    const [changed] = drift.drift.filter(({ what }) => what === "changed");
    if (changed === undefined) throw new Error("the sample drift changes nothing");
    const acknowledged = { ...changed, address: "pools.known", what: "deleted", open: undefined } as const;
    const shown = [acknowledged, { ...changed, address: "pools.new", open: "other" } as const];
    const view = { ...drift, drift: shown, shown };
    for (const text of [driftMarkdown(view).text, driftHtml(view)])
      expect(text.lastIndexOf("pools.new")).toBeLessThan(text.lastIndexOf("pools.known"));
  });
});
