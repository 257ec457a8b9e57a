// Annotations, SARIF, and GitLab's reports: valid for their readers, the most severe first, and escaped.

import sarifSchema from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" with { type: "json" };
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { type Diagnostic, error, warning } from "../../../src/core/diagnostic.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { ChangeOutcome } from "../../../src/planner/model/plan.ts";
import { githubAnnotations } from "../../../src/report/format/github-annotations.ts";
import { codeQuality, driftCounts, outcomeCounts, planCounts } from "../../../src/report/format/gitlab.ts";
import {
  driftNotices,
  findingNotices,
  type Notice,
  outcomeNotices,
  planNotices,
} from "../../../src/report/format/notice.ts";
import { sarifReport } from "../../../src/report/format/sarif.ts";
import { repositoryPath } from "../../../src/report/text/source-link.ts";
import { driftView } from "../../../src/report/view/drift-view.ts";
import { outcomeView } from "../../../src/report/view/outcome-view.ts";
import { create, everything, INFO, planOf, registry, remove, replace, viewOf } from "../plans.ts";
import { richOutcome, richPlan } from "../rich.ts";

const rich = viewOf(richPlan);
const drift = driftView(richPlan, 3, registry);
const outcome = outcomeView(richOutcome);
const at = { file: "pools.yaml", line: 3, column: 5 };

/** What the runner of GitHub reads from a line. */
function parsed(line: string) {
  const match = /^::(\w+) ([^:]*)::(.*)$/s.exec(line);
  if (match === null) throw new Error(`not a command: ${line}`);
  const [, name, properties = "", data = ""] = match;
  const undone = (text: string) =>
    text
      .replaceAll("%0D", "\r")
      .replaceAll("%0A", "\n")
      .replaceAll("%3A", ":")
      .replaceAll("%2C", ",")
      .replaceAll("%25", "%");
  return {
    name,
    properties: Object.fromEntries(
      properties.split(",").map((one) => {
        const equals = one.indexOf("=");
        return [one.slice(0, equals), undone(one.slice(equals + 1))];
      }),
    ),
    message: data.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%"),
  };
}

const lines = (text: string) => text.split("\n").filter((line) => line !== "");

describe("GitHub annotations", () => {
  test("name file, line, column, title, and the message with its hint", () => {
    const found = error("SPEC_VALUE", "100% is wrong: a, b", { at, hint: "write 5" });
    const output = githubAnnotations(findingNotices([found]), INFO, []);
    expect(output.split("\n")[0]).toBe(
      "::error file=prod/pools.yaml,line=3,col=5,title=SPEC_VALUE::100%25 is wrong: a, b%0Ahint: write 5",
    );
    expect(parsed(output.split("\n")[0] ?? "")).toEqual({
      name: "error",
      properties: { file: "prod/pools.yaml", line: "3", col: "5", title: "SPEC_VALUE" },
      message: "100% is wrong: a, b\nhint: write 5",
    });
  });

  test("name a file whose path has what could be a command", () => {
    const found = error("SPEC_VALUE", "wrong", { at: { ...at, file: "a::b,c%3A/x.yaml" } });
    const [line = ""] = githubAnnotations(findingNotices([found]), INFO, []).split("\n");
    expect(parsed(line).properties.file).toMatch(/a::b,c%3A\/x\.yaml$/);
    expect(line.match(/::/g)).toHaveLength(2);
  });

  test("start with errors and guards, then deletions and replacements, then warnings", () => {
    const shown = lines(githubAnnotations(planNotices(rich), INFO, [])).map((line) => parsed(line));
    expect(shown.map(({ name, properties }) => `${name} ${properties.title}`)).toEqual([
      "error GUARD_DATA_LOSS",
      "error PLAN_IMMUTABLE",
      "warning GUARD_LOCKOUT",
      ...rich.allChanges.filter((one) => one.destroys).map((one) => `warning ${one.action} ${one.address}`),
      "warning PLAN_UNREADABLE",
      "notice workspace",
    ]);
  });

  test("keep within 10 of each type and say how many more there are", () => {
    const found = [
      ...Array.from({ length: 25 }, (_, n) => warning("SPEC_VALUE", `w${n}`)),
      ...Array.from({ length: 12 }, (_, n) => error("SPEC_VALUE", `e${n}`)),
    ];
    const shown = lines(githubAnnotations(findingNotices(found), INFO, [])).map((line) => parsed(line));
    expect(shown.filter((one) => one.name === "error")).toHaveLength(10);
    expect(shown.filter((one) => one.name === "warning")).toHaveLength(10);
    expect(shown[8]?.message).toBe("e8");
    expect(shown[9]?.message).toMatch(/^3 more errors: /);
    expect(shown.at(-2)?.message).toMatch(/^16 more warnings: /);
  });

  test("keep within 10 notices, the one about the run included", () => {
    const notes = findingNotices(Array.from({ length: 10 }, (_, n) => warning("SPEC_VALUE", `n${n}`)));
    const asNotes = (count: number) =>
      notes.slice(0, count).map((one): Notice => ({ ...one, level: "note" }));
    const shown = (count: number) =>
      lines(githubAnnotations(asNotes(count), INFO, [])).map((line) => parsed(line).properties.title);
    expect(shown(9)).toEqual(["workspace", ...Array(9).fill("SPEC_VALUE")]);
    expect(shown(10)).toEqual(["workspace", ...Array(8).fill("SPEC_VALUE"), "2 more notices"]);
  });

  test("give every title and message back, and never make a second command", () => {
    const tricky = fc.array(
      fc.constantFrom("::", ":", ",", "%", "%0A", "%3A", "=", "\n::error::x", "\r", "a", "##[x]", " "),
    );
    fc.assert(
      fc.property(tricky, tricky, (title, message) => {
        const notice: Notice = {
          level: "error",
          rule: "SPEC_VALUE",
          title: title.join(""),
          message: message.join("").replaceAll("\n", " "),
          remarks: [],
          blocks: false,
          address: undefined,
          severity: undefined,
          origin: undefined,
          at: { ...at, file: `${title.join("").replaceAll("\n", "")}x` },
        };
        const output = githubAnnotations([notice], INFO, ["a\n::error::b"]);
        expect(output.match(/\n/g)).toHaveLength(2);
        const [first = ""] = output.split("\n");
        const read = parsed(first);
        expect(Object.keys(read.properties)).toEqual(["file", "line", "col", "title"]);
        const seen = (text = "") =>
          text
            .replaceAll("\\u003a", ":")
            .replaceAll("\\r", "\r")
            .replaceAll("\\n", "\n")
            .replaceAll("\\u0023", "#");
        expect(seen(read.properties.title)).toBe(notice.title);
        expect(seen(read.message)).toBe(notice.message);
      }),
    );
  });
});

describe("SARIF", () => {
  const { $schema: _draft, id: _id, ...schema } = sarifSchema as Record<string, unknown>;
  const ajv = new Ajv({ strict: false, unicodeRegExp: false });
  addFormats.default(ajv);
  const isValid = ajv.compile(schema);

  test.each([
    ["plan", planNotices(rich)],
    ["drift", driftNotices(drift)],
    ["apply", outcomeNotices(outcome)],
    ["validate", []],
  ] as const)("of %s is valid against the schema of 2.1.0", (command, notices) => {
    const log = JSON.parse(sarifReport(notices, command, INFO).text) as unknown;
    expect(isValid(log), JSON.stringify(isValid.errors)).toBe(true);
    expect(isValid({ version: "2.1.0", runs: [{ results: [] }] })).toBe(false);
  });

  test("has a rule with help for each result, its place, a fingerprint, and the commit", () => {
    const found = error("SPEC_VALUE", "wrong", { at });
    const { runs } = JSON.parse(sarifReport(findingNotices([found]), "validate", INFO).text) as {
      runs: readonly Record<string, never>[];
    };
    const [run] = runs;
    expect(run).toMatchObject({
      tool: {
        driver: {
          name: "workspace",
          version: "1.2.3",
          rules: [{ id: "SPEC_VALUE", help: { text: expect.stringContaining(".") } }],
        },
      },
      automationDetails: { id: "workspace/validate/prod/" },
      versionControlProvenance: [
        { repositoryUri: "https://git.example.com/team/data", revisionId: INFO.commit },
      ],
      results: [
        {
          ruleId: "SPEC_VALUE",
          ruleIndex: 0,
          level: "error",
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: "prod/pools.yaml", uriBaseId: "%SRCROOT%" },
                region: { startLine: 3, startColumn: 5 },
              },
            },
          ],
          partialFingerprints: { "workspace/v1": expect.stringMatching(/^[0-9a-f]{32,}$/) },
        },
      ],
    });
  });

  test("keeps the fingerprint of a finding whose line moved, and gives another problem another", () => {
    const print = (line: number, message: string) => {
      const notices = findingNotices([error("SPEC_VALUE", message, { at: { ...at, line } })]);
      return /"workspace\/v1": "(\w+)"/.exec(sarifReport(notices, "validate", INFO).text)?.[1];
    };
    expect(print(3, "a")).toBe(print(9, "a"));
    expect(print(3, "a")).not.toBe(print(3, "b"));
  });

  test("has at most 25,000 results, the most severe ones, and says that it lacks the others", () => {
    const found = Array.from({ length: 25_001 }, (_, n) => warning("SPEC_VALUE", `m${n}`));
    const of = (all: readonly Diagnostic[]) => {
      const { text, cut } = sarifReport(findingNotices(all), "validate", INFO);
      return { cut, run: JSON.parse(text).runs[0] };
    };
    const { cut, run } = of([...found, error("SPEC_VALUE", "last")]);
    expect([cut, run.results.length]).toEqual([true, 25_000]);
    expect([run.results[0].message.text, run.results[0].level]).toEqual([
      expect.stringContaining("last"),
      "error",
    ]);
    expect(run.invocations[0].toolExecutionNotifications[0].message.text).toMatch(
      /25,000 most severe of 25,002/,
    );
    const fits = of(found.slice(1));
    expect([fits.cut, fits.run.invocations[0]]).toEqual([
      false,
      expect.not.objectContaining({ toolExecutionNotifications: expect.anything() }),
    ]);
  });

  test("places a result without a line at the spec, because forges drop results without a file", () => {
    const log = sarifReport(findingNotices([warning("PLAN_UNREADABLE", "x")]), "plan", INFO).text;
    expect(log).toContain('"uri": "prod/workspace.yaml"');
  });
});

describe("GitLab", () => {
  test("counts a replace as a creation and a deletion", () => {
    const plan = planOf([
      create,
      replace,
      remove,
      { ...replace, keepsOld: true, address: addressOf("pools", "k") } as typeof replace,
    ]);
    expect(JSON.parse(planCounts(viewOf(plan), INFO))).toMatchObject({ create: 3, update: 0, delete: 2 });
    expect(JSON.parse(planCounts(viewOf(everything), INFO))).toMatchObject({
      create: 3,
      update: 1,
      delete: 2,
    });
  });

  test("counts what drift did and what an apply did", () => {
    expect(JSON.parse(driftCounts(drift, INFO))).toMatchObject({
      create: drift.drift.filter((one) => one.what === "appeared").length,
      update: drift.drift.filter((one) => one.what === "changed").length,
      delete: drift.drift.filter((one) => one.what === "deleted").length,
    });
    expect(JSON.parse(outcomeCounts(outcome, INFO))).toMatchObject({ create: 1, update: 0, delete: 0 });
  });

  test("counts an applied replace as a creation and a deletion, and one that keeps the old object as a creation", () => {
    const kept = { ...replace, keepsOld: true, address: addressOf("pools", "k") } as typeof replace;
    const outcomeOf = (
      { address, kind, action }: Change,
      result: ChangeOutcome["result"],
    ): ChangeOutcome => ({
      ...{ address, kind, action, result, elapsedMs: 1 },
    });
    const planned = [create, replace, kept, remove];
    const failed = outcomeOf({ ...replace, address: addressOf("pools", "f") }, "failed");
    const changes = [...planned.map((one) => outcomeOf(one, "applied")), failed];
    const ended = { changes, diagnostics: [], interrupted: false, elapsedMs: 4 };
    const view = outcomeView(ended, [], viewOf(planOf(planned)));
    expect(JSON.parse(outcomeCounts(view, INFO))).toMatchObject({ create: 3, update: 0, delete: 2 });
  });

  test("code quality has what GitLab requires of each item, and no fingerprint twice", () => {
    const items = JSON.parse(codeQuality([...planNotices(rich), ...planNotices(rich)], INFO)) as readonly {
      fingerprint: string;
    }[];
    expect(items.length).toBeGreaterThan(8);
    for (const item of items)
      expect(item).toEqual({
        description: expect.stringMatching(/./),
        check_name: expect.stringMatching(/^[\w.]+$/),
        fingerprint: expect.stringMatching(/^[0-9a-f]+(-\d+)?$/),
        severity: expect.stringMatching(/^(blocker|critical|major|minor|info)$/),
        location: { path: expect.stringMatching(/^[^/.]/), lines: { begin: expect.any(Number) } },
      });
    expect(new Set(items.map((one) => one.fingerprint)).size).toBe(items.length);
    expect(items[0]).toMatchObject({ check_name: "GUARD_DATA_LOSS", severity: "blocker" });
  });
});

test("paths count from the root of the repository", () => {
  const path = (file: string) => repositoryPath(file, INFO);
  expect(path("pools.yaml")).toBe("prod/pools.yaml");
  expect(path("../shared/a.yaml")).toBe("shared/a.yaml");
  expect(path("/repo/x/./y.yaml")).toBe("x/y.yaml");
  expect(path("/elsewhere/y.yaml")).toBeUndefined();
  expect(path("../../y.yaml")).toBeUndefined();
  expect(repositoryPath("a/b.yaml", {})).toBe("a/b.yaml");
  expect(repositoryPath("/a/b.yaml", {})).toBeUndefined();
  expect(repositoryPath("D:\\r\\p\\x.yaml", { checkout: { root: "D:\\r", cwd: "D:\\r\\p" } })).toBe(
    "p/x.yaml",
  );
});
