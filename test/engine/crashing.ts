// A simulated process that crashes at a chosen point: from then on its ports never settle, and no write takes effect.

import type { HttpResponse } from "../../src/api/http/transport.ts";
import type { Spec } from "../../src/spec/model/spec.ts";
import { CrashPoints, never } from "./crash-points.ts";
import type { Process, ProcessOptions } from "./site.ts";

/** File operations that change something. */
export const FILE_CHANGES = new Set(["write", "sync", "rename", "link", "remove", "syncFolder", "open"]);

export interface CrashingProcess {
  readonly options: Pick<ProcessOptions, "hooks" | "transport">;
  /** Passed points, as strings. */
  readonly points: readonly string[];
  /** Settles when the process stops. */
  readonly stopped: Promise<void>;
}

/** `at` counts points from 0; without it the process lives, and its points are counted. */
export function crashingProcess(at?: number): CrashingProcess {
  const points = new CrashPoints<string>(at);
  return {
    points: points.passed,
    stopped: points.stopped,
    options: {
      hooks: {
        before: (operation, path) =>
          FILE_CHANGES.has(operation)
            ? points.pass(`${operation} ${path}`)
            : points.crashed
              ? never()
              : undefined,
      },
      transport: async (request, send): Promise<HttpResponse> => {
        if (points.crashed) return never();
        if (request.method === "GET") return send(request);
        await points.pass(`before ${request.path}`);
        const answer = await send(request);
        await points.pass(`after ${request.path}`);
        return answer;
      },
    },
  };
}

/** What a plan says that others changed. */
export async function blamedOnOthers(process: Process, spec: Spec): Promise<readonly string[]> {
  const { plan } = await process.look(spec, (await process.store.read()).state);
  return [
    ...plan.drift.map(({ address, diffs }) => `drift ${address} ${diffs.map(({ path }) => path).join(" ")}`),
    ...plan.changes.flatMap((change) =>
      "cause" in change && change.cause !== "spec" ? [`${change.cause} ${change.address}`] : [],
    ),
  ];
}
