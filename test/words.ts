// Words and turns of phrase that the project's prose avoids, and the counts of those that remain.

import type { Piece } from "./prose.ts";

/** Each is a private word, an inverted clause, or British spelling; docs and messages use the standard terms instead. */
export const BANNED: readonly RegExp[] = [
  /\bstands? (twice|first|beside|in two|where|inside|before|aside|for itself|above|under)\b/i,
  /\b(is|are|was|were) told\b|\btold (once|as|about|above|apart)\b/i,
  /\btells? (what|that|why|how|its|a|it|which|whether|neither|two)\b/i,
  /\bbesides?\b/i,
  /\bthings?\b/i,
  /\bnobody\b|\bsomebody\b|\bwhoever\b/i,
  /\b(is|are) no (?!longer|more|changes)[a-z]+/i,
  /\bany more\b/i,
  /\banew\b/i,
  /\bin vain\b/i,
  /\bas (it|they) (is|are|was|were)\b/i,
  /\bas the spec (says|asks|wants|has)\b/i,
  /\bmakes? (it|the workspace) (so|as)\b/i,
  /\bgo(es)? (on|first|last|with|away)\b/i,
  /\bput(s|ting)? (\S+ ){0,3}right\b/i,
  /\bmend(s|ed|ing)?\b/i,
  /\bt(ake|akes|ook|aken|aking) (?!precedence )(\S+ )?(over|away|out)\b/i,
  /\blet go of\b/i,
  /\bg(ive|ives|ave|iven) (\S+ ){0,2}back\b|\bgave nothing\b/i,
  /\blook(s|ed|ing)? (at|around|first|whether|after)\b|\ba look\b/i,
  /\b(of )?ours\b/i,
  /\bforeign\b|\bstrangers?\b/i,
  /\bbehind (our|your) back\b/i,
  /\b(comes|brings?|came) (\S+ ){0,3}along\b/i,
  /\b(exclude|need)s? each other\b/i,
  /\bin a circle\b|\bcircles?\b/i,
  /\bsigns? of life\b/i,
  /\b(dies|died|dying|death|dead(?![- ]letter))\b/i,
  /\b(was|is|were|are) cut\b/i,
  /\b(un)?sealed\b|\bseals?\b/i,
  /\bgenerations?\b/i,
  /\bnonce\b/i,
  /\bso far\b/i,
  /\bso (many|much) at most\b/i,
  /\bwhole (number|answer|state|spec)\b/i,
  /\bblanks\b/i,
  /\b(a|no|one) texts?\b|\btexts\b/i,
  /\b(is|are) held\b|\bholds? (an?|its|no|more|what|at most)\b(?! lock)/i,
  /\bunder way\b/i,
  /, save (what|for|where|to|one|a)\b/i,
  /\bfor good\b/i,
  /\b(by it(self)?|by themselves|of its own)\b/i,
  /^(which|how|what)\b.*\?$/i,
  /\b(behaviour|colour|favour|licence)|\b(recogn|serial|organ|normal)is(e|es|ed|ing)\b/i,
  /\btime-outs?\b/i,
  /\bperhaps\b/i,
  /^what .*\b(is|are|was|were|stands|goes)\b/i,
  /\bnot at all\b/i,
  /\bleft alone\b/i,
  /\botherwise than\b/i,
  /\b(lie|lies|lay) (beside|in|below|outside|under)\b/i,
  /\bnothing twice\b/i,
  /\bforbids? to\b/i,
  /\bwhat (is|was) (there|open|meant|sent|done|besides)\b/i,
  /\b(may|has|have) to be (done|made|had)\b/i,
  /\bspoken to\b|\bturns out\b/i,
  /\b(writes|touches|changes) nothing\b/i,
  /\bthe form of\b/i,
  /\b(is|are|was) gone\b/i,
  /\bunfold(s|ed)?\b/i,
  /\b(with|run|see|ids): workspace\b/i,
  /\bmoved on\b|\bon its way\b/i,
  /\bthe ones? that (is|was|were)\b/i,
  /\b(in|of) (its|their) place\b/i,
];

export interface Hit extends Piece {
  readonly pattern: RegExp;
  readonly words: string;
}

/** Every banned pattern of every piece, apart from pieces that are exceptions as a whole. */
export function bannedWords(pieces: readonly Piece[], exceptions: ReadonlySet<string>): readonly Hit[] {
  return pieces
    .filter((piece) => !exceptions.has(piece.text))
    .flatMap((piece) =>
      BANNED.flatMap((pattern) => {
        const words = pattern.exec(piece.text)?.[0];
        return words === undefined ? [] : [{ ...piece, pattern, words }];
      }),
    );
}

export function countByArea(hits: readonly Hit[]): Readonly<Record<string, number>> {
  const areas = Map.groupBy(hits, (hit) => hit.area);
  return Object.fromEntries(
    [...areas].map(([area, all]) => [area, all.length] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
