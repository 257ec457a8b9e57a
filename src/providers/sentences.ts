// Counts and lists for the sentences that consequences and objections are made of.

const SHOWN = 8;

/** `1 secret`, `3 secrets`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `a, b and c`; of long lists the first few and how many more. */
export function named(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN);
  if (names.length > SHOWN) return `${shown.join(", ")} and ${names.length - SHOWN} more`;
  const [last, ...rest] = [...shown].reverse();
  if (last === undefined) return "";
  return rest.length === 0 ? last : `${rest.reverse().join(", ")} and ${last}`;
}
