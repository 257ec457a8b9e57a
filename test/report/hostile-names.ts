// Names and values that try to steer a terminal, a CI service or a reviewer.

/** 2,000 strings: each piece alone, doubled, inside words, at a line's start, and pairs of them. */
const PIECES = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 33 }, (_, code) => String.fromCharCode(0x7f + code)),
  ...[
    "\u061c",
    "\u200b",
    "\u200e",
    "\u200f",
    "\u2028",
    "\u2029",
    "\u202a",
    "\u202e",
    "\u2066",
    "\u2069",
    "\ufeff",
    "\u00ad",
    "\u{e0001}",
    "\u{e0041}",
  ],
  ...[
    "\u001b[2J",
    "\u001b]0;title\u0007",
    "\u009b31m",
    "\ud800",
    "\udfff",
    "::error::x",
    "::set-output name=a::b",
    "##[error]x",
    "##vso[task.complete]",
  ],
  ...[
    "`",
    "```",
    "~~~",
    "</details>",
    "<script>x</script>",
    "@all",
    "[a](https://evil.example)",
    "![x](x)",
    "| a | b |",
    "# head",
    "- item",
    "> quote",
    "\\",
    '"',
    "'",
    "$(x)",
    "${x}",
  ],
];
export const NAMES: readonly string[] = [
  ...PIECES.flatMap((piece) => [
    piece,
    piece + piece,
    `a${piece}b`,
    `\n${piece}`,
    `${piece}\n- DELETE everything`,
  ]),
  ...PIECES.flatMap((piece, at) =>
    Array.from({ length: 15 }, (_, step) => piece + (PIECES[(at + step * 7 + 1) % PIECES.length] ?? "")),
  ),
].slice(0, 2000);

/** Invisible characters, and characters that change what is displayed. */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
