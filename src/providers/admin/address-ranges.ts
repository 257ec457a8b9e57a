// Ranges of IPv4 addresses: parsed, compared as sets, and as text.

/** Both ends included. */
export interface AddressRange {
  readonly from: number;
  readonly to: number;
}

export const ALL_ADDRESSES: readonly AddressRange[] = [{ from: 0, to: 2 ** 32 - 1 }];

/** The range of an address or of a CIDR block; undefined for any other text. */
export function addressRange(text: string): AddressRange | undefined {
  const [, address = "", bits = "32"] = /^(\d{1,3}(?:\.\d{1,3}){3})(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  const parts = address.split(".").map(Number);
  if (address === "" || parts.some((part) => part > 255) || Number(bits) > 32) return undefined;
  const size = 2 ** (32 - Number(bits));
  const number = parts.reduce((sum, part) => sum * 256 + part, 0);
  const from = number - (number % size);
  return { from, to: from + size - 1 };
}

export const intersection = (
  some: readonly AddressRange[],
  others: readonly AddressRange[],
): readonly AddressRange[] =>
  some.flatMap((range) =>
    others.flatMap((other) => {
      const [from, to] = [Math.max(range.from, other.from), Math.min(range.to, other.to)];
      return from <= to ? [{ from, to }] : [];
    }),
  );

export function withoutRanges(
  some: readonly AddressRange[],
  removed: readonly AddressRange[],
): readonly AddressRange[] {
  let left = some;
  for (const hole of removed)
    left = left.flatMap((range) => {
      if (hole.to < range.from || hole.from > range.to) return [range];
      return [
        { from: range.from, to: hole.from - 1 },
        { from: hole.to + 1, to: range.to },
      ].filter(({ from, to }) => from <= to);
    });
  return left;
}

const addressText = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");

/** `203.0.113.0/24`, `203.0.113.7`, or both ends of any other range. */
export function rangeText({ from, to }: AddressRange): string {
  const size = to - from + 1;
  const bits = 32 - Math.log2(size);
  if (size === 1) return addressText(from);
  const isBlock = Number.isInteger(bits) && from % size === 0;
  return isBlock ? `${addressText(from)}/${bits}` : `${addressText(from)}-${addressText(to)}`;
}
