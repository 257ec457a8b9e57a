import { describe, expect, test } from "vitest";
import { fenced, fitted, markedBody, readMark } from "../../ci/lib/body.ts";
import { BadInput, readSettings } from "../../ci/lib/settings.ts";
import { argumentsOf, withoutCommands, withoutUnset } from "../../ci/lib/workspace.ts";

describe("the body of a comment", () => {
  test("round-trips its mark, with any folder and with CRLF", () => {
    const subject = { target: "prod", folder: "a b/--> ü" };
    const mark = { number: 3, attempt: 2, commit: "abc", open: false, digest: "d" };
    const body = markedBody(subject, mark, "text");
    expect(readMark(subject, body)).toEqual(mark);
    expect(readMark(subject, body.replaceAll("\n", "\r\n"))).toEqual(mark);
    expect(readMark({ ...subject, folder: "." }, body)).toBeUndefined();
    expect(body.split("\n")[1]?.match(/-->/g)).toHaveLength(1);
  });

  test.each(["", "%", "%7B%7D", "%22x%22", "null"])("with the mark %j belongs to nobody", (fields) => {
    expect(
      readMark({ target: "a", folder: "." }, `<!-- workspace:a -->\n<!-- workspace-run ${fields} -->`),
    ).toBeUndefined();
  });

  test("that is too long is cut after a line, with open blocks closed and the run named", () => {
    const long = `# Plan\n<details>\n\n\`\`\`\`diff\n${"+ line\n".repeat(5000)}\`\`\`\`\n</details>\n`;
    const cut = fitted(long, 10_000, "https://ci.example/1");
    expect(cut.length).toBeLessThanOrEqual(10_000);
    expect(cut).toMatch(
      /\+ line\n````\n\n<\/details>\n\nThis report is too long .*https:\/\/ci\.example\/1\.\n$/s,
    );
    expect(fitted(long, long.length, "x")).toBe(long);
  });

  test("keeps errors inside a fence that they cannot end", () => {
    expect(fenced("a\n````\n# b")).toBe("`````text\na\n````\n# b\n`````");
  });
});

describe("the settings", () => {
  const of = (env: Record<string, string>) =>
    readSettings({ GITLAB_CI: "true", CI_PIPELINE_ID: "1", CI_JOB_ID: "1", ...env });

  test.each([
    [{ WORKSPACE_CI_FOLDER: "../x" }, "must be inside the repository"],
    [{ WORKSPACE_CI_FOLDER: "/etc" }, "must be inside the repository"],
    [{ WORKSPACE_CI_COMMAND: "destroy" }, "is not one of"],
    [{ WORKSPACE_CI_TARGET: "a -->" }, "is not a valid name"],
    [{ WORKSPACE_CI_COMMAND: "apply" }, "needs plan-file"],
    [{ WORKSPACE_CI_COMMENT: "yes" }, "not true or false"],
    [{ WORKSPACE_CI_UNTRUSTED: "true", WORKSPACE_CI_PLAN_FILE: "p" }, "cannot be saved"],
    [
      { WORKSPACE_CI_COMMAND: "apply", WORKSPACE_CI_PLAN_FILE: "p", WORKSPACE_CI_UNTRUSTED: "true" },
      "cannot be used",
    ],
    [{ WORKSPACE_CI_PULL_REQUEST: "5;id" }, "is not a number"],
    [{ WORKSPACE_CI_COMMENT: "true", CI_PIPELINE_ID: "x" }, "need a run number"],
  ])("reject %j", (env, message) => {
    expect(() => of(env as Record<string, string>)).toThrow(BadInput);
    expect(() => of(env as Record<string, string>)).toThrow(message);
  });

  test("become arguments, with one line of args for each", () => {
    const settings = of({
      WORKSPACE_CI_FOLDER: "./infra/",
      WORKSPACE_CI_TARGET: "prod",
      WORKSPACE_CI_BASE: "HEAD^1",
      WORKSPACE_CI_REPORTS: "/r",
      WORKSPACE_CI_ARGS: "--var\nname=two words\n",
    });
    expect(argumentsOf(settings, true)).toEqual([
      ...["plan", "--no-input", "--file", "infra/workspace.yaml", "--target", "prod", "--detailed-exitcode"],
      ...["--base-ref", "HEAD^1", "--exitcode-for", "change", "--output", "text"],
      ...["--output", "markdown=/r/report.md", "--output", "json=/r/report.json"],
      ...["--output", "junit=/r/junit.xml", "--output", "gitlab=/r/terraform.json"],
      ...["--output", "codequality=/r/codequality.json", "--var", "name=two words"],
    ]);
  });

  test("plan an untrusted spec offline when no host is known", () => {
    const settings = of({ WORKSPACE_CI_UNTRUSTED: "true" });
    expect(argumentsOf(settings, false)).toEqual(expect.arrayContaining(["--untrusted", "--offline"]));
    expect(argumentsOf(settings, true)).not.toContain("--offline");
  });

  test("ignore variables that Azure Pipelines did not expand", () => {
    expect(withoutUnset({ A: "$(WORKSPACE_STATE_KEY)", B: "x$(y)", C: undefined })).toEqual({ B: "x$(y)" });
  });
});

describe("the log", () => {
  test.each(["::error::x", "  ::add-mask::x", "##vso[task.setvariable]x", "a ##[error]x"])(
    "shows %j without making it a command of the runner",
    (line) => {
      const shown = withoutCommands(line);
      expect(shown).not.toMatch(/^\s*::|##\[|##vso\[/);
      expect(shown.replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
    },
  );
});
