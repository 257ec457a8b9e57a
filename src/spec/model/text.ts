// Decodes the bytes of a file: UTF-8, without a byte order mark and without characters that YAML forbids.

import { utf8Text } from "../../core/utf8.ts";
import type { Findings } from "./findings.ts";
import { SourceText } from "./source.ts";

/** Control characters except tab and line breaks, and the two code points that are not characters. */
const FORBIDDEN = /(?![\t\n\r\u0085])\p{Cc}|[\ufffe\uffff]/u;

/** As text. A file keeps its mark when it is written again. */
export const BYTE_ORDER_MARK = "\ufeff";

export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The text of a file, or undefined where it is none; the reason goes into `findings`. */
export function sourceOf(
  shown: string,
  bytes: Uint8Array,
  findings: Findings,
  { path, isHidden = false }: { readonly path?: string | undefined; readonly isHidden?: boolean } = {},
): SourceText | undefined {
  const created = (text: string): SourceText => {
    const source = new SourceText(shown, text, path, findings.sensitive);
    return isHidden ? source.hide() : source;
  };
  const text = utf8Text(bytes);
  if (text === undefined) {
    const good = new TextDecoder().decode(bytes.subarray(0, validLength(bytes)));
    const at = { source: created(good), start: good.length, end: good.length };
    findings.error("SPEC_YAML", "the file is not UTF-8 text", at, { hint: "save it as UTF-8" });
    return undefined;
  }
  const source = created(text);
  const bad = FORBIDDEN.exec(source.text);
  if (bad === null) return source;
  const name = `U+${bad[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  const at = { source, start: bad.index, end: bad.index + 1 };
  findings.error("SPEC_YAML", `the file contains the control character ${name}`, at, {
    hint: "remove it, or write it as an escape sequence in a double-quoted string",
  });
  return undefined;
}

/** How many bytes from the start are valid UTF-8, found by halving. */
function validLength(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isValidStart(bytes.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isValidStart(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
