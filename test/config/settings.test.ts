// The host and the token of a run: option before environment before profile, and no token to another host.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProcessEnvironment } from "../../src/config/environment.ts";
import { parseIni } from "../../src/config/profile.ts";
import { integerFromEnv, readTimeoutOf, settingsOf, timeFromEnv } from "../../src/config/settings.ts";
import { contextWith } from "../cli/context.ts";

const NONE = { host: undefined, profile: undefined, parallelism: undefined };

const PROFILES =
  "host = https://default.example\ntoken = default-token\n[prod]\nhost=https://prod.example\ntoken=prod-token\nuser = deployer@example.com\n[bare]\nhost = https://bare.example\n";

function withProfiles(env: ProcessEnvironment = {}, mode = 0o600) {
  const context = contextWith(env);
  const path = join(context.home, ".workspacecfg");
  writeFileSync(path, PROFILES);
  chmodSync(path, mode);
  return context;
}

const placeOf = (env: ProcessEnvironment, options = {}) =>
  settingsOf(withProfiles(env), { ...NONE, ...options }).endpoint;

describe("settings", () => {
  test("without anything the default profile counts", () => {
    expect(placeOf({})).toMatchObject({
      identity: "https://default.example",
      credential: { token: "default-token" },
    });
  });

  test("the environment outweighs the profile, an option outweighs both", () => {
    const env = { WORKSPACE_HOST: "https://env.example/", WORKSPACE_TOKEN: "env-token" };
    expect(placeOf(env)).toMatchObject({
      identity: "https://env.example",
      credential: { token: "env-token" },
    });
    expect(placeOf(env, { host: "https://option.example" })).toMatchObject({
      identity: "https://option.example",
      credential: { token: "env-token" },
    });
  });

  test("the dialect of a profile is for the host of the profile alone", () => {
    const context = contextWith({ WORKSPACE_TOKEN: "t" });
    const path = join(context.home, ".workspacecfg");
    writeFileSync(path, "host = https://a.example\ndialect = databricks\n", { mode: 0o600 });
    const spoken = (host?: string) => settingsOf(context, { ...NONE, host }).dialect.dialect;
    expect(spoken("https://a.example")).toBe("databricks");
    expect(spoken("https://b.example")).toBe("contract");
  });

  test("a profile that is named on the command line is meant whole", () => {
    const env = { WORKSPACE_HOST: "https://env.example", WORKSPACE_TOKEN: "env-token" };
    expect(placeOf(env, { profile: "prod" })).toMatchObject({
      identity: "https://prod.example",
      credential: { token: "prod-token" },
    });
    expect(settingsOf(withProfiles(env), { ...NONE, profile: "prod" }).user).toBe("deployer@example.com");
  });

  test("a profile's token never goes to another host", () => {
    expect(() => placeOf({}, { host: "https://evil.example" })).toThrow("API_UNAUTHENTICATED");
    expect(placeOf({}, { host: "https://default.example/" })).toMatchObject({
      credential: { token: "default-token" },
    });
  });

  test("without a host, a host without a token, or a profile that is not there, nothing is guessed", () => {
    expect(() => settingsOf(contextWith(), NONE)).toThrow("CLI_NO_HOST");
    expect(() => placeOf({}, { profile: "bare" })).toThrow("API_UNAUTHENTICATED");
    expect(() => placeOf({}, { profile: "prd" })).toThrow("CLI_FILE");
  });

  test("the embedded workspace needs no token", () => {
    expect(settingsOf(contextWith({ WORKSPACE_HOST: "embedded" }), NONE).endpoint).toEqual({
      embedded: true,
      identity: "embedded",
      dialect: "contract",
      cloud: "azure",
    });
  });

  test("a file with a token that others can read is warned of", () => {
    expect(settingsOf(withProfiles({}, 0o644), NONE).warnings).toMatchObject([
      { severity: "warning", code: "CLI_FILE" },
    ]);
    expect(settingsOf(withProfiles(), NONE).warnings).toEqual([]);
  });

  test("sending a token unencrypted is a warning, except to this machine", () => {
    const warned = (host: string) =>
      settingsOf(contextWith({ WORKSPACE_HOST: host, WORKSPACE_TOKEN: "t" }), NONE).warnings.map(
        ({ code }) => code,
      );
    for (const host of [
      "http://workspace.example",
      "http://10.0.0.7:8080/base",
      "http://127.0.0.1.example",
      "http://[fe80::1]",
    ])
      expect(warned(host)).toEqual(["CLI_PLAIN_HTTP"]);
    for (const host of ["https://workspace.example", "workspace.example", "embedded"])
      expect(warned(host)).toEqual([]);
    for (const host of [
      "http://127.0.0.1:8080",
      "http://127.9.9.9",
      "http://localhost",
      "http://[::1]:80",
      "http://a.localhost.",
    ])
      expect(warned(host)).toEqual([]);
  });

  test("an access token is not sent to a host of the vendor unencrypted", () => {
    const settings = (host: string) =>
      settingsOf(contextWith({ WORKSPACE_HOST: host, WORKSPACE_TOKEN: "t" }), NONE);
    for (const host of [
      "http://adb-1.2.azuredatabricks.net",
      "http://dbc-1.cloud.databricks.com./",
      "http://1.2.gcp.databricks.com:8080",
    ])
      expect(() => settings(host)).toThrow("CLI_PLAIN_HTTP");
    expect(settings("https://adb-1.2.azuredatabricks.net").warnings).toEqual([]);
  });

  test("numbers and times of the environment are checked", () => {
    const context = contextWith({ A: "12", B: "many", C: "5m", D: "soon", E: "" });
    expect(integerFromEnv(context, "A")).toBe(12);
    expect(() => integerFromEnv(context, "B")).toThrow("CLI_USAGE");
    expect(timeFromEnv(context, "C")).toBe(300_000);
    expect(() => timeFromEnv(context, "D")).toThrow("CLI_USAGE");
    expect(integerFromEnv(context, "E")).toBeUndefined();
  });
});

test.each(["[DEFAULT\nhost = h", "host = h\nnonsense", "host = h\n[]", "= h"])(
  "an invalid line is reported with its location: %j",
  (text) => {
    const context = contextWith();
    const path = join(context.home, ".workspacecfg");
    writeFileSync(path, text, { mode: 0o600 });
    const line = text.startsWith("host") ? 2 : 1;
    let told: unknown;
    try {
      settingsOf(context, NONE);
    } catch (problem) {
      told = problem;
    }
    expect(told).toMatchObject({ diagnostics: [{ code: "CLI_FILE", at: { file: path, line, column: 1 } }] });
  },
);

test("INI: sections, comments, spaces, a byte order mark; keys in any case", () => {
  const sections = parseIni("\uFEFF; c\nHost = a=b \n\n[ x ]\n# c\ntoken=t\nnonsense\n");
  expect([...sections].map(([name, values]) => [name, Object.fromEntries(values)])).toEqual([
    ["DEFAULT", { host: "a=b" }],
    ["x", { token: "t" }],
  ]);
});

test("INI: a comment after the name of a section, colons, Windows lines, and a section in two parts", () => {
  const sections = parseIni("[a] # mine\r\nhost: https://x:1\r\n[b]\r\n[a] ;\r\ntoken = t:u\r\n");
  expect([...sections].map(([name, values]) => [name, Object.fromEntries(values)])).toEqual([
    ["a", { host: "https://x:1", token: "t:u" }],
    ["b", {}],
  ]);
});

describe("the time limit of reads", () => {
  const limitOf = (env: ProcessEnvironment, options = {}) => readTimeoutOf(contextWith(env), options);

  test("is 10 minutes, and 2 for an untrusted spec", () => {
    expect(limitOf({})).toBe(600_000);
    expect(limitOf({}, { untrusted: true })).toBe(120_000);
  });

  test("is that of the option, which outweighs the environment", () => {
    const env = { WORKSPACE_READ_TIMEOUT: "30s" };
    expect(limitOf(env)).toBe(30_000);
    expect(limitOf(env, { untrusted: true })).toBe(30_000);
    expect(limitOf(env, { readTimeout: 5_000 })).toBe(5_000);
  });

  test("is between 100ms and 24h", () => {
    expect([limitOf({}, { readTimeout: 100 }), limitOf({}, { readTimeout: 86_400_000 })]).toHaveLength(2);
    for (const readTimeout of [0, 99, 86_400_001])
      expect(() => limitOf({}, { readTimeout })).toThrow("--read-timeout is not between 100ms and 24h");
    expect(() => limitOf({ WORKSPACE_READ_TIMEOUT: "0s" })).toThrow(
      "WORKSPACE_READ_TIMEOUT is not between 100ms and 24h",
    );
  });
});
