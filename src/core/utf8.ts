// Bytes as UTF-8 text.

const decoders = {
  dropped: new TextDecoder("utf-8", { fatal: true }),
  kept: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }),
};

/** The text, without a byte order mark unless it is kept; undefined if the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array, mark: "dropped" | "kept" = "dropped"): string | undefined {
  try {
    return decoders[mark].decode(bytes);
  } catch {
    return undefined;
  }
}
