// The forms in which a sensitive string can occur in an output: quoted, encoded, escaped, and credentials in it.

import { parseJson } from "../exact-json.ts";
import { visitScalars } from "../scalars.ts";

/** A shorter part of base64, or a shorter line, occurs by chance. */
export const SHORTEST_UNSURE_PART = 8;

/**
 * Members of the key files of Google and Azure that say whose key it is. Hiding `googleapis.com` or a project everywhere would hide too much.
 * Any other member can be a credential, such as `secret_id` or the address of a webhook.
 */
const PUBLIC_MEMBERS: ReadonlySet<string | number | undefined> = new Set([
  ...["type", "project_id", "client_id", "client_email", "universe_domain", "auth_uri", "token_uri"],
  ...["auth_provider_x509_cert_url", "client_x509_cert_url", "clientId", "tenantId", "subscriptionId"],
  ...["activeDirectoryEndpointUrl", "resourceManagerEndpointUrl", "activeDirectoryGraphResourceId"],
  ...["sqlManagementEndpointUrl", "galleryEndpointUrl", "managementEndpointUrl"],
]);

/** The parts of a value that are credentials themselves: the strings in a JSON object or list, and the password of an address. */
export function credentialsIn(text: string): readonly string[] {
  if (/^\s*[{[]/.test(text)) return stringsOfJson(text);
  // `URL` refuses an address with several hosts, and one of JDBC.
  const written = /^(?:[a-z][\w+.-]*:)+\/\/[^:@/?#\s]*:([^/?#\s]*)@/i.exec(text)?.[1] ?? "";
  return [written, decoded(written)].filter(({ length }) => length >= SHORTEST_UNSURE_PART);
}

function stringsOfJson(text: string): readonly string[] {
  const strings: string[] = [];
  try {
    visitScalars(parseJson(text), [], (value, path) => {
      const isPart = typeof value === "string" && value.length >= SHORTEST_UNSURE_PART;
      if (isPart && !PUBLIC_MEMBERS.has(path.at(-1))) strings.push(value);
    });
  } catch {
    return [];
  }
  return strings;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Programs that write base64 break its lines after so many characters. */
const BASE64_LINES = [76, 64];

const jsonString = (text: string): string => JSON.stringify(text).slice(1, -1);

/** In JSON, and in JSON inside of JSON, each also with the escapes that programs write although they are optional. */
export function jsonForms(text: string): readonly string[] {
  const escaped = (form: string, which: RegExp): string =>
    form.replace(which, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const upper = (form: string): string =>
    form.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`);
  const json = jsonString(text);
  const ascii = escaped(json, /[\u007f-\uffff]/g);
  const markup = /[<>&'\u2028\u2029]/g;
  const once = [
    ...[json, ascii, upper(ascii)],
    ...[escaped(json, /[<>&\u2028\u2029]/g), escaped(ascii, markup), upper(escaped(ascii, markup))],
    ...[json.replaceAll("/", "\\/"), ascii.replaceAll("/", "\\/")],
  ];
  return [...once, ...once.map(jsonString)];
}

/** In addresses and in forms: programs differ in the characters that they leave, and in the case of the digits. */
export function urlForms(text: string): readonly string[] {
  if (!text.isWellFormed()) return [];
  const hex = (unit: string): string => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`;
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, hex);
  const encoded = [
    component,
    strict,
    component.replace(/[!'()~]/g, hex),
    component.replace(/[!'()*~]/g, hex),
  ];
  const all = [...encoded, strict.replaceAll("%2F", "/"), encodeURI(text)];
  const forms = [...all, ...all.map((form) => form.replaceAll("%20", "+"))];
  return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** What programs write for a character in HTML and XML, and for quotes in SQL, YAML, and Python; many leave some of them. */
const ESCAPES: readonly (readonly [string, readonly string[]])[] = [
  ["&", ["&amp;"]],
  [" ", ["&nbsp;"]],
  ["<", ["&lt;"]],
  [">", ["&gt;"]],
  ['"', ["&quot;", "&#34;", '""']],
  ["'", ["&#39;", "&#039;", "&#x27;", "&apos;", "''", "\\'"]],
];

/** Each combination of characters that are escaped or left. */
export function markupForms(text: string): readonly string[] {
  let forms: readonly string[] = [text];
  for (const [mark, escapes] of ESCAPES)
    if (text.includes(mark))
      forms = forms.flatMap((form) => [form, ...escapes.map((spelled) => form.replaceAll(mark, spelled))]);
  return forms;
}

/** Bytes as hex and as base64 in both alphabets, alone and inside a longer text, where its first and last characters are unknown. */
export function encodings(bytes: Uint8Array): readonly string[] {
  const hex = Buffer.from(bytes).toString("hex");
  const whole = Buffer.from(bytes).toString("base64");
  const inside = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    return encoded.slice(before === 0 ? 0 : 4, encoded.length - (encoded.length % 4));
  });
  const lines = BASE64_LINES.filter((length) => length < whole.length).flatMap(
    (length) => whole.match(new RegExp(`.{1,${length}}`, "g")) ?? [],
  );
  const base64 = [
    whole,
    whole.replace(/=+$/, ""),
    ...[...inside, ...lines].filter(({ length }) => length >= SHORTEST_UNSURE_PART),
  ];
  const url = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [hex, hex.toUpperCase(), ...base64, ...url];
}
