// The database interface of the PostgreSQL backend: single statements without sessions, so any connection pooler works.

import { errorCode, Failure, failureOf, thrownText } from "../../../core/diagnostic.ts";
import type { PostgresUrl } from "./url.ts";

export type Value = string | number | boolean | null | readonly string[];
export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /** Runs one statement in its own transaction. It is repeated if the connection broke, so it must detect that it already ran. */
  query(sql: string, values: readonly Value[]): Promise<QueryResult>;
  script(statements: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface QueryResult {
  readonly rows: readonly Row[];
  readonly count: number;
}

export function columnNumber(row: Row | undefined, column: string): number {
  return Number(row?.[column] ?? 0);
}

export function columnText(row: Row | undefined, column: string): string | undefined {
  const value = row?.[column];
  return typeof value === "string" ? value : undefined;
}

/** The connection broke or the server is temporarily unavailable: retry. */
export function isPassing(failure: unknown): boolean {
  const code = errorCode(failure);
  if (code !== undefined) return code.startsWith("08") || PASSING.test(code);
  return BROKEN.test(failure instanceof Error ? failure.message : "");
}

/** A table or its schema does not exist. */
export function isMissingTable(failure: unknown): boolean {
  return /^(42P01|3F000)$/.test(errorCode(failure) ?? "");
}

const BROKEN = /connection terminated|connection ended|timeout|client has encountered a connection error/i;

const PASSING = /^(ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|ENOENT|40001|40P01|53300|57P0[123])$/;

export function databaseFailure(failure: unknown, url: PostgresUrl): Failure {
  if (failure instanceof Failure) return failure;
  const state = errorCode(failure) ?? "";
  const [, message, hint] = WORDS.find(([codes]) => codes.test(state)) ?? OTHER;
  const text = thrownText(failure);
  const cause = withoutPassword(/^[0-9A-Z]{5}$/.test(state) ? `${text} (${state})` : text, url.password);
  const problem = `the ${url.use}'s database ${url.shown} ${message}`;
  const code = url.use === "state" ? "STATE_IO" : "FLEET_DATABASE";
  return failureOf(code, problem, { hint: hint.replace("{use}", url.use), cause });
}

type Words = readonly [RegExp, string, string];

const OTHER: Words = [/^/, "cannot be used", "check the URL, the network, and the server's log"];

const WORDS: readonly Words[] = [
  [/^28/, "rejected the login", "check the user and the password (PGPASSWORD, ~/.pgpass, or the URL)"],
  [/^3D000$/, "does not exist", "create it, or use another one in the URL"],
  [/^42501$/, "does not grant the user this permission", "grant the permissions listed in docs/{use}.md"],
  [
    /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENOENT|EHOSTUNREACH|ENETUNREACH)$/,
    "cannot be reached",
    "check the host, the port, and the network",
  ],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|ALTNAME/,
    "has a certificate that is not trusted",
    "pass the CA certificate that signed it with --ca-file, WORKSPACE_CA_FILE, or sslrootcert=FILE in the URL",
  ],
  [/^53|^57P03$/, "is too busy or not ready", "try again later"],
  [/^57P0[12]$|^08|^ECONNRESET$/, "closed the connection", "check whether the server restarts"],
];

/** Also in the encoded form of URLs. */
export function withoutPassword(text: string, password: string | undefined): string {
  if (password === undefined || password === "") return text;
  return [password, encodeURIComponent(password), encodeURI(password)].reduce(
    (found, form) => found.replaceAll(form, "***"),
    text,
  );
}
