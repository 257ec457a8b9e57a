// Reads a stored result. Files and tables can be edited, so values of the wrong type are dropped.

import type { Diagnostic } from "../core/diagnostic.ts";
import { SEVERITIES } from "../resource/field-schema.ts";
import { FLEET_COMMANDS, RESULT_STATUSES, type WorkspaceResult } from "./model/result.ts";

type Unread<T> = { readonly [Field in keyof T]?: unknown };

export function resultIn(value: unknown): WorkspaceResult | undefined {
  const { workspace, startedAt, durationMs, ...rest } = fieldsOf<WorkspaceResult>(value);
  const command = FLEET_COMMANDS.find((one) => one === rest.command);
  const status = RESULT_STATUSES.find((one) => one === rest.status);
  if (typeof workspace !== "string" || command === undefined || status === undefined) return undefined;
  if (!isTime(startedAt) || !isTime(durationMs)) return undefined;
  const { exitCode, worker, counts, drift, diagnostics } = rest;
  return {
    workspace,
    command,
    status,
    startedAt,
    durationMs,
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof worker === "string" ? { worker } : {}),
    counts: numbersOf(counts, (name) => /^[a-z_-]+$/.test(name)),
    drift: numbersOf(drift, (name) => (SEVERITIES as readonly string[]).includes(name)),
    diagnostics: diagnosticsIn(diagnostics),
  };
}

/** Leaves out what is not a diagnostic. */
export function diagnosticsIn(value: unknown): readonly Diagnostic[] {
  return Array.isArray(value) ? value.flatMap(diagnosticIn) : [];
}

function diagnosticIn(value: unknown): readonly Diagnostic[] {
  const { severity, code, message, address, at, hint, cause } = fieldsOf<Diagnostic>(value);
  if (severity !== "error" && severity !== "warning") return [];
  if (typeof code !== "string" || !/^[A-Z0-9_]+$/.test(code) || typeof message !== "string") return [];
  const { file, line, column } = fieldsOf<NonNullable<Diagnostic["at"]>>(at);
  const isPlace = typeof file === "string" && isTime(line) && isTime(column);
  return [
    {
      severity,
      code: code as Diagnostic["code"],
      message,
      ...(typeof address === "string" ? { address } : {}),
      ...(isPlace ? { at: { file, line, column } } : {}),
      ...(typeof hint === "string" ? { hint } : {}),
      ...(typeof cause === "string" ? { cause } : {}),
    } as Diagnostic,
  ];
}

function fieldsOf<T>(value: unknown): Unread<T> {
  return typeof value === "object" && value !== null ? value : {};
}

/** The range of dates that JavaScript can print. */
const LAST_TIME = 8.64e15;

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= LAST_TIME / 2;
}

function numbersOf(value: unknown, isName: (name: string) => boolean): Readonly<Record<string, number>> {
  const entries = Object.entries(fieldsOf<Record<string, unknown>>(value)) as [string, unknown][];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => isName(entry[0]) && Number.isSafeInteger(entry[1])),
  );
}
