// How long the service asks to wait, by its Retry-After header.

const SECONDS = /^\d+(\.\d+)?$/;
/** No service means a longer time. */
const LONGEST_MS = 3_600_000;

/** Milliseconds from now; undefined if the header has none, or an absurd one. A date is counted from the service's own Date header, because clocks differ. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return undefined;
  const wait = SECONDS.test(text) ? Math.round(Number(text) * 1_000) : untilDate(text, headers.date, now);
  return wait === undefined || wait > LONGEST_MS ? undefined : wait;
}

function untilDate(text: string, date: string | undefined, now: number): number | undefined {
  const until = dateOf(text);
  return until === undefined ? undefined : Math.max(0, until - (dateOf(date) ?? now));
}

/** An HTTP date names a weekday or holds colons; Date.parse alone would also read "7 apples". */
function dateOf(text: string | undefined): number | undefined {
  if (text === undefined || !/\d\d:\d\d:\d\d/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
