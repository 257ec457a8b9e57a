// Reading fleet.yaml: defaults, and every kind of wrong entry with its place.

import { describe, expect, test } from "vitest";
import { Failure } from "../../src/core/diagnostic.ts";
import { readFleet } from "../../src/fleet/read-fleet.ts";
import { SourceText } from "../../src/spec/model/source.ts";
import { thrownDiagnostics } from "../failures.ts";

const read = (text: string) => readFleet(new SourceText("fleet.yaml", text), "/fleet");

const problems = (text: string) =>
  thrownDiagnostics(() => read(text)).map(({ code, message, at }) => `${code} ${at?.line}: ${message}`);

/** Everything that the failure contains, also the lines of the file. */
function shown(text: string): string {
  try {
    return JSON.stringify(read(text));
  } catch (problem) {
    return problem instanceof Failure ? JSON.stringify(problem.diagnostics) : String(problem);
  }
}

describe("a fleet file", () => {
  test("gives each workspace the defaults that it does not set, and merges maps by key", () => {
    const { workspaces } = read(`
defaults: { spec: spec, timeout: 2m, labels: { team: data, env: test }, environment: { WORKSPACE_TOKEN: A } }
workspaces:
  b: { host: "https://b.example.com", labels: { env: prod } }
  a: { profile: a, spec: other, environment: { PGPASSWORD: B }, schedule: "0 6 * * 1-5", timezone: Europe/Zurich }
`);
    expect(workspaces).toEqual([
      {
        name: "a",
        spec: "other",
        profile: "a",
        variables: {},
        environment: { WORKSPACE_TOKEN: "A", PGPASSWORD: "B" },
        labels: { team: "data", env: "test" },
        schedule: { cron: "0 6 * * 1-5", timezone: "Europe/Zurich" },
        timeoutMs: 120_000,
      },
      {
        name: "b",
        spec: "spec",
        host: "https://b.example.com",
        variables: {},
        environment: { WORKSPACE_TOKEN: "A" },
        labels: { team: "data", env: "prod" },
        timeoutMs: 120_000,
      },
    ]);
  });

  test.each([
    "canary",
    '"canary"',
    "|\n        two\n        canary",
    "[canary]",
    "\n        inner: canary",
    "76543210",
  ])("shows the values of variables in no message and no frame (%s)", (value) => {
    const entry = (more: string) => `variables:\n      apikey: ${value}\n    timeout: 5x\n${more}`;
    const diagnostics = shown(
      `defaults:\n    ${entry("")}workspaces:\n  a:\n    ${entry("    host: https://a.example.com\n")}`,
    );
    expect(diagnostics).toContain("timeout must look like");
    expect(diagnostics).not.toMatch(/canary|76543210/);
  });

  test("lets a workspace with a profile ignore the host of the defaults", () => {
    const [found] = read(
      "defaults: { host: https://x.example.com }\nworkspaces: { a: { profile: p } }\n",
    ).workspaces;
    expect(found).toMatchObject({ profile: "p" });
    expect(found?.host).toBeUndefined();
  });

  test.each([
    ...[
      "LD_PRELOAD",
      "BASH_ENV",
      "GIT_DIR",
      "PYTHONPATH",
      "NODE_OPTIONS",
      "USERPROFILE",
      "HOME",
      "PATH",
      "ENV",
    ],
    ...["AZURE_CONFIG_DIR", "WORKSPACE_TARGET", "WORKSPACE_HOST", "WORKSPACE_CONFIG_FILE", "WORKSPACE_STATE"],
    ...["WORKSPACE_RULES", "WORKSPACE_CA_FILE", "WORKSPACE_FILE", "WORKSPACE_LEASE", "WORKSPACE_PROFILE"],
    ...[
      "DATABRICKS_HOST",
      "DATABRICKS_OIDC_TOKEN_ENV",
      "DATABRICKS_OIDC_TOKEN_FILEPATH",
      "DATABRICKS_CONFIG_FILE",
    ],
    ...["PGHOST", "PGDATABASE", "PGPASSFILE", "PGSSLROOTCERT", "https_proxy", "HTTPS_PROXY", "SSL_CERT_FILE"],
    ...["ACTIONS_ID_TOKEN_REQUEST_URL", "ARM_ENVIRONMENT", "AZURE_AUTHORITY_HOST", "workspace_token"],
    ...["XWORKSPACE_TOKEN", "WORKSPACE_TOKENX", "WORKSPACE_VAR_", "WORKSPACE_VAR_a=b", "PGPASSWORD "],
  ])("does not let environment set %s, which is not a credential", (name) => {
    const key = JSON.stringify(name);
    expect(problems(`workspaces: { a: { host: h, environment: { ${key}: X } } }\n`)).toEqual([
      `SPEC_VALUE 1: the fleet: workspaces.a.environment cannot have the key ${key}`,
    ]);
    expect(problems(`defaults: { environment: { ${key}: X } }\nworkspaces: { a: { host: h } }\n`)).toEqual([
      `SPEC_VALUE 1: the fleet: defaults.environment cannot have the key ${key}`,
    ]);
  });

  test("lets environment set the credentials of a sign-in, of a state, and of the spec", () => {
    const names = [
      ...["WORKSPACE_TOKEN", "WORKSPACE_CLIENT_ID", "WORKSPACE_CLIENT_SECRET", "WORKSPACE_AUTH_TYPE"],
      ...["DATABRICKS_TOKEN", "DATABRICKS_CLIENT_ID", "DATABRICKS_CLIENT_SECRET", "DATABRICKS_AUTH_TYPE"],
      ...["DATABRICKS_OIDC_TOKEN", "DATABRICKS_TOKEN_AUDIENCE", "DATABRICKS_AZURE_RESOURCE_ID"],
      ...["ARM_CLIENT_ID", "ARM_CLIENT_SECRET", "ARM_TENANT_ID", "ARM_USE_MSI"],
      ...["WORKSPACE_STATE_KEY", "PGUSER", "PGPASSWORD", "WORKSPACE_VAR_env", "WORKSPACE_SECRET_DB"],
    ];
    const text = `workspaces: { a: { host: h, environment: { ${names.map((name) => `${name}: X`).join(", ")} } } }\n`;
    expect(problems(text)).toEqual([]);
  });

  test.each([
    ["workspaces:\n  A: { host: h }\n", "1 to 63 small letters, digits, dots"],
    ["workspaces:\n  a: { host: h, labels: { -x: y } }\n", "letters, digits, and . _ / -"],
    ["workspaces:\n  a: { host: h, environment: { 1: Y } }\n", "allowed are WORKSPACE_TOKEN, "],
  ])("names the permitted keys: %j", (text, hint) => {
    try {
      readFleet(new SourceText("fleet.yaml", text), "/fleet");
      expect.unreachable();
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      expect(problem.diagnostics[0]?.hint).toContain(hint);
    }
  });

  test.each([
    ["no workspaces", "workspaces: {}\n", ["SPEC_VALUE 1: the fleet: workspaces must not be empty"]],
    [
      "an unknown field",
      "workspaces:\n  a:\n    hots: x\n",
      ['SPEC_UNKNOWN_FIELD 3: the fleet has no field "workspaces.a.hots"'],
    ],
    [
      "neither host nor profile",
      "workspaces:\n  a: {}\n",
      ["SPEC_COMBINATION 2: workspace a has neither a host nor a profile"],
    ],
    [
      "a host and a profile",
      "workspaces:\n  a: { host: h, profile: p }\n",
      ["SPEC_COMBINATION 2: workspace a has both a host and a profile"],
    ],
    [
      "one state for two workspaces",
      "workspaces:\n  a: { host: h, state: s }\n  b: { host: i, state: s }\n",
      ["SPEC_DUPLICATE_NAME 3: the workspaces a and b have the same state"],
    ],
    [
      "the credentials of the fleet's database",
      "workspaces:\n  a: { host: h, environment: { WORKSPACE_TOKEN: WORKSPACE_FLEET_DATABASE } }\n",
      ["SPEC_VALUE 2: the environment of workspace a cannot have WORKSPACE_FLEET_DATABASE"],
    ],
    [
      "a schedule of six fields",
      'workspaces:\n  a: { host: h, schedule: "0 0 6 * * *" }\n',
      ["SPEC_VALUE 2: the schedule of workspace a has 6 fields, not 5"],
    ],
    [
      "a schedule out of range",
      'workspaces:\n  a: { host: h, schedule: "61 6 * * *" }\n',
      ['SPEC_VALUE 2: the schedule of workspace a has the invalid field "61" (allowed: 0 to 59)'],
    ],
    [
      "a schedule that names a value twice",
      'workspaces:\n  a: { host: h, schedule: "*,5 6 * * *" }\n',
      ['SPEC_VALUE 2: the schedule of workspace a has the field "*,5", which contains 5 more than once'],
    ],
    [
      "a schedule that names Sunday as 0 and as 7",
      'workspaces:\n  a: { host: h, schedule: "0 6 * * 0,7" }\n',
      ['SPEC_VALUE 2: the schedule of workspace a has the field "0,7", which contains 0 more than once'],
    ],
    [
      "a schedule that never matches",
      'workspaces:\n  a: { host: h, schedule: "0 0 30 2 *" }\n',
      ["SPEC_VALUE 2: the schedule of workspace a never matches a date"],
    ],
  ])("with %s is rejected with the place of the problem", (_, text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  test.each(["Mars/Base", "+01:00"])("rejects %s, which is not the name of a time zone", (zone) => {
    expect(problems(`workspaces:\n  a: { host: h, schedule: "0 6 * * *", timezone: "${zone}" }\n`)).toEqual([
      `SPEC_VALUE 2: the time zone "${zone}" of workspace a does not exist`,
    ]);
  });

  test.each(["dapi-12.34", "dapi0123456789abcdef", '"Some Secret!"', "123456789"])(
    "does not accept the value of a credential in place of the name of a variable, and does not show it: %s",
    (value) => {
      const text = `workspaces:\n  a:\n    host: h\n    environment: { WORKSPACE_TOKEN: ${value} }\n`;
      expect(problems(text)[0]).toContain("4: the fleet: workspaces.a.environment.WORKSPACE_TOKEN must ");
      expect(shown(text)).not.toContain(value.replaceAll('"', ""));
    },
  );

  test.each([
    "{ host: 'https://user:pass-word@ws.example' }",
    "{ host: h, state: 'postgres://ops:pass-word@db.example/states' }",
    "{ host: h, state: 'postgres://ops:pass-word/@#@db.example/states' }",
    "{ host: h, timeout: 99h, state: 'postgres://ops:pass-word@db.example/states' }",
    "{ host: h, hots: x, state: 'postgres://ops:pass-word@db.example/states' }",
  ])("rejects a password in a URL, and does not show it: %s", (entry) => {
    const text = `workspaces:\n  a: ${entry}\n`;
    expect(problems(text)).not.toEqual([]);
    expect(shown(text)).not.toContain("pass-word");
  });

  test.each([
    "{ host: 'https://ws.example:8443/a@b' }",
    "{ host: h, state: 'postgres://db.example:5432/states?state=ops@example.com' }",
    "{ host: h, state: 'postgres://ops@db.example:5432/states?state=a@b' }",
    "{ host: h, state: 'postgres://ops@[::1]:5432/states?state=a@b' }",
  ])("does not take a port for a password when the URL contains a later @: %s", (entry) => {
    expect(problems(`workspaces:\n  a: ${entry}\n`)).toEqual([]);
  });

  test.each([
    ["./s", "s"],
    [".workspace/fleet/b", undefined],
    ["/fleet/x/../s", "s/"],
    ["postgres://ops@db.example/states", "postgresql://ops@DB.example:5432/states?state=default"],
    ["postgres://db.example/states?schema=s", "postgres://db.example/states?sslmode=require&schema=s"],
    ["postgres://db.example/states?state=s", "postgres:///states?state=s&host=db.example&connect_timeout=5"],
    ["workspace:/s", "workspace:/s/"],
  ])("finds that %s and %s are the same state", (one, other) => {
    const second = other === undefined ? "{ host: h }" : `{ host: h, state: "${other}" }`;
    expect(problems(`workspaces:\n  a: { host: h, state: "${one}" }\n  b: ${second}\n`)).toEqual([
      "SPEC_DUPLICATE_NAME 3: the workspaces a and b have the same state",
    ]);
  });

  test.each(["https://ws.example", "WS.example", "https://ws.example:443/"])(
    "finds that one path is the same state in ws.example and in %s",
    (host) => {
      const entry = (of: string) => `{ host: "${of}", state: "workspace:/s" }`;
      expect(problems(`workspaces:\n  a: ${entry("ws.example")}\n  b: ${entry(host)}\n`)).toEqual([
        "SPEC_DUPLICATE_NAME 3: the workspaces a and b have the same state",
      ]);
    },
  );

  test("lets the targets of a spec keep their states in the same database", () => {
    const entry = (target: string) => `{ host: h, target: ${target}, state: "postgres://db.example/states" }`;
    expect(problems(`workspaces:\n  a: ${entry("prod")}\n  b: ${entry("test")}\n`)).toEqual([]);
  });

  test("finds that a workspace without a target can have the state of one with a target", () => {
    const entry = "host: h, state: 'postgres://db.example/states'";
    const text = (first: string, second: string) =>
      `workspaces:\n  a: { ${entry}${first} }\n  b: { ${entry}${second} }\n`;
    const found = ["SPEC_DUPLICATE_NAME 3: the workspaces a and b can have the same state"];
    expect(problems(text(", target: prod", ""))).toEqual(found);
    expect(problems(text("", ", target: prod"))).toEqual(found);
    const named = text(", target: prod", "").replace("states' }", "states?state=b' }");
    expect(problems(named)).toEqual([]);
  });

  test("does not let the state of a workspace replace the results of the fleet", () => {
    expect(problems("workspaces:\n  results.jsonl: { host: h }\n")).toEqual([
      "SPEC_VALUE 2: results.jsonl is the name of the file of results, so no workspace can have it",
    ]);
  });

  test.each([
    ["hosts", "host: h", "host: i", "workspace:/s"],
    ["profiles", "profile: p", "profile: q", "workspace:/s"],
    [
      "embedded workspaces",
      "host: embedded, spec: a",
      "host: embedded, spec: b/workspace.yaml",
      "workspace:/s",
    ],
  ])("lets workspaces keep their states at the same location of different %s", (_, a, b, state) => {
    const text = (one: string, other: string) =>
      `workspaces:\n  a: { ${one}, state: "${state}" }\n  b: { ${other}, state: "${state}" }\n`;
    expect(problems(text(a, b))).toEqual([]);
    expect(problems(text(a, a))).toEqual([
      "SPEC_DUPLICATE_NAME 3: the workspaces a and b have the same state",
    ]);
  });
});
