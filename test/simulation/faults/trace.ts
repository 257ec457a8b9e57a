// Every moment at which a process can crash, named; and a process that crashes at one of them: its ports never settle
// again.

import type { HttpRequest, HttpResponse } from "../../../src/api/http/transport.ts";
import { CrashPoints, never } from "../../engine/crash-points.ts";
import { FILE_CHANGES } from "../../engine/crashing.ts";
import type { ProcessOptions, Send } from "../../engine/site.ts";

export interface Point {
  /**
   * `send`, `committed`, and `answered` are the moments of a request, `ask` and `took effect` those of a state that
   * is not a file.
   */
  readonly what: string;
  /** A path on the disk, the request's method and path, or the name of what a place is asked. */
  readonly of: string;
}

export interface CrashingProcess {
  readonly options: Pick<ProcessOptions, "hooks" | "transport" | "line">;
  /** Passed points. */
  readonly points: readonly Point[];
  /** Settles when the process stops. */
  readonly stopped: Promise<void>;
}

export function isWrite(request: Pick<HttpRequest, "method" | "path">): boolean {
  // Cluster events are asked for with POST (contract B 4.3).
  return request.method !== "GET" && !request.path.endsWith("/clusters/events");
}

export function nameOf(request: Pick<HttpRequest, "method" | "path">): string {
  return `${request.method} ${request.path.replace(/\?.*$/, "")}`;
}

type Wire = (request: HttpRequest, send: Send) => Promise<HttpResponse>;

/** `at` counts points from 0; without it the process lives, and its points are counted. */
export function crashingProcess(at?: number, wire: Wire = (request, send) => send(request)): CrashingProcess {
  const points = new CrashPoints<Point>(at);
  const pass = (what: string, of: string) => points.pass({ what, of });
  return {
    points: points.passed,
    stopped: points.stopped,
    options: {
      hooks: {
        before: (operation, path) => {
          if (FILE_CHANGES.has(operation)) return pass(operation, path);
          return points.crashed ? never() : undefined;
        },
        after: (operation, path) => pass(`${operation} done`, path),
      },
      line: async (what, changes, work) => {
        if (points.crashed) return never();
        if (!changes) return work();
        await pass("ask", what);
        const answer = await work();
        await pass("took effect", what);
        return answer;
      },
      transport: async (request, send): Promise<HttpResponse> => {
        if (points.crashed) return never();
        if (!isWrite(request)) return wire(request, send);
        const name = nameOf(request);
        await pass("send", name);
        const answer = await wire(request, send);
        await pass("committed", name);
        await pass("answered", name);
        return answer;
      },
    },
  };
}
