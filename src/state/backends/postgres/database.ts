// The database of a state: its interface, and the parts of a postgres:// URL.

import { errorCode, Failure, failureOf, thrownText } from "../../../core/diagnostic.ts";
import { defined } from "../../../core/json.ts";

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
    (text, form) => text.replaceAll(form, "***"),
    text,
  );
}

/** The use of a database decides the parameters of its URL and the words of messages. */
type PostgresUse = "state" | "fleet";

export interface PostgresUrl {
  readonly use: PostgresUse;
  readonly host: string | undefined;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly tls: Tls;
  readonly connectTimeoutMs: number;
  readonly schema: string;
  /** The state's name among those of the database. */
  readonly state: string;
  /** The whole without its password, for people. */
  readonly shown: string;
}

/** `checks`: nothing, that an authority signed the certificate, or also that it is the host's own. Paths are of PEM files. */
export type Tls =
  | { readonly on: false }
  | {
      readonly on: true;
      readonly checks: "nothing" | "authority" | "host";
      readonly authority?: string;
      readonly certificate?: string;
      readonly key?: string;
    };

const KNOWN = ["schema", "host", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout"] as const;
const CHECKS = new Map([
  ["require", "nothing"],
  ["verify-ca", "authority"],
  ["verify-full", "host"],
] as const) as ReadonlyMap<string, "nothing" | "authority" | "host">;
const MODES = ["disable", ...CHECKS.keys()];
const WRITTEN = {
  state: "write it as postgres://user@host:5432/database?state=name",
  fleet: "write it as postgres://user@host:5432/database",
} as const;
const DEFAULT_SCHEMAS = { state: "workspace_state", fleet: "workspace_fleet" } as const;
const CONNECT_TIMEOUT_S = 10;

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

type PostgresEnvironment = Readonly<Record<string, string | undefined>>;

/** `env`: PGHOST and others as defaults. No message repeats the URL, because it may contain a password. */
export function parsePostgresUrl(
  text: string,
  name: string,
  env: PostgresEnvironment,
  use: PostgresUse = "state",
): PostgresUrl {
  const refused: Refuse = (what, hint = WRITTEN[use]) =>
    failureOf("CLI_USAGE", `the ${use}'s PostgreSQL URL cannot be used: ${what}`, { hint });
  const decoded = decoder(refused);
  const url = urlOf(text, refused, WRITTEN[use]);
  const parameters = new Map<string, string>();
  const permitted: readonly string[] = use === "state" ? ["state", ...KNOWN] : KNOWN;
  for (const [key, value] of url.searchParams) {
    if (!permitted.includes(key))
      throw refused("it has an unknown parameter", `the parameters are ${permitted.join(", ")}`);
    parameters.set(key, value);
  }
  const host =
    parameters.get("host") ?? nonEmpty(decoded(url.hostname.replace(/^\[|\]$/g, ""))) ?? nonEmpty(env.PGHOST);
  const database = nonEmpty(decoded(url.pathname.replace(/^\//, ""))) ?? nonEmpty(env.PGDATABASE);
  const user = nonEmpty(decoded(url.username)) ?? nonEmpty(env.PGUSER);
  const schema = parameters.get("schema") ?? DEFAULT_SCHEMAS[use];
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw refused("its schema is not a plain name", "use lowercase letters, digits, and underscores");
  const state = parameters.get("state") ?? name;
  if (state === "" || state.length > 200)
    throw refused("the name of its state must have 1 to 200 characters");
  const port = Number(nonEmpty(url.port) ?? nonEmpty(env.PGPORT) ?? 5432);
  const at = `${user === undefined ? "" : `${user}@`}${encodeURIComponent(host ?? "localhost")}:${port}`;
  return {
    use,
    host,
    port,
    user,
    password: nonEmpty(decoded(url.password)) ?? nonEmpty(env.PGPASSWORD),
    database,
    tls: tlsOf(parameters, host, refused),
    connectTimeoutMs: timeoutOf(parameters.get("connect_timeout"), refused),
    schema,
    state,
    shown: `postgres://${at}/${database ?? ""}${use === "state" ? `?state=${encodeURIComponent(state)}` : ""}`,
  };
}

type Refuse = (what: string, hint?: string) => Failure;

function urlOf(text: string, refused: Refuse, written: string): URL {
  const url = URL.parse(text);
  const hint = `${written}; in a password, write @ / ? # and % as %40 %2F %3F %23 and %25`;
  if (url === null) throw refused("it is not a valid URL", hint);
  // Left of its last @, such a character ends the host too early: then a part of the password would be taken for a name.
  if (url.hash !== "" || /[@/]/.test(url.pathname.slice(1)) || url.search.includes("@"))
    throw refused("it does not have this form", hint);
  return url;
}

function decoder(refused: Refuse): (text: string) => string {
  return (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      const what = "it contains a % that is not followed by two hex digits";
      throw refused(what, "write a % in a name or password as %25");
    }
  };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function timeoutOf(text: string | undefined, refused: Refuse): number {
  const seconds = text === undefined ? CONNECT_TIMEOUT_S : Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 600)
    throw refused("its connect_timeout is not a number of seconds from 1 to 600");
  return seconds * 1000;
}

/** Over a network the connection is encrypted and the host's certificate checked, unless the URL says otherwise. */
function tlsOf(parameters: ReadonlyMap<string, string>, host: string | undefined, refused: Refuse): Tls {
  const mode = parameters.get("sslmode") ?? (isLocal(host) ? "disable" : "verify-full");
  const [authority, certificate, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) =>
    parameters.get(name),
  );
  const files = defined({ authority, certificate, key });
  if (mode === "disable") return { on: false };
  const checks = CHECKS.get(mode);
  if (checks === undefined) throw refused("its sslmode is unknown", `the modes are ${MODES.join(", ")}`);
  return { on: true, checks, ...files };
}

function isLocal(host: string | undefined): boolean {
  return host === undefined || host.startsWith("/") || ["localhost", "127.0.0.1", "::1"].includes(host);
}
