import { join, resolve } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { fenced, fitted, markedBody, readMark } from "../../ci/lib/body.ts";
import { driftDigest } from "../../ci/lib/drift.ts";
import { log, withoutCommands } from "../../ci/lib/log.ts";
import { BadInput, type Env, readSettings } from "../../ci/lib/settings.ts";
import { argumentsOf, environmentOf, hasHost, withoutUnset } from "../../ci/lib/workspace.ts";
import { planCommand } from "../../src/cli/commands/plan.ts";

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

  test.each(["", "%", "%7B%7D", "%22x%22", "null"])("with the mark %j has no owner", (fields) => {
    expect(
      readMark({ target: "a", folder: "." }, `<!-- workspace:a -->\n<!-- workspace-run ${fields} -->`),
    ).toBeUndefined();
  });

  test("that is too long is truncated after a line, with open blocks closed and a link to the run", () => {
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
    expect(fenced("```\n/close\n/merge")).toBe("````text\n```\n /close\n /merge\n````");
  });
});

describe("the settings", () => {
  const of = (env: Record<string, string>) =>
    readSettings({ GITLAB_CI: "true", CI_PIPELINE_ID: "1", CI_JOB_ID: "1", ...env });

  test.each([
    [{ WORKSPACE_CI_FOLDER: "../x" }, "must be inside the repository"],
    [{ WORKSPACE_CI_FOLDER: "/etc" }, "must be inside the repository"],
    [{ WORKSPACE_CI_COMMAND: "destroy" }, "is not one of"],
    [{ WORKSPACE_CI_TARGET: "a\nb" }, "is not a valid name"],
    [{ WORKSPACE_CI_TARGET: "--help" }, "is not a valid name"],
    [{ WORKSPACE_CI_SINCE: "last" }, "with drift only"],
    [{ WORKSPACE_CI_SINCE: "yesterday", WORKSPACE_CI_COMMAND: "drift" }, '"last" only'],
    [{ WORKSPACE_CI_COMMAND: "apply" }, "needs plan-file"],
    [{ WORKSPACE_CI_COMMENT: "yes" }, "not true or false"],
    [{ WORKSPACE_CI_UNTRUSTED: "true", WORKSPACE_CI_PLAN_FILE: "p" }, "cannot be saved"],
    [
      { WORKSPACE_CI_COMMAND: "apply", WORKSPACE_CI_PLAN_FILE: "p", WORKSPACE_CI_UNTRUSTED: "true" },
      "untrusted can be used with plan only",
    ],
    [
      { WORKSPACE_CI_COMMAND: "validate", WORKSPACE_CI_UNTRUSTED: "true" },
      "untrusted can be used with plan only: validate would read the variables of the environment",
    ],
    [{ WORKSPACE_CI_PULL_REQUEST: "5;id" }, "is not a number"],
    [{ WORKSPACE_CI_COMMENT: "true", CI_PIPELINE_ID: "x" }, "need a run number"],
  ])("reject %j", (env, message) => {
    expect(() => of(env as Record<string, string>)).toThrow(BadInput);
    expect(() => of(env as Record<string, string>)).toThrow(message);
  });

  test.each([
    ["prod", { WORKSPACE_CI_TARGET: "prod", WORKSPACE_TARGET: "dev" }],
    ["dev", { WORKSPACE_CI_TARGET: "", WORKSPACE_TARGET: "dev" }],
    [undefined, { WORKSPACE_CI_TARGET: "", WORKSPACE_TARGET: "" }],
  ])("name the target %j, which is that of the input, or else WORKSPACE_TARGET", (target, env) => {
    expect(of(env).target).toBe(target);
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
      ...[
        "--base-ref",
        "HEAD^1",
        "--exitcode-for",
        "change",
        "--metrics",
        "/r/metrics.prom",
        "--output",
        "text",
      ],
      ...[
        "--output",
        "markdown=/r/report.md",
        "--output",
        "html=/r/report.html",
        "--output",
        "json=/r/report.json",
      ],
      ...["--output", "junit=/r/junit.xml", "--output", "gitlab=/r/terraform.json"],
      ...["--output", "codequality=/r/codequality.json", "--var", "name=two words"],
    ]);
  });

  test.each([
    [
      "validate",
      {},
      ["--output", "codequality=/r/codequality.json"],
      ["--metrics", "gitlab=/r/terraform.json", "html=/r/report.html"],
    ],
    [
      "drift",
      { WORKSPACE_CI_SINCE: "last" },
      ["--since", "--metrics", "gitlab=/r/terraform.json"],
      ["--out"],
    ],
    ["apply", { WORKSPACE_CI_PLAN_FILE: "/p" }, ["/p", "--metrics", "gitlab=/r/terraform.json"], ["--out"]],
  ])("give %s the reports that it can write", (command, more, present, absent) => {
    const args = argumentsOf(
      of({ WORKSPACE_CI_COMMAND: command, WORKSPACE_CI_REPORTS: "/r", ...more }),
      true,
    );
    expect(args).toEqual(expect.arrayContaining(present));
    expect(args.filter((one) => absent.includes(one))).toEqual([]);
  });

  test("give each target and folder a page on GitHub, with a name that a file can have", () => {
    const page = (target: string, folder = ".") => {
      const env = { GITHUB_ACTIONS: "true", WORKSPACE_CI_TARGET: target, WORKSPACE_CI_FOLDER: folder };
      const args = argumentsOf(readSettings({ ...env, WORKSPACE_CI_REPORTS: "/r" }), true);
      return args.find((one) => one.startsWith("html="))?.slice("html=/r/".length);
    };
    expect(page("prod")).toBe("workspace-plan-prod.html");
    expect(page("prod", "teams/ads")).toMatch(/^workspace-plan-prod-teams-ads-[0-9a-f]{8}\.html$/);
    const pages = [
      ...[page("a-b"), page("a", "b"), page("a", "b/c"), page("a", "b-c"), page("a b"), page("a/b")],
      ...[page("ä"), page("ö"), page("x".repeat(300)), page(`${"x".repeat(299)}y`)],
    ];
    expect(new Set(pages).size).toBe(pages.length);
    for (const name of pages) expect(name).toMatch(/^[\w.-]{1,120}$/);
  });

  test("name the head of a merge request, and the tip of the target branch as its base, when GitLab merges them", () => {
    const plain = {
      CI_COMMIT_SHA: "head",
      WORKSPACE_CI_BASE: "parted",
      CI_MERGE_REQUEST_DIFF_BASE_SHA: "parted",
    };
    expect(of(plain)).toMatchObject({ base: "parted", run: { commit: "head" } });
    const merged = {
      ...plain,
      CI_COMMIT_SHA: "merge",
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: "head",
      CI_MERGE_REQUEST_TARGET_BRANCH_SHA: "tip",
    };
    expect(of(merged)).toMatchObject({ base: "tip", run: { commit: "head" } });
    expect(of({ ...merged, WORKSPACE_CI_BASE: "v1" })).toMatchObject({ base: "v1" });
    expect(
      [of(plain), of(merged), of({}), of({ TF_BUILD: "True" })].map((settings) => settings.isUnmerged),
    ).toEqual([true, false, false, false]);
  });

  test("link the run in a project of Azure DevOps whose name has a space", () => {
    const env = { TF_BUILD: "True", BUILD_BUILDID: "7", SYSTEM_COLLECTIONURI: "https://dev.azure.com/acme/" };
    const { run } = readSettings({ ...env, SYSTEM_TEAMPROJECT: "My Data" });
    expect(run.url).toBe("https://dev.azure.com/acme/My%20Data/_build/results?buildId=7");
  });

  test("give the program what it signs in with, and no token of the platform", () => {
    const given = {
      ...{ WORKSPACE_TOKEN: "a", DATABRICKS_CLIENT_ID: "b", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "c" },
      ACTIONS_ID_TOKEN_REQUEST_URL: "https://token.example",
    };
    const tokens = {
      WORKSPACE_CI_API_TOKEN: "x",
      GITHUB_TOKEN: "x",
      CI_JOB_TOKEN: "x",
      SYSTEM_ACCESSTOKEN: "x",
    };
    const place = { cwd: "/", commit: "" };
    expect(environmentOf(of({}), { ...given, ...tokens }, place)).toEqual(given);
  });

  test.each<Record<string, string>>([
    { WORKSPACE_CI_COMMAND: "apply", WORKSPACE_CI_PLAN_FILE: "p" },
    { WORKSPACE_CI_COMMAND: "drift" },
  ])(
    "let $WORKSPACE_CI_COMMAND wait for the lock of a lost runner, unless the variables say how long",
    (inputs) => {
      const apply = of(inputs);
      const place = { cwd: "/", commit: "" };
      expect(environmentOf(apply, {}, place)).toEqual({ WORKSPACE_LOCK_TIMEOUT: "5m" });
      const set = { WORKSPACE_LOCK_TIMEOUT: "0s" };
      expect(environmentOf(apply, set, place)).toEqual(set);
      expect(environmentOf(of({}), {}, place)).toEqual({});
    },
  );

  test("name files of the checkout, also where the command runs in a folder with an untrusted spec", () => {
    const place = { cwd: "/tmp/untrusted/head", commit: "" };
    const env = {
      WORKSPACE_RULES: "policy",
      WORKSPACE_CONFIG_FILE: "ci.cfg",
      DATABRICKS_CONFIG_FILE: "~/cfg",
      WORKSPACE_CA_FILE: "",
    };
    expect(environmentOf(of({}), env, place)).toEqual({
      WORKSPACE_RULES: join(process.cwd(), "policy"),
      WORKSPACE_CONFIG_FILE: join(process.cwd(), "ci.cfg"),
      DATABRICKS_CONFIG_FILE: "~/cfg",
      WORKSPACE_CA_FILE: "",
    });
  });

  test("select the target default if it is named, and none if no target is", () => {
    expect(argumentsOf(of({ WORKSPACE_CI_TARGET: "default" }), true).join(" ")).toContain("--target default");
    for (const none of [{}, { WORKSPACE_CI_TARGET: "" }, { WORKSPACE_TARGET: "" }] as Record<
      string,
      string
    >[])
      expect([argumentsOf(of(none), true).includes("--target"), of(none).subject.target]).toEqual([
        false,
        "default",
      ]);
  });

  test("let the paths of options count from the checkout when the spec is untrusted", () => {
    const lines = ["--ca-file", "ca.pem", "--var-file=vars/a.yaml", "--rules", "rules", "--var", "rules"];
    const env = { WORKSPACE_CI_UNTRUSTED: "true", WORKSPACE_CI_ARGS: lines.join("\n") };
    const given = ["--ca-file", resolve("ca.pem"), `--var-file=${resolve("vars/a.yaml")}`];
    expect(argumentsOf(of(env), true).slice(-7)).toEqual([
      ...given,
      ...["--rules", resolve("rules"), "--var", "rules"],
    ]);
  });

  test.each([
    [
      ["--state", "states"],
      ["--state", resolve("states")],
    ],
    [["--state=workspace:/Shared/x"], ["--state=workspace:/Shared/x"]],
    [
      ["--state=postgres://u@h/d?sslrootcert=ca.pem&sslkey=/k"],
      [`--state=postgres://u@h/d?sslrootcert=${encodeURIComponent(resolve("."))}/ca.pem&sslkey=/k`],
    ],
    [["--base=before"], [`--base=${resolve("before")}`]],
    [
      ["--metrics", "m.prom"],
      ["--metrics", resolve("m.prom")],
    ],
    [
      ["-o", "html=a.html", "-ojson=a=b.json", "--output", "junit=/tmp/j.xml", "--output=text"],
      [
        ...["-o", `html=${resolve("a.html")}`, `-ojson=${resolve("a=b.json")}`],
        ...["--output", "junit=/tmp/j.xml", "--output=text"],
      ],
    ],
    [
      ["--base-ref", "main", "--only", "jobs.*"],
      ["--base-ref", "main", "--only", "jobs.*"],
    ],
  ])(
    "let the state and the files of %j count from the checkout when the spec is untrusted",
    (lines, paths) => {
      const env = { WORKSPACE_CI_UNTRUSTED: "true", WORKSPACE_CI_ARGS: lines.join("\n") };
      expect(argumentsOf(of(env), true).slice(-lines.length)).toEqual(paths);
    },
  );

  test("let every file and folder among the options of a plan count from the checkout, except the spec", () => {
    const flags = Object.values(planCommand.options).map((option) => option.flags);
    const paths = flags.flatMap(
      (text) => /^(?:-\w, )?(--[\w-]+) <(?:file|folder|path)>$/.exec(text)?.[1] ?? [],
    );
    expect(paths.length).toBeGreaterThan(6);
    const asGiven = paths.filter((option) => {
      const env = { WORKSPACE_CI_UNTRUSTED: "true", WORKSPACE_CI_ARGS: `${option}=a` };
      return argumentsOf(of(env), true).at(-1) === `${option}=a`;
    });
    // The program refuses to save an untrusted plan.
    expect(asGiven).toEqual(["--file", "--out"]);
  });

  test.each([
    ["states", resolve("states")],
    ["workspace:/Shared/x", "workspace:/Shared/x"],
  ])("let the state %s count from the checkout in every variable", (state, location) => {
    const args = argumentsOf(of({ WORKSPACE_CI_UNTRUSTED: "true", WORKSPACE_CI_STATE: state }), true);
    expect(args[args.indexOf("--state") + 1]).toBe(location);
    const place = { cwd: "/tmp/untrusted/head", commit: "" };
    expect(environmentOf(of({}), { WORKSPACE_STATE: state }, place)).toEqual({ WORKSPACE_STATE: location });
  });

  test.each([
    [{}, false],
    [{ WORKSPACE_HOST: "", DATABRICKS_HOST: "", WORKSPACE_PROFILE: "" }, false],
    [{ WORKSPACE_HOST: "https://w.example" }, true],
    [{ DATABRICKS_HOST: "https://adb-1.azuredatabricks.net" }, true],
    [{ DATABRICKS_CONFIG_PROFILE: "p" }, true],
    [{ WORKSPACE_PROFILE: "p" }, true],
    [{ WORKSPACE_CONFIG_FILE: "/c" }, true],
    [{ WORKSPACE_CI_ARGS: "--profile\np" }, true],
    [{ WORKSPACE_CI_ARGS: "--host=https://h" }, true],
  ])("know a host by %j: %s", (env, known) => {
    expect(hasHost(of(env), env)).toBe(known);
  });

  test("plan an untrusted spec offline when no host is known", () => {
    const settings = of({ WORKSPACE_CI_UNTRUSTED: "true" });
    expect(argumentsOf(settings, false)).toEqual(expect.arrayContaining(["--untrusted", "--offline"]));
    expect(argumentsOf(settings, true)).not.toContain("--offline");
  });

  test("ignore variables that Azure Pipelines did not expand", () => {
    const of = (env: Env) => withoutUnset({ TF_BUILD: "True", ...env });
    expect(of({ A: "$(WORKSPACE_STATE_KEY)", B: "x$(y)" })).toEqual(of({ B: "x$(y)" }));
    // Names from a key vault have dashes, and names of a variable group can have spaces.
    for (const name of ["db-password", "DB PASSWORD", "Build.SourceBranch", "clé"])
      expect(of({ A: `$(${name})` })).toEqual(of({}));
    const values = { A: "$()", B: "$(a)$(b)", C: "$(a", D: "$(a)\n", E: "$a-b", F: "$F" };
    expect(of(values)).toEqual({ TF_BUILD: "True", ...values });
  });

  test("ignore variables that GitLab did not expand because they have their own name as the value", () => {
    const of = (env: Env) => withoutUnset({ GITLAB_CI: "true", ...env });
    expect(of({ WORKSPACE_STATE_KEY: "$WORKSPACE_STATE_KEY", K: "${K}" })).toEqual(of({}));
    const values = { A: "$B", B: "x$B", C: "$(C)" };
    expect(of(values)).toEqual({ GITLAB_CI: "true", ...values });
    expect(withoutUnset({ K: "$K" })).toEqual({ K: "$K" });
  });
});

describe("what a drift left open", () => {
  const change = { path: ["max_capacity"], severity: "cost", reported: false, at: { line: 3 }, live: 3 };
  const item = { address: "pools.shared", what: "changed", severity: "cost", differences: [change] };
  const of = (item: unknown, least?: string) => driftDigest(JSON.stringify({ drift: [item] }), least);
  const acknowledged = { until: "2999-01-01T00:00:00Z" };

  test("does not depend on earlier reports and on places in the spec, but on values", () => {
    const first = of(item);
    expect(first?.open).toBe(true);
    expect(of({ ...item, differences: [{ ...change, reported: true, at: { line: 9 } }] })).toEqual(first);
    expect(of({ ...item, differences: [{ ...change, live: 4 }] })?.digest).not.toBe(first?.digest);
  });

  test.each([
    ["no difference", { ...item, differences: [{ ...change, acknowledged }] }, "other"],
    ["nothing that the spec has", { ...item, differences: [{ ...change, declared: true }] }, "other"],
    [
      "no object that is gone",
      { address: "a", what: "deleted", differences: [{ path: [], severity: "availability", acknowledged }] },
      "other",
    ],
    ["nothing that is less severe than the pipeline asks for", item, "security"],
  ])("is %s once it does not count", (_, counted, least) => {
    expect(of(counted, least)?.open).toBe(false);
  });

  test.each([
    [
      "a value that the report hides",
      { ...item, differences: [{ ...change, before: "(sensitive)", after: "(sensitive)" }] },
      true,
    ],
    [
      "a key that the report hides",
      { ...item, differences: [{ ...change, before: null, after: { "(sensitive)": 1 } }] },
      true,
    ],
    [
      "a hidden key in the path",
      { ...item, differences: [{ ...change, path: ["custom_tags", "(sensitive)"] }] },
      true,
    ],
    [
      "an object that appeared",
      {
        address: "secrets.s/a",
        what: "appeared",
        differences: [{ path: [], severity: "security", reported: false, before: null, after: {} }],
      },
      true,
    ],
    ["a value that the report shows", { ...item, differences: [{ ...change, before: 1, after: 2 }] }, false],
    [
      "an object that is gone",
      {
        address: "pools.a",
        what: "deleted",
        differences: [{ path: [], severity: "cost", reported: false, before: {}, after: null }],
      },
      false,
    ],
  ])("says of %s whether it changed although the digest does not", (_, drift, expected) => {
    const news = (reported?: boolean) =>
      of(JSON.parse(JSON.stringify(drift).replace('"reported":false', `"reported":${reported ?? "null"}`)))
        ?.hiddenIsNew;
    expect([news(false), news(true), news()]).toEqual([expected, false, false]);
    expect(driftDigest(JSON.stringify({ drift: [drift] }), "security")?.hiddenIsNew).toBe(
      expected && drift.what === "appeared",
    );
  });

  test("is unknown without a report", () => {
    expect(driftDigest(undefined)).toBeUndefined();
    expect(driftDigest('{"error": 1}')).toBeUndefined();
  });
});

describe("the log", () => {
  test.each([
    ...["::error::x", "  ::add-mask::x", "\u0085\u200b::set-output name=a::b", ":\u00ad:error::x"],
    ...["##vso[task.setvariable]x", "a ##[error]x", "a #\u00ad#vso[task.setvariable]x", "###[error]"],
  ])("shows %j without making it a command of the runner", (line) => {
    const shown = withoutCommands(line).replaceAll(/[^\x20-\x7e]/g, "");
    expect(shown).not.toMatch(/^\s*::|##/);
    expect(shown.replaceAll(" ", "")).toBe(line.replaceAll(/[^\x21-\x7e]/g, ""));
  });

  test("of a refusal has no line that is a command, whatever a server says", () => {
    const written: string[] = [];
    const spy = vi
      .spyOn(process.stderr, "write")
      .mockImplementation((text) => written.push(String(text)) > 0);
    log("POST /x returned 422: a\n::set-output name=a::b\r##vso[task.complete]\u2028::error::c");
    spy.mockRestore();
    expect(written.join("")).toBe(
      "POST /x returned 422: a\n: :set-output name=a::b\n# #vso[task.complete]\n: :error::c\n",
    );
  });

  test("keeps text that is not a command", () => {
    const line = "  max_capacity  10 → 3  # cost, in a::b";
    expect(withoutCommands(line)).toBe(line);
  });
});
