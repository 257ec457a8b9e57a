// Injected faults: rules that decide the fate of requests.

import { defined, isObject, type Json, type JsonObject } from "../core/json.ts";
import { invalidValue } from "./world/errors.ts";

const FATES = [
  "drop_before",
  "drop_after",
  "commit_late",
  "status",
  "status_after",
  "slow",
  "rate",
  "truncate",
] as const;
type Fate = (typeof FATES)[number];

export interface FaultRule {
  readonly method?: string;
  /** Exact, or a prefix that ends in `*`. */
  readonly path: string;
  /** Matches that pass before the rule acts. */
  readonly skip: number;
  /** How often it acts; absent means always. */
  readonly times?: number;
  readonly fate: Fate;
  readonly status: number;
  readonly error_code: string;
  readonly retry_after?: string;
  readonly delay_ms: number;
  /** `rate`: the most requests to one endpoint in any second. */
  readonly per_second: number;
}

interface Counted {
  readonly rule: FaultRule;
  seen: number;
  /** `rate`: when the requests of the last second were served, by endpoint. */
  readonly served: Map<string, number[]>;
}

/** The first rule that matches a request and is neither skipping nor used up decides. */
export class Faults {
  #rules: Counted[] = [];

  set(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, seen: 0, served: new Map() }));
  }

  get rules(): readonly FaultRule[] {
    return this.#rules.map((counted) => counted.rule);
  }

  /** Whether a `rate` rule lets a request through now, which then counts. */
  admits(rule: FaultRule, endpoint: string, now: number): boolean {
    const served = this.#rules.find((counted) => counted.rule === rule)?.served ?? new Map();
    const recent = (served.get(endpoint) ?? []).filter((at: number) => at > now - 1_000);
    const admitted = recent.length < rule.per_second;
    if (admitted) recent.push(now);
    served.set(endpoint, recent);
    return admitted;
  }

  /** The rule that acts on this request. Every matching rule counts the request as seen. */
  meet(method: string, path: string): FaultRule | undefined {
    let acting: FaultRule | undefined;
    for (const counted of this.#rules) {
      if (!matches(counted.rule, method, path)) continue;
      const { skip, times } = counted.rule;
      const acts = counted.seen >= skip && (times === undefined || counted.seen < skip + times);
      if (acts && acting !== undefined) continue;
      counted.seen++;
      if (acts) acting = counted.rule;
    }
    return acting;
  }
}

function matches(rule: FaultRule, method: string, path: string): boolean {
  if (rule.method !== undefined && rule.method !== method) return false;
  return rule.path.endsWith("*") ? path.startsWith(rule.path.slice(0, -1)) : path === rule.path;
}

/** Reads `{rules: […]}`. Throws INVALID_PARAMETER_VALUE when a rule is not one. */
export function readRules(input: JsonObject): FaultRule[] {
  const rules = input.rules;
  if (!Array.isArray(rules)) throw invalidValue("rules must be an array");
  return rules.map(readRule);
}

function readRule(value: Json): FaultRule {
  if (!isObject(value)) throw invalidValue("a rule is an object");
  const { path, method, retry_after: retryAfter, times } = value;
  const fate = FATES.find((name) => name === value.fate);
  if (typeof path !== "string") throw invalidValue("a rule needs a path");
  if (fate === undefined) throw invalidValue(`fate must be one of ${FATES.join(", ")}`);
  const perSecond = count(value.per_second, "per_second", 0);
  if (fate === "rate" && perSecond === 0) throw invalidValue("a rate needs per_second, 1 or more");
  const status =
    fate === "rate"
      ? 429
      : count(value.status, "status", fate === "status" || fate === "status_after" ? 500 : 0);
  return {
    path,
    fate,
    status,
    skip: count(value.skip, "skip", 0),
    delay_ms: count(value.delay_ms, "delay_ms", 0),
    per_second: perSecond,
    error_code: typeof value.error_code === "string" ? value.error_code : codeOf(status),
    ...(typeof method === "string" ? { method: method.toUpperCase() } : {}),
    ...defined({ times: times === undefined ? undefined : count(times, "times", 0) }),
    ...(fate === "rate" ? { retry_after: "1" } : {}),
    ...defined({ retry_after: retryAfter === undefined ? undefined : String(retryAfter) }),
  };
}

function codeOf(status: number): string {
  if (status === 429) return "REQUEST_LIMIT_EXCEEDED";
  return status === 503 ? "TEMPORARILY_UNAVAILABLE" : "INTERNAL_ERROR";
}

function count(value: Json | undefined, name: string, absent: number): number {
  if (value === undefined) return absent;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw invalidValue(`${name} must be an integer of at least 0`);
  return value;
}
