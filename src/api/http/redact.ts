// Removes tokens and secrets, in any encoding, from messages of the service or the system.

import { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { utf8Text } from "../../core/utf8.ts";

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
    const hidden = new SensitiveTexts();
    for (const token of tokens().filter(({ length }) => length >= SHORTEST_TOKEN)) {
      hidden.add(token);
      hidden.add(btoa(`token:${token}`));
    }
    return hidden.masked(text, () => TOKEN);
  };
}

/** In plain text, in upper or lower case, or in any encoding. */
function repeats(text: string, secret: Uint8Array): boolean {
  if (secret.length === 0) return false;
  const hidden = new SensitiveTexts();
  hidden.addBytes(secret);
  if (hidden.isIn(text)) return true;
  // Elsewhere, a short value is hidden only where it is quoted; a message with a short secret is withheld wherever it has it.
  const bytes = Buffer.from(secret);
  const plain = utf8Text(secret)?.toLowerCase();
  const base64 = bytes.toString("base64").replace(/=+$/, "");
  return (
    (plain !== undefined && text.toLowerCase().includes(plain)) ||
    [base64, bytes.toString("hex")].some((form) => text.includes(form))
  );
}
