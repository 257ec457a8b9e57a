// The writes that reached the service, with their bodies and whether they took effect.

import { OPERATIONS, type OperationName } from "../../../src/api/contract/operations.ts";
import type { HttpRequest, HttpResponse } from "../../../src/api/http/transport.ts";
import { parseJson } from "../../../src/core/exact-json.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Send, Site } from "../../engine/site.ts";
import { isWrite } from "../faults/trace.ts";
import { contractPath } from "../world/dialect.ts";

export interface Written {
  readonly operation: OperationName;
  /** The id in the path, where there is one. */
  readonly id: string | undefined;
  readonly body: JsonObject;
  /** The service answered with success: the write took effect. */
  readonly effective: boolean;
  /** Which process of the case sent it, from 1. */
  readonly process: number;
}

export class Ledger {
  readonly writes: Written[] = [];
  /** Every request line, as a server's log has it. */
  readonly lines: string[] = [];
  process = 0;
  /** Requests that arrive long after they were sent, by the process that sent them. */
  readonly sentBy = new WeakMap<HttpRequest, number>();

  /** Watches everything that reaches the service of a site. */
  watch(site: Site): void {
    const send = site.send.bind(site);
    site.send = (request) => this.#noted(request, send);
  }

  async #noted(request: HttpRequest, send: Send): Promise<HttpResponse> {
    const process = this.sentBy.get(request) ?? this.process;
    this.lines.push(`${request.method} ${request.path}`);
    const answer = await send(request);
    if (isWrite(request)) {
      const { operation, id } = operationOf(request);
      const effective = answer.status >= 200 && answer.status < 300;
      this.writes.push({ operation, id, body: bodyOf(request), effective, process });
    }
    return answer;
  }

  effective(process: number): readonly Written[] {
    return this.writes.filter((one) => one.effective && one.process === process);
  }
}

const PATTERNS = Object.entries(OPERATIONS).map(([name, { method, path }]) => ({
  name: name as OperationName,
  method,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "([^/]+)")}$`),
}));

export function operationOf(request: Pick<HttpRequest, "method" | "path">): {
  readonly operation: OperationName;
  readonly id: string | undefined;
} {
  const path = contractPath(request.path.replace(/\?.*$/, ""));
  for (const { name, method, pattern } of PATTERNS) {
    const match = method === request.method ? pattern.exec(path) : null;
    if (match !== null) return { operation: name, id: match[1] };
  }
  throw new Error(`no operation has ${request.method} ${path}`);
}

export function bodyOf({ body }: HttpRequest): JsonObject {
  if (body === undefined) return {};
  const parsed: Json = parseJson(typeof body === "string" ? body : new TextDecoder().decode(body));
  return parsed as JsonObject;
}
