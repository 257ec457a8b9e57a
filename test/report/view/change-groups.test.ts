// Equal changes, side effects, and findings are read once. Deletions and changes of access are never in a group.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { warning } from "../../../src/core/diagnostic.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { planMarkdown } from "../../../src/report/format/plan-markdown.ts";
import { planText } from "../../../src/report/format/plan-text.ts";
import { planHtml } from "../../../src/report/html/plan-html.ts";
import { foldDiagnostics } from "../../../src/report/text/diagnostic-text.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";
import {
  briefDifference,
  foldChanges,
  foldEffects,
  groupNames,
  groupTitle,
  kindCounts,
} from "../../../src/report/view/change-groups.ts";
import { planView } from "../../../src/report/view/plan-view.ts";
import { teamView } from "../html/team-plan.ts";
import { planOf, update, viewOf } from "../plans.ts";

const view = teamView(165);
const { touching } = view;

describe("equal changes", () => {
  const groups = foldChanges(touching);

  test("a group has one kind, action, and difference, and every change is in one group", () => {
    expect(groups.flat()).toHaveLength(touching.length);
    expect(new Set(groups.flat()).size).toBe(touching.length);
    for (const group of groups)
      expect(
        new Set(group.map(({ kind, action, fields }) => JSON.stringify([kind, action, fields]))).size,
      ).toBe(1);
    expect(groups.map(groupTitle).slice(0, 3)).toEqual(["15 clusters", "30 clusters", "16 jobs"]);
  });

  test("deletions and changes of access are never in a group", () => {
    for (const group of groups.filter(({ length }) => length > 1))
      expect(group.some(({ destroys, severity }) => destroys || severity === "security")).toBe(false);
  });

  test("changes of access are in a group where a form asks for it, and deletions are not", () => {
    const all = foldChanges(touching, { foldsAccess: true }).filter(({ length }) => length > 1);
    expect(all.some(([{ severity }]) => severity === "security")).toBe(true);
    expect(all.flat().some(({ destroys }) => destroys)).toBe(false);
  });

  test("text shows equal changes of access once and names each address, and a comment shows their difference", () => {
    const source = touching.find(({ kind }) => kind === "acls")?.source;
    if (source === undefined) throw new Error("the plan has no access control entry");
    const changes = Array.from({ length: 7 }, (_, at): Change => {
      const name = `etl/user-${at}`;
      return { ...source, address: addressOf("acls", name), name };
    });
    const own = planView(planOf(changes), everyKind);
    const text = planText(own, colorsFor(false));
    expect(text).toMatch(/ update {3}7 acls {2}\(acls\.etl\/user-0, .*acls\.etl\/user-6\)\n/);
    expect(text.match(/READ → WRITE/g)).toHaveLength(1);
    expect(planMarkdown(own).text).toMatch(
      /- \*\*update\*\* 7 acls: `permission: READ → WRITE` of `acls\.etl\/user-0`, .*`acls\.etl\/user-6`\n/,
    );
  });

  test("two equal changes stand apart, and with expand all do", () => {
    expect(groups.map(({ length }) => length)).not.toContain(2);
    expect(foldChanges(touching, { expand: true }).every(({ length }) => length === 1)).toBe(true);
  });

  test("the name of a member of a group is its key, also if it contains the name of the kind", () => {
    const changes = ["a", "old-pools.b", "c"].map(
      (key): Change => ({ ...update, address: addressOf("pools", key), name: key }),
    );
    const [group] = foldChanges(viewOf(planOf(changes)).touching);
    expect(group && groupNames(group, 9)).toBe("a, old-pools.b, c");
  });

  test("groups keep the order of the plan", () => {
    const positions = groups.map(([first]) => touching.indexOf(first));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  test("a group names some of its changes and counts the others", () => {
    const [first] = groups;
    expect(first === undefined ? "" : groupNames(first, 2)).toBe("ads-0, data-3, and 13 more");
    expect(kindCounts(touching.slice(0, 9))).toBe("6 clusters, 2 jobs, 1 pool");
  });

  test("text has a line that says how to see each of them, and with expand it has each of them", () => {
    const folded = planText(view, colorsFor(false));
    expect(folded).toContain(
      "  ~ update   15 clusters  (ads-0, data-3, ads-21, data-24, ads-42, and 10 more)\n",
    );
    expect(folded).toContain("Equal changes are shown once; `--expand` shows each of them.");
    const expanded = planText({ ...view, expand: true }, colorsFor(false));
    expect(expanded.match(/^ {2}~ update {3}clusters\.\w+-\d+$/gm)?.length).toBeGreaterThan(50);
    expect(expanded).not.toContain("--expand");
  });
});

describe("an update that also moves its record", () => {
  const moved = ["a", "b", "c"].map((name): Change => {
    const address = addressOf("pools", name);
    return { ...update, address, name, movedFrom: addressOf("pools", `old-${name}`) };
  });
  const formsOf = (changes: readonly Change[]) => {
    const view = viewOf(planOf(changes));
    return [planText(view, colorsFor(false)), planMarkdown(view).text, planHtml(view)];
  };

  test("names the former address next to the address in text, Markdown, and HTML", () => {
    const [text, markdown, html] = formsOf(moved.slice(0, 1));
    expect(text).toContain("  ~ update   pools.a  (moved from pools.old-a; ");
    expect(markdown).toContain("- **update** `pools.a` (moved from pools.old-a; ");
    expect(html).toContain(">moved from pools.old-a; ");
  });

  test("is in a group with equal updates, and each has its former address", () => {
    const [text, markdown, html] = formsOf(moved);
    const names = "a (moved from old-a), b (moved from old-b), c (moved from old-c)";
    expect(text).toContain(`  ~ update   3 pools  (${names}; `);
    expect(markdown).toContain("`pools.a` (moved from `pools.old-a`), `pools.b` (moved from `pools.old-b`)");
    expect(html).toContain(names);
  });
});

describe("side effects", () => {
  test("the same sentence about objects of one kind is one line, the most frequent first", () => {
    expect(foldEffects(touching).map(({ subject, sentence }) => `${subject}: ${sentence}`)).toEqual([
      "50 clusters: the cluster is running and restarts to apply the changes",
      "17 clusters: 1 active run on it stops",
      "3 jobs: its run history is no longer available",
      "2 clusters: the cluster is running and is permanently deleted",
    ]);
  });
});

describe("findings", () => {
  test("three with one code are a group, two are not, and errors come first", () => {
    const finding = (code: "SPEC_CRON" | "SPEC_EMPTY", number: number) => warning(code, `message ${number}`);
    const all = [1, 2, 3].map((number) => finding("SPEC_CRON", number));
    const others = [4, 5].map((number) => finding("SPEC_EMPTY", number));
    expect(foldDiagnostics([...all, ...others]).map(({ length }) => length)).toEqual([3, 1, 1]);
    const failed = { ...finding("SPEC_EMPTY", 6), severity: "error" as const };
    expect(foldDiagnostics([...all, failed])[0]).toEqual([failed]);
  });
});

describe("a difference in a few words", () => {
  test("names the first field with its values, counts the others, and leaves out long values", () => {
    const line = (label: string, was: string, text: string) => ({ label, was, text });
    expect(briefDifference([line("size", "1", "2")])).toBe("size 1 → 2");
    expect(briefDifference([line("size", "1", "2"), line("name", "a", "b")])).toBe(
      "size 1 → 2, and 1 more field",
    );
    expect(briefDifference([line("code", "x".repeat(70), "y")])).toBe("code");
    expect(briefDifference([{ label: "value", text: "(sensitive)" }])).toBe("");
    const ada = { label: "members.users", sign: "+", text: "ada" } as const;
    expect(briefDifference([ada])).toBe("members.users + ada");
    expect(briefDifference([ada, { label: "", sign: "-", text: "bob" }, line("name", "a", "b")])).toBe(
      "members.users + ada, and 1 more, and 1 more field",
    );
  });
});
