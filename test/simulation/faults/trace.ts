// Every moment at which a process can crash, named; and a process that crashes at one of them: its ports never settle
// again.

import type { HttpRequest, HttpResponse } from "../../../src/api/http/message.ts";
import type { ProcessOptions, Send } from "../../engine/site.ts";

/** A new promise each time: a shared one would keep every waiter in memory. */
const never = () => new Promise<never>(() => {});

/** File operations that change something. */
const CHANGES = new Set(["write", "sync", "rename", "link", "remove", "syncFolder", "open"]);

export interface Point {
  /**
   * `send`, `committed`, and `answered` are the moments of a request, `ask` and `took effect` those of a state that
   * is not a file.
   */
  readonly what: string;
  /** A path on the disk, the request's method and path, or the name of what a place is asked. */
  readonly of: string;
}

export interface Doom {
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
export function doom(at?: number, wire: Wire = (request, send) => send(request)): Doom {
  const points: Point[] = [];
  let dead = false;
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const point = (what: string, of: string): Promise<void> | undefined => {
    if (dead) return never();
    points.push({ what, of });
    if (points.length - 1 !== at) return undefined;
    dead = true;
    stop();
    return never();
  };
  return {
    points,
    stopped,
    options: {
      hooks: {
        before: (operation, path) => {
          if (CHANGES.has(operation)) return point(operation, path);
          return dead ? never() : undefined;
        },
        after: (operation, path) => point(`${operation} done`, path),
      },
      line: async (what, changes, work) => {
        if (dead) return never();
        if (!changes) return work();
        await point("ask", what);
        const answer = await work();
        await point("took effect", what);
        return answer;
      },
      transport: async (request, send): Promise<HttpResponse> => {
        if (dead) return never();
        if (!isWrite(request)) return wire(request, send);
        const name = nameOf(request);
        await point("send", name);
        const answer = await wire(request, send);
        await point("committed", name);
        await point("answered", name);
        return answer;
      },
    },
  };
}
