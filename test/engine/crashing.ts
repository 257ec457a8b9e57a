// A simulated process that crashes at a chosen point: from then on its ports never settle, and no write takes effect.

import type { HttpResponse } from "../../src/api/http/message.ts";
import type { ProcessOptions } from "./site.ts";

/** A new promise each time: a shared one would keep every waiter in memory. */
const never = () => new Promise<never>(() => {});

/** File operations that change something. */
const CHANGES = new Set(["write", "sync", "rename", "link", "remove", "syncFolder", "open"]);

export interface Doom {
  readonly options: Pick<ProcessOptions, "hooks" | "transport">;
  /** Passed points, as strings. */
  readonly points: readonly string[];
  /** Settles when the process stops. */
  readonly stopped: Promise<void>;
}

/** `at` counts points from 0; without it the process lives, and its points are counted. */
export function doom(at?: number): Doom {
  const points: string[] = [];
  let dead = false;
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const point = (name: string): Promise<void> | undefined => {
    if (dead) return never();
    points.push(name);
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
        before: (operation, path) =>
          CHANGES.has(operation) ? point(`${operation} ${path}`) : dead ? never() : undefined,
      },
      transport: async (request, send): Promise<HttpResponse> => {
        if (dead) return never();
        if (request.method === "GET") return send(request);
        await point(`before ${request.path}`);
        const answer = await send(request);
        await point(`after ${request.path}`);
        return answer;
      },
    },
  };
}
