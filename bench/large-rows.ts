// The table and the pictures of large workspaces.

import type { BareFigures, LargeFigures } from "./large.ts";
import { picture, type Series } from "./picture.ts";
import type { Ran } from "./process.ts";
import { against, count } from "./rows.ts";
import { mib, ms, type Row } from "./table.ts";

/** `old`: the program before, at the largest size. */
export function largeRows(
  figures: readonly LargeFigures[],
  bares: readonly BareFigures[],
  old: LargeFigures | undefined,
): Row[] {
  const [first] = figures;
  return figures.flatMap((one, at): Row[] => {
    const size = `${count(one)} resources`;
    const bare = bares[at];
    const before = one === figures.at(-1) ? old : undefined;
    const ratio = (now: number, then: number | undefined, shown: (value: number) => string, aim?: number) =>
      then === undefined
        ? {}
        : { against: `${shown(then)} before`, ratio: now / then, ...(aim === undefined ? {} : { aim }) };
    return [
      {
        what: `${size}, plan without changes, time`,
        measured: ms(one.plan.ms),
        ...ratio(one.plan.ms, before?.plan.ms, ms, 0.36),
      },
      ...(bare === undefined
        ? []
        : [against("  against the bare loop", one.plan.ms, bare.read.ms, "bare loop")]),
      {
        what: "  on processors",
        measured: ms(one.plan.cpuMs),
        ...ratio(one.plan.cpuMs, before?.plan.cpuMs, ms, 0.36),
      },
      perResource(one.plan, one, first?.plan ?? one.plan, first ?? one),
      {
        what: "  peak memory",
        measured: mib(one.plan.peak),
        ...ratio(one.plan.peak, before?.plan.peak, mib, 0.52),
      },
      {
        what: `${size}, first apply, time`,
        measured: ms(one.apply.ms),
        ...ratio(one.apply.ms, before?.apply.ms, ms),
      },
      ...(bare === undefined
        ? []
        : [against("  against the same requests", one.apply.ms, bare.create.ms, "bare client")]),
      perResource(one.apply, one, first?.apply ?? one.apply, first ?? one),
      {
        what: "  peak memory",
        measured: mib(one.apply.peak),
        against: `${mib(500e6)} allowed`,
        ratio: one.apply.peak / 500e6,
        aim: 1,
      },
      ...(before === undefined
        ? []
        : [
            {
              what: "  peak memory before",
              measured: mib(before.apply.peak),
              against: `${mib(one.apply.peak)} now`,
            },
          ]),
      {
        what: `${size}, validate, time`,
        measured: ms(one.validate.ms),
        ...ratio(one.validate.ms, before?.validate.ms, ms),
      },
      {
        what: `${size}, state list, time`,
        measured: ms(one.state.ms),
        ...ratio(one.state.ms, before?.state.ms, ms),
      },
      {
        what: `${size}, state opened`,
        measured: ms(one.openedMs),
        against: "1000 ms allowed",
        ratio: one.openedMs / 1_000,
        aim: 1,
      },
    ];
  });
}

/** Compared with the smallest workspace. */
function perResource(ran: Ran, { resources }: LargeFigures, first: Ran, smallest: LargeFigures): Row {
  const each = ran.cpuMs / resources;
  const base = first.cpuMs / smallest.resources;
  const compared = ran === first ? {} : { against: `${base.toFixed(3)} ms`, ratio: each / base, aim: 1.2 };
  return { what: "  on processors, for each resource", measured: `${each.toFixed(3)} ms`, ...compared };
}

const SECOND = 1_000;
const MIB = 2 ** 20;

export interface Drawing {
  /** From the folder of the page. */
  readonly file: string;
  readonly title: string;
  readonly text: string;
}

/** Time and memory against the number of resources: the program in solid lines, the bare client in dashed ones. */
export function largePictures(figures: readonly LargeFigures[], bares: readonly BareFigures[]): Drawing[] {
  const lines = (part: "cpuMs" | "peak", unit: number): Series[] => {
    const ours = (name: string, color: string, of: "apply" | "plan" | "validate") => ({
      name,
      color,
      points: figures.map((one) => ({ x: one.resources, y: one[of][part] / unit })),
    });
    const theirs = (name: string, color: string, of: "create" | "read") => ({
      name,
      color,
      dashed: true,
      points: bares.map((one) => ({ x: one.resources, y: one[of][part] / unit })),
    });
    return [
      ours("first apply", "#a33", "apply"),
      theirs("the same requests, bare client", "#a33", "create"),
      ours("plan without changes", "#36c", "plan"),
      theirs("the same reads, bare loop", "#36c", "read"),
      ours("validate", "#393", "validate"),
    ];
  };
  const [time, memory] = ["Time on processors", "Peak memory"] as const;
  return [
    { file: "../images/bench-time.svg", title: time, text: picture(time, "s", lines("cpuMs", SECOND)) },
    { file: "../images/bench-memory.svg", title: memory, text: picture(memory, "MiB", lines("peak", MIB)) },
  ];
}
