// How long a service asks to be left alone: Retry-After as seconds or as an HTTP date (RFC 9110, section 10.2.3).

const SECONDS = /^\d+(\.\d+)?$/;

/**
 * Milliseconds from now, or undefined when the header is absent or says nothing readable. A date is counted from the
 * service's own Date header where it sends one, so that clocks which differ do no harm.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return undefined;
  if (SECONDS.test(text)) return Math.round(Number(text) * 1_000);
  const until = dateOf(text);
  if (until === undefined) return undefined;
  return Math.max(0, until - (dateOf(headers.date) ?? now));
}

/** An HTTP date names a weekday or holds colons; Date.parse alone would also read "7 apples". */
function dateOf(text: string | undefined): number | undefined {
  if (text === undefined || !/\d\d:\d\d:\d\d/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
