// The seven moments of a write at which crashes are tested, found in the trace of a fault-free run.

import type { Point } from "./trace.ts";

export const MOMENTS = [
  "before intent",
  "after intent",
  "before send",
  "after commit before response",
  "after response before done",
  "after done",
  "after publish",
] as const;
export type Moment = (typeof MOMENTS)[number];

const isJournal = ({ of }: Point): boolean => of.endsWith("/journal.jsonl");

/** For each request that changes something: the number of the point at each moment. Of a run with one request at a time. */
export function momentsOf(points: readonly Point[]): ReadonlyMap<number, ReadonlyMap<Moment, number>> {
  const found = new Map<number, ReadonlyMap<Moment, number>>();
  const published = lastOf(points, (point) => point.what === "syncFolder done");
  points.forEach((point, at) => {
    if (point.what !== "send") return;
    const before = points.slice(0, at);
    const after = (wanted: (point: Point) => boolean, from = at): number | undefined => {
      const index = points.findIndex((one, where) => where > from && wanted(one));
      return index < 0 ? undefined : index;
    };
    const written = after((one) => one.what === "write" && isJournal(one));
    const moments: readonly (readonly [Moment, number | undefined])[] = [
      ["before intent", lastOf(before, (one) => one.what === "write" && isJournal(one))],
      ["after intent", lastOf(before, (one) => one.what === "sync done" && isJournal(one))],
      ["before send", at],
      ["after commit before response", after((one) => one.what === "committed")],
      ["after response before done", written],
      [
        "after done",
        written === undefined
          ? undefined
          : after((one) => one.what === "sync done" && isJournal(one), written),
      ],
      ["after publish", published],
    ];
    found.set(
      at,
      new Map(moments.flatMap(([moment, index]) => (index === undefined ? [] : [[moment, index] as const]))),
    );
  });
  return found;
}

function lastOf(points: readonly Point[], wanted: (point: Point) => boolean): number | undefined {
  const index = points.findLastIndex(wanted);
  return index < 0 ? undefined : index;
}
