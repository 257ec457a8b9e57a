import { describe, expect, test } from "vitest";
import { Failure } from "../../../../src/core/diagnostic.ts";
import {
  databaseFailure,
  isPostgresUrl,
  parsePostgresUrl,
  withoutPassword,
} from "../../../../src/state/backends/postgres/database.ts";

const parse = (text: string, env: Record<string, string> = {}) => parsePostgresUrl(text, "default", env);

function refusal(text: string): string {
  try {
    parse(text);
    return "fine";
  } catch (failure) {
    return failure instanceof Failure ? JSON.stringify(failure.diagnostics) : String(failure);
  }
}

describe("a PostgreSQL URL", () => {
  test("names host, port, user, database and state", () => {
    expect(parse("postgres://ada:p%40ss@db.example:6543/states?state=etl")).toMatchObject({
      host: "db.example",
      port: 6543,
      user: "ada",
      password: "p@ss",
      database: "states",
      state: "etl",
      schema: "workspace_state",
      shown: "postgres://ada@db.example:6543/states?state=etl",
    });
  });

  test("takes the state's name from the target, and the rest from the environment, where it says none", () => {
    const env = { PGHOST: "env.example", PGPORT: "7", PGUSER: "bo", PGPASSWORD: "secret", PGDATABASE: "d" };
    expect(parsePostgresUrl("postgresql://", "prod", env)).toMatchObject({
      host: "env.example",
      port: 7,
      user: "bo",
      password: "secret",
      database: "d",
      state: "prod",
      tls: { on: true, checks: "host" },
    });
  });

  test("may name a socket", () => {
    for (const url of ["postgres:///d?host=/run/pg", "postgres://%2Frun%2Fpg/d"])
      expect(parse(url)).toMatchObject({ host: "/run/pg", database: "d", tls: { on: false } });
  });

  test.each([
    ["postgres://db.example/d", { on: true, checks: "host" }],
    ["postgres://127.0.0.1/d", { on: false }],
    ["postgres://localhost/d?sslmode=verify-full", { on: true, checks: "host" }],
    ["postgres://db.example/d?sslmode=require", { on: true, checks: "nothing" }],
    [
      "postgres://db.example/d?sslmode=verify-ca&sslrootcert=/ca.pem",
      { on: true, checks: "authority", authority: "/ca.pem" },
    ],
    ["postgres://db.example/d?sslmode=disable", { on: false }],
  ])(
    "%s is connected to as it says, and over a network encrypted and verified unless it says otherwise",
    (url, tls) => {
      expect(parse(url).tls).toEqual(tls);
    },
  );

  test.each([
    "postgres://ada:p@ss#canary@db/d",
    "postgres://ada:pass/canary@db/d",
    "postgres://ada:pass?canary@db/d",
    "postgres://ada:pass%canary@db/d",
    "postgres://ada:canary@db:99999/d",
    "postgres://ada:canary@db/d?sslmod=require",
    "postgres://ada:canary@db/d?sslmode=prefer",
    "postgres://ada:canary@db/d?schema=a;drop",
    "postgres://ada:canary@db/d?connect_timeout=never",
    "postgres://ada:canary@db/d?state=",
  ])("%s is refused, and the message repeats nothing of the pass", (url) => {
    const told = refusal(url);
    expect(told).toContain("CLI_USAGE");
    expect(told).not.toMatch(/canary|p@ss/);
  });

  test("is distinguished from a folder by its scheme", () => {
    expect(
      ["postgres://x", "PostgreSQL://x", "postgres", "./postgres:x", "workspace:/x"].map(isPostgresUrl),
    ).toEqual([true, true, false, false, false]);
  });
});

test("an error of the server is reported without the password in any encoding", () => {
  const url = parse("postgres://ada:s%2Fcret%20x@db.example/d");
  const error = Object.assign(new Error("login of ada with s/cret x (s%2Fcret%20x) failed"), {
    code: "28P01",
  });
  const [told] = databaseFailure(error, url).diagnostics;
  expect(told).toMatchObject({ code: "STATE_IO", cause: "login of ada with *** (***) failed (28P01)" });
  expect(JSON.stringify(told)).not.toContain("cret");
  expect(withoutPassword("nothing to hide", undefined)).toBe("nothing to hide");
});
