// The size of samples: `npm test` tries a part of them; `.ci/run` (TEST_SAMPLE=1) and a run that rewrites expected output, all.

const SHARE = Number(process.env.TEST_SAMPLE ?? (process.env.UPDATE === undefined ? 0.25 : 1));

/** The number of cases that this run tries, of `whole` cases. */
export function sampleOf(whole: number): number {
  return Math.max(1, Math.round(whole * SHARE));
}

/** The distance of the cases that this run tries, of a list that is tried whole otherwise. */
export const SAMPLE_STEP = Math.max(1, Math.floor(1 / SHARE));

/** The cases that this run tries of a list, from its first. */
export function sampleFrom<T>(whole: readonly T[]): readonly T[] {
  return whole.filter((_, at) => at % SAMPLE_STEP === 0);
}
