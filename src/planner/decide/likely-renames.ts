// Likely renames of keys: which created resource a deleted one became, by equal fields. Ties are named, never guessed.

import type { Address } from "../../core/address.ts";
import { canonicalJson } from "../../core/digest.ts";
import { listed, shellWord } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { Change, Create, Delete } from "../model/change.ts";
import { type PlanContext, recordedOf } from "../model/context.ts";
import type { LikelyRename, LikelyRenames } from "../model/plan.ts";

/** Above so many pairs of one kind, only resources with the same fields are paired. */
const MOST_PAIRS = 40_000;

/** Three of four fields are equal. */
const LEAST_SHARE = 0.75;

/** How alike a deleted and a created resource are. */
interface Likeness {
  readonly from: Delete;
  readonly to: Create;
  readonly equal: number;
  readonly compared: number;
}

/** The likely renames, and the changes with a hint at each deletion that a rename explains: how to keep the object. */
export function withLikelyRenames(
  context: PlanContext,
  changes: readonly Change[],
): { readonly changes: readonly Change[]; readonly renames?: LikelyRenames } {
  const sentences = new Map<Change, string>();
  const likely: LikelyRename[] = [];
  const ambiguous: LikelyRenames["ties"][number][] = [];
  if (!changes.some(({ action }) => action === "delete")) return { changes };
  for (const provider of context.input.registry.kinds) {
    if (provider.nameField === undefined) continue;
    const ofKind = changes.filter(({ kind }) => kind === provider.kind);
    const creates = ofKind.filter((change) => change.action === "create");
    const deletes = ofKind.filter((change) => change.action === "delete");
    if (creates.length === 0 || deletes.length === 0) continue;
    const { pairs, ties } = bestPairs(likenesses(context, provider, deletes, creates));
    for (const pair of pairs) {
      sentences.set(pair.from, renameSentence(context, pair));
      const { from, to } = pair;
      likely.push({ from: from.address, to: to.address, name: neededName(context, pair) });
    }
    for (const [from, tied] of ties) {
      sentences.set(from, tieSentence(tied));
      ambiguous.push({ from: from.address, candidates: tied.map(({ to }) => to.address) });
    }
  }
  if (sentences.size === 0) return { changes };
  const hinted = changes.map((change) => {
    const sentence = sentences.get(change);
    return sentence === undefined ? change : { ...change, consequences: [...change.consequences, sentence] };
  });
  return { changes: hinted, renames: { pairs: likely, ties: ambiguous } };
}

function likenesses(
  context: PlanContext,
  provider: PlannedKind,
  deletes: readonly Delete[],
  creates: readonly Create[],
): readonly Likeness[] {
  const olds = deletes.map((from) => ({ from, fields: fieldTexts(writtenOf(context, provider, from)) }));
  const likely: Likeness[] = [];
  const onlySame = deletes.length * creates.length > MOST_PAIRS;
  for (const [open, alike] of Map.groupBy(creates, openFields)) {
    // Values known only after apply are compared on neither side.
    const without = new Set([...open.split("\n"), provider.nameField ?? ""]);
    const byText = Map.groupBy(olds, ({ fields }) => wholeText(fields, without));
    for (const to of alike) {
      const wanted = fieldTexts(to.after);
      const same = onlySame ? (byText.get(wholeText(wanted, without)) ?? []) : olds;
      for (const { from, fields } of same) likely.push({ from, to, ...compared(fields, wanted, without) });
    }
  }
  return likely.filter((pair) => shareOf(pair) >= LEAST_SHARE);
}

type FieldTexts = ReadonlyMap<string, string>;

const fieldTexts = (values: Values): FieldTexts =>
  new Map(Object.entries(values).map(([name, value]) => [name, canonicalJson(value)]));

function wholeText(fields: FieldTexts, without: ReadonlySet<string>): string {
  return canonicalJson([...fields].filter(([name]) => !without.has(name)).sort());
}

function compared(old: FieldTexts, wanted: FieldTexts, without: ReadonlySet<string>) {
  const names = new Set([...old.keys(), ...wanted.keys()].filter((name) => !without.has(name)));
  const equal = [...names].filter((name) => old.get(name) === wanted.get(name)).length;
  return { equal, compared: names.size };
}

function openFields({ unresolved }: Create): string {
  return [...new Set(unresolved.map(({ path }) => String(path[0])))].join("\n");
}

/** The values that the spec declared at the last apply; none for an unrecorded object. */
function writtenOf(context: PlanContext, provider: PlannedKind, { address, deposed }: Delete): Values {
  const record = deposed === true ? undefined : context.input.state.records.get(address);
  return recordedOf(provider, record)?.applied ?? {};
}

interface BestPairs {
  readonly pairs: readonly Likeness[];
  /** Deletions that fit several creates equally well, or share the best one. */
  readonly ties: ReadonlyMap<Delete, readonly Likeness[]>;
}

/** Takes the pairs of which each side fits no other one as well, until none is left. What remains is tied. */
function bestPairs(likely: readonly Likeness[]): BestPairs {
  const pairs: Likeness[] = [];
  let rest = likely;
  for (;;) {
    const certain = certainPairs(rest);
    if (certain.length === 0) break;
    pairs.push(...certain);
    const gone = new Set<Change>(certain.flatMap(({ from, to }) => [from, to]));
    rest = rest.filter(({ from, to }) => !gone.has(from) && !gone.has(to));
  }
  const ties = Map.groupBy(rest, ({ from }) => from);
  return { pairs, ties: new Map([...ties].map(([from, tied]) => [from, bestOf(tied)])) };
}

function certainPairs(likely: readonly Likeness[]): readonly Likeness[] {
  const best = new Map<Change, readonly Likeness[]>();
  for (const side of ["from", "to"] as const)
    for (const [change, some] of Map.groupBy(likely, (pair): Change => pair[side]))
      best.set(change, bestOf(some));
  return likely.filter((pair) =>
    [pair.from, pair.to].every((change) => {
      const [first, second] = best.get(change) ?? [];
      return first === pair && second === undefined;
    }),
  );
}

/** Not a number if no field is compared. */
const shareOf = ({ equal, compared }: Likeness): number => equal / compared;

function bestOf(some: readonly Likeness[]): readonly Likeness[] {
  const most = Math.max(...some.map(shareOf));
  return some.filter((pair) => shareOf(pair) === most);
}

function neededName({ input }: PlanContext, { from, to }: Likeness): LikelyRename["name"] {
  const { nameField, fields } = input.registry.get(from.kind);
  const isFixed = nameField !== undefined && fields[nameField]?.onChange === "replace";
  return isFixed && from.name !== to.name ? { field: nameField, value: from.name } : undefined;
}

function renameSentence(context: PlanContext, pair: Likeness): string {
  const { from, to, equal, compared } = pair;
  const needed = neededName(context, pair);
  const under = needed === undefined ? "" : `, with ${needed.field}: ${needed.value} in the spec,`;
  const alike =
    equal === compared
      ? `the same fields as ${to.address}`
      : `${equal} of ${compared} fields of ${to.address}`;
  return `it has ${alike}; if it was only renamed, add \`${movedText(from.address, to.address)}\` to the spec, or run \`workspace state mv ${shellWord(from.address)} ${shellWord(to.address)}\`${under} to keep it`;
}

function tieSentence(tied: readonly Likeness[]): string {
  const [first] = tied;
  const from = first?.from.address ?? "";
  const addresses = tied.map(({ to }) => to.address);
  const isSame = first?.equal === first?.compared;
  const likeness = `${isSame ? "the same fields as" : "most fields of"} ${listed(addresses, "and", 5)}`;
  if (addresses.length > 1)
    return `it has ${likeness}; if it became one of them, add \`moved: [{ from: ${from}, to: … }]\` to the spec to keep it`;
  return `it has ${likeness}, and so has another deleted resource; if it became that one, add \`${movedText(from as Address, addresses[0] as Address)}\` to the spec to keep it`;
}

/** A list with one entry for the spec. */
function movedText(from: Address, to: Address): string {
  return `moved: [${movedEntry({ from, to })}]`;
}

export function movedEntry({ from, to }: LikelyRename): string {
  const text = (address: Address): string =>
    /^[\w./@-]+$/.test(address) ? address : JSON.stringify(address);
  return `{ from: ${text(from)}, to: ${text(to)} }`;
}
