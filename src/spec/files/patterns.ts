// Accepts only file patterns that stay below their folder and match in bounded time, because specs can be untrusted.

const LONGEST = 256;
/** Each `*` of a segment multiplies the ways in which a name can be tried. */
const STARS_IN_SEGMENT = 2;
const FOLDER_STARS = 2;
const BRACES = 4;

/** Why a pattern is refused, and whether because it leads out of its folder; undefined for one that may be used. */
export function filePatternProblem(
  pattern: string,
): { readonly leadsOut: boolean; readonly words: string } | undefined {
  if (pattern.startsWith("/") || pattern.includes("..") || pattern.includes("\\") || /^[a-z]:/i.test(pattern))
    return { leadsOut: true, words: "points outside its folder" };
  const words = tooMuch(pattern);
  return words === undefined ? undefined : { leadsOut: false, words };
}

function tooMuch(pattern: string): string | undefined {
  if (pattern.length > LONGEST) return "is too long";
  if (/[()!\0]/.test(pattern)) return "contains more than *, **, ?, [a-z], and {a,b}";
  const segments = pattern.split("/");
  if (segments.filter((one) => one === "**").length > FOLDER_STARS)
    return `contains ** more than ${FOLDER_STARS} times`;
  if (segments.some((one) => one !== "**" && one.split("*").length - 1 > STARS_IN_SEGMENT))
    return `contains * more than ${STARS_IN_SEGMENT} times between two slashes`;
  if (pattern.split("{").length - 1 > BRACES) return `contains more than ${BRACES} braces`;
  return undefined;
}
