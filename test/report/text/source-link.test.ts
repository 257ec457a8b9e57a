// Links to the commit of a run and to the files in it: only to code hosts whose addresses are known, and only inside the repository.

import { describe, expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import { planMarkdown } from "../../../src/report/format/plan-markdown.ts";
import { planHtml } from "../../../src/report/html/plan-html.ts";
import { commitPage, filePage } from "../../../src/report/text/source-link.ts";
import { planView } from "../../../src/report/view/plan-view.ts";
import { INFO, planOf, registry, update } from "../plans.ts";

const COMMIT = "fedcba98".repeat(5);
const at = (file: string) => ({ file, line: 9, column: 5 });
const github = { ...INFO, repositoryUrl: "https://github.com/team/data", forge: "github" } as const;
const gitlab = { ...INFO, repositoryUrl: "https://gitlab.com/a/b/data/", forge: "gitlab" } as const;
const azure = { ...INFO, repositoryUrl: "https://dev.azure.com/o/p/_git/data", forge: "azure" } as const;

describe("a link to the source", () => {
  test("has the address that each code host uses", () => {
    expect(filePage(at("workspace.yaml"), github)).toBe(
      `https://github.com/team/data/blob/${COMMIT}/prod/workspace.yaml#L9`,
    );
    expect(filePage(at("../a b#c.yaml"), gitlab)).toBe(
      `https://gitlab.com/a/b/data/-/blob/${COMMIT}/a%20b%23c.yaml#L9`,
    );
    expect(filePage(at("workspace.yaml"), azure)).toMatch(
      `https://dev.azure.com/o/p/_git/data?path=/prod/workspace.yaml&version=GC${COMMIT}&line=9&`,
    );
    expect([github, gitlab, azure].map(commitPage)).toEqual([
      `https://github.com/team/data/commit/${COMMIT}`,
      `https://gitlab.com/a/b/data/-/commit/${COMMIT}`,
      `https://dev.azure.com/o/p/_git/data/commit/${COMMIT}`,
    ]);
  });

  test("does not exist without a known code host, a commit, https, or for a file outside of the repository", () => {
    const { commit: _, ...withoutCommit } = github;
    const infos = [INFO, withoutCommit, { ...github, commit: "main" }, undefined];
    for (const info of [...infos, { ...github, repositoryUrl: "http://github.com/team/data" }]) {
      expect(filePage(at("workspace.yaml"), info)).toBeUndefined();
      expect(commitPage(info)).toBeUndefined();
    }
    expect(filePage(at("../../etc/passwd"), github)).toBeUndefined();
  });

  test("is in the page and the comment of a plan, with every name escaped", () => {
    const diagnostics = [error("SPEC_TYPE", "max_capacity must be an integer", { at: at(`x"](y)<b>.yaml`) })];
    const view = planView(planOf([update], { diagnostics }), registry, {
      places: () => at(`x"](y)<b>.yaml`),
    });
    const page = planHtml(view, github);
    const url = `https://github.com/team/data/blob/${COMMIT}/prod/x%22%5D(y)%3Cb%3E.yaml#L9`;
    expect(page.split(`<a href="${url}" rel="noreferrer"><code>`)).toHaveLength(3);
    expect(page).toContain(
      `<a href="https://github.com/team/data/commit/${COMMIT}" rel="noreferrer">commit fedcba98fedc</a>`,
    );
    const { text } = planMarkdown(view, github);
    expect(text).toContain(
      `](https://github.com/team/data/blob/${COMMIT}/prod/x%22%5D%28y%29%3Cb%3E.yaml#L9)`,
    );
    expect(text).toContain(`[commit fedcba98fedc](https://github.com/team/data/commit/${COMMIT})`);
  });
});
