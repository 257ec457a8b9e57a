// What the PostgreSQL store needs of a database: single statements. No session is counted on, so any pooler may stand between.

export type Value = string | number | boolean | null | readonly string[];
export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /** One statement, in a transaction of its own. Repeated where the connection broke: a statement has to find out whether it ran already. */
  query(sql: string, values: readonly Value[]): Promise<Answer>;
  /** Several statements in one transaction. */
  script(statements: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface Answer {
  readonly rows: readonly Row[];
  /** Rows that were given, written or deleted. */
  readonly count: number;
}

/** The SQLSTATE of an error from the server. */
export function sqlState(failure: unknown): string | undefined {
  return failure instanceof Error && "code" in failure && typeof failure.code === "string"
    ? failure.code
    : undefined;
}

export function numberIn(row: Row | undefined, column: string): number {
  return Number(row?.[column] ?? 0);
}

export function textIn(row: Row | undefined, column: string): string | undefined {
  const value = row?.[column];
  return typeof value === "string" ? value : undefined;
}
