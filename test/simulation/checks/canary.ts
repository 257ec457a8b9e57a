// Looks for secrets where they do not belong: raw, base64, base64url, hex, URL-escaped and JSON-escaped.

const ALIGNMENTS = [0, 1, 2] as const;

/** Every text that would show a secret, by the name of the encoding. */
export function formsOf(secret: string): ReadonlyMap<string, readonly string[]> {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret);
  return new Map<string, readonly string[]>([
    ["raw", [secret]],
    ["base64", aligned(bytes, "base64")],
    ["base64url", aligned(bytes, "base64url")],
    ["hex", [bytes.toString("hex"), bytes.toString("hex").toUpperCase()]],
    ["URL", [url, url.toLowerCase(), url.replaceAll("%20", "+")]],
    ["JSON", [json, asciiJson(secret), json.replaceAll("/", "\\/")]],
  ]);
}

/**
 * Inside a longer string, the base64 of a secret depends on what precedes it; its first and last characters may
 * differ.
 */
function aligned(bytes: Buffer, encoding: "base64" | "base64url"): readonly string[] {
  return ALIGNMENTS.map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString(encoding)
      .replace(/=+$/, "");
    return text.slice(shift === 0 ? 0 : 4, -2);
  });
}

function asciiJson(secret: string): string {
  return JSON.stringify(secret)
    .slice(1, -1)
    .replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export interface Leak {
  /** Number of the secret in the list. */
  readonly secret: number;
  readonly encoding: string;
  readonly place: string;
}

/** `places`: strings by location. */
export function leaksIn(places: ReadonlyMap<string, string>, secrets: readonly string[]): readonly Leak[] {
  const leaks: Leak[] = [];
  for (const [secret, value] of secrets.entries())
    for (const [encoding, forms] of formsOf(value))
      for (const [place, text] of places)
        if (forms.some((form) => text.includes(form))) leaks.push({ secret, encoding, place });
  return leaks;
}
