// Words and turns of phrase that the project's prose avoids.

import type { Piece } from "./prose.ts";

/** Private words, inverted clauses, and British spelling, each with an example. The standard terms replace them. */
export const BANNED: readonly (readonly [RegExp, example: string])[] = [
  [
    /\bstands? (twice|first|beside|in two|where|inside|before|aside|for itself|above|under)\b/i,
    "a key stands twice",
  ],
  [/\b(is|are|was|were) told\b|\btold (once|as|about|above|apart)\b/i, "the user is told"],
  [/\btells? (what|that|why|how|its|a|it|which|whether|neither|two)\b/i, "it tells what failed"],
  [/\bbesides?\b/i, "besides"],
  [/\bthings?\b/i, "a thing"],
  [/\bnobody\b|\bsomebody\b|\bwhoever\b/i, "nobody asks"],
  [/\b(is|are) no (?!longer|more|changes)[a-z]+/i, "it is no name"],
  [/\bany more\b/i, "not any more"],
  [/\banew\b/i, "it starts anew"],
  [/\bin vain\b/i, "waited in vain"],
  [/\bas (it|they) (is|are|was|were)\b/i, "kept as it is"],
  [/\bas the spec (says|asks|wants|has)\b/i, "as the spec says"],
  [/\bmakes? (it|the workspace) (so|as)\b/i, "makes it so"],
  [/\bgo(es)? (on|first|last|with|away)\b/i, "it goes first"],
  [/\bput(s|ting)? (\S+ ){0,3}right\b/i, "put it right"],
  [/\bmend(s|ed|ing)?\b/i, "mend the state"],
  [/\bt(ake|akes|ook|aken|aking) (?!precedence )(\S+ )?(over|away|out)\b/i, "take it over"],
  [/\blet go of\b/i, "let go of it"],
  [/\bg(ive|ives|ave|iven) (\S+ ){0,2}back\b|\bgave nothing\b/i, "give it back"],
  [/\blook(s|ed|ing)? (at|around|first|whether|after)\b|\ba look\b/i, "look at it"],
  [/\b(of )?ours\b/i, "it is ours"],
  [/\bforeign\b|\bstrangers?\b/i, "a foreign object"],
  [/\bbehind (our|your) back\b/i, "behind our back"],
  [/\b(comes|brings?|came) (\S+ ){0,3}along\b/i, "comes along"],
  [/\b(exclude|need)s? each other\b/i, "they exclude each other"],
  [/\bin a circle\b|\bcircles?\b/i, "in a circle"],
  [/\bsigns? of life\b/i, "a sign of life"],
  [/\b(dies|died|dying|death|dead(?![- ]letter))\b/i, "the run died"],
  [/\b(was|is|were|are) cut\b/i, "the run was cut"],
  [/\b(un)?sealed\b|\bseals?\b/i, "a sealed plan"],
  [/\bgenerations?\b/i, "an older generation"],
  [/\bnonce\b/i, "a nonce"],
  [/\bso far\b/i, "so far"],
  [/\bso (many|much) at most\b/i, "so many at most"],
  [/\bwhole (number|answer|state|spec)\b/i, "a whole number"],
  [/\bblanks\b/i, "padded with blanks"],
  [/\b(a|no|one) texts?\b|\btexts\b/i, "not a text"],
  [/\b(is|are) held\b|\bholds? (an?|its|no|more|what|at most)\b(?! lock)/i, "it holds a value"],
  [/\bunder way\b/i, "under way"],
  [/, save (what|for|where|to|one|a)\b/i, ", save what failed"],
  [/\bfor good\b/i, "deleted for good"],
  [/\b(by it(self)?|by themselves|of its own)\b/i, "by itself"],
  [/^(which|how|what)\b.*\?$/i, "which run?"],
  [/\b(behaviour|colour|favour|licence)|\b(recogn|serial|organ|normal)is(e|es|ed|ing)\b/i, "behaviour"],
  [/(?<!')\bcancell(ed|ing)\b/i, "cancelled"],
  [/\btime-outs?\b/i, "a time-out"],
  [/\bperhaps\b/i, "perhaps"],
  [/^what .*\b(is|are|was|were|stands|goes)\b/i, "what failed is shown"],
  [/\bnot at all\b/i, "not at all"],
  [/\bleft alone\b/i, "left alone"],
  [/\botherwise than\b/i, "otherwise than planned"],
  [/\b(lie|lies|lay) (beside|in|below|outside|under)\b/i, "the state lies beside it"],
  [/\bnothing twice\b/i, "nothing twice"],
  [/\bforbids? to\b/i, "it forbids to ask"],
  [/\bwhat (is|was) (there|open|meant|sent|done|besides)\b/i, "what is there"],
  [/\b(may|has|have) to be (done|made|had)\b/i, "it has to be done"],
  [/\bspoken to\b|\bturns out\b/i, "it turns out"],
  [/\b(writes|touches|changes) nothing\b/i, "it writes nothing"],
  [/\bthe form of\b/i, "the form of the output"],
  [/\b(is|are|was) gone\b/i, "it is gone"],
  [/\bunfold(s|ed)?\b/i, "it unfolds"],
  [/\b(with|run|see|ids): workspace\b/i, "run: workspace plan"],
  [/\bmoved on\b|\bon its way\b/i, "it moved on"],
  [/\bthe ones? that (is|was|were)\b/i, "the one that was read"],
  [/\b(in|of) (its|their) place\b/i, "in its place"],
];

/** Strings that are not prose: labels that are part of the format of encrypted states. */
const NOT_PROSE = new Set(["workspace state seal", "workspace state seal check"]);

/** Returns `file:line "words" in: text` for each banned pattern in each piece. */
export function bannedWords(pieces: readonly Piece[]): readonly string[] {
  return pieces
    .filter(({ text }) => !NOT_PROSE.has(text))
    .flatMap(({ path, line, text }) =>
      BANNED.flatMap(([pattern]) => {
        const words = pattern.exec(text)?.[0];
        return words === undefined ? [] : [`${path}:${line} "${words}" in: ${text}`];
      }),
    );
}
