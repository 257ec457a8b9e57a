// Removes tokens and secrets, in any encoding, from messages of the service or the system.

const TOKEN = "(token)";
/** A shorter secret is a placeholder for experiments; redacting it would make messages unreadable. */
const SHORTEST_TOKEN = 4;
const WITHHELD = "(withheld: the message repeats a secret)";

/** Replaces tokens, also inside the Basic credential, and withholds a message that repeats a secret. */
export function redactor(
  tokens: () => readonly string[],
): (text: string, secrets?: readonly Uint8Array[]) => string {
  return (text, secrets = []) => {
    if (text === "") return text;
    if (secrets.some((secret) => repeats(text, secret))) return WITHHELD;
    let out = text;
    for (const token of tokens().filter(({ length }) => length >= SHORTEST_TOKEN))
      for (const form of tokenForms(token)) out = out.replaceAll(form, TOKEN);
    return out;
  };
}

/** The longest first, so that no part of a longer secret remains. */
function tokenForms(token: string): string[] {
  const credential = btoa(`token:${token}`);
  return [credential, ...writings(new TextEncoder().encode(token))].sort((a, b) => b.length - a.length);
}

function repeats(text: string, secret: Uint8Array): boolean {
  if (secret.length === 0) return false;
  const lower = text.toLowerCase();
  return writings(secret).some((form) => text.includes(form) || lower.includes(form.toLowerCase()));
}

/** Plain, base64, base64url, hex, percent-encoded, and inside JSON text. */
function writings(bytes: Uint8Array): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const plain = buffer.toString("utf8");
  const forms = [
    plain,
    buffer.toString("base64").replace(/=+$/, ""),
    buffer.toString("base64url"),
    buffer.toString("hex"),
    encodeURIComponent(plain.toWellFormed()),
    JSON.stringify(plain).slice(1, -1),
  ];
  return [...new Set(forms)].filter((form) => form !== "");
}
