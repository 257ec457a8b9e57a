// The items of a plan, drift, or an outcome, taken from the data and not from the views, and how a report is searched
// for them.

import type { Diagnostic } from "../../src/core/diagnostic.ts";
import type { Json } from "../../src/core/json.ts";
import { toDottedPath } from "../../src/core/pointer.ts";
import type { Change } from "../../src/planner/model/change.ts";
import type { ApplyOutcome, ChangeOutcome, Drift, Plan } from "../../src/planner/model/plan.ts";

export type FormName = "text" | "markdown" | "html" | "json" | "junit";

/** `except`: the forms that leave it out on purpose, with the reason. `json`: how machines spell it. */
export interface Item {
  readonly about: string;
  readonly says: string;
  readonly json?: string;
  readonly except?: Partial<Record<FormName, string>>;
}

type Members<T> = { readonly [key in keyof Required<T>]: (value: T) => readonly Item[] };

/** Everything of one value; a new member of its type has to be added here to compile. */
function itemsOf<T>(members: Members<T>, value: T): readonly Item[] {
  return (Object.keys(members) as (keyof T)[]).flatMap((key) => members[key](value));
}

const none = () => [];

const DIAGNOSTIC: Members<Diagnostic> = {
  severity: ({ severity, code }) => [{ about: code, says: severity }],
  code: ({ code }) => [{ about: "diagnostic", says: code }],
  message: ({ code, message }) => [{ about: code, says: message }],
  address: none, // It is part of the message.
  at: ({ code, at }) =>
    at === undefined ? [] : [{ about: code, says: `${at.file}:${at.line}:${at.column}` }],
  usedAt: ({ code, usedAt = [] }) =>
    usedAt.map(({ file, line, column }) => ({ about: code, says: `${file}:${line}:${column}` })),
  rule: ({ code, rule }) =>
    rule === undefined
      ? []
      : [rule.name, rule.severity, `${rule.at.file}:${rule.at.line}:${rule.at.column}`].map((says) => ({
          about: code,
          says,
        })),
  hint: ({ code, hint }) => (hint === undefined ? [] : [{ about: code, says: hint }]),
  cause: ({ code, cause }) => (cause === undefined ? [] : [{ about: code, says: cause }]),
};

const diagnosticItems = (one: Diagnostic) => itemsOf(DIAGNOSTIC, one);

const COUNTED = "what does not change is counted";
const UNCHANGED = { text: COUNTED, markdown: COUNTED, html: COUNTED, junit: COUNTED };
const WORDS = { drift: "changed outside", both: "the spec changed, and so did the workspace" } as const;
const UNRATED = "a reader does not need a severity that says nothing";
const PEOPLE = { junit: "a suite of tests has cases for changes and findings only" };

function changeItems(change: Change): readonly Item[] {
  const { address, name, action, reasons, consequences } = change;
  if (action === "noop") return [{ about: "unchanged", says: address, except: UNCHANGED }];
  if (action === "report")
    return [{ about: `found ${address}`, says: name.slice(name.indexOf("/") + 1), except: PEOPLE }];
  const item = (says: string, json = says): Item => ({ about: address, says, json });
  return [
    item(address),
    item(action === "delete" ? "DELETE" : action, action),
    ...(address.endsWith(name) ? [] : [item(name)]),
    // Readers see it once, at the field.
    ...reasons.map((reason) =>
      item(reason.endsWith("cannot be changed in place") ? "forces replacement" : reason, reason),
    ),
    ...consequences.map((sentence) => item(sentence)),
    ...("id" in change && (action === "delete" || action === "replace") ? [item(change.id)] : []),
    ...(change.cause === "spec" ? [] : [item(WORDS[change.cause], change.cause)]),
    ...("diffs" in change && !("content" in change)
      ? change.diffs.flatMap((diff) => [
          item(toDottedPath(diff.path)),
          ...[diff.before, diff.after]
            .filter((side) => typeof side !== "object")
            .map((side) => item(String(side))),
        ])
      : []),
    ...("diffs" in change
      ? change.diffs.flatMap(({ cause, replaces, path }) => [
          ...(cause === "spec" || cause === change.cause ? [] : [item(`${WORDS[cause]}`, address)]),
          ...(replaces ? [item("forces replacement", toDottedPath(path))] : []),
        ])
      : []),
    ...("content" in change ? (change.content?.lines ?? []).map((line) => item(line)) : []),
    ...("unresolved" in change && action === "create"
      ? change.unresolved.map(({ path }) => item("known after apply", `after_unknown.${toDottedPath(path)}`))
      : []),
    ...(action === "create" ? Object.keys(change.after).map((key) => item(key)) : []),
    ...(action === "delete" && change.deposed === true
      ? [item("a replaced object of this address", address)]
      : []),
  ];
}

function driftItems({ address, what, diffs }: Drift): readonly Item[] {
  const item = (says: string, json = says): Item => ({ about: `drift of ${address}`, says, json });
  return [
    item(`${what} ${address}`, what),
    item(address),
    {
      ...item("other", "severity.other"),
      about: `severity of ${address}`,
      except: { text: UNRATED, markdown: UNRATED, html: UNRATED, junit: UNRATED },
    },
    ...diffs.flatMap((diff) => [
      item(toDottedPath(diff.path)),
      item(String(diff.before)),
      item(String(diff.after)),
    ]),
  ];
}

const PLAN: Members<Plan> = {
  host: ({ host }) => [
    { about: "plan", says: host, except: { text: "the terminal's user chose it", ...PEOPLE } },
  ],
  modes: ({ modes = [] }) =>
    modes.map((mode) => ({ about: "plan", says: mode, except: { text: "PLAN_MODE says it", ...PEOPLE } })),
  cost: ({ cost }) => (cost === undefined ? [] : [{ about: "plan", says: "Cost", json: "cost" }]),
  capacity: ({ cost, capacity }) =>
    capacity === undefined || cost !== undefined ? [] : [{ about: "plan", says: "Cost", json: "capacity" }],
  part: ({ part }) =>
    part === undefined
      ? []
      : [
          { about: "plan", says: "Partial plan", json: "partial" },
          { about: "plan", says: `${part.planned} of`, json: String(part.planned) },
          {
            about: "plan",
            says: `of ${part.total.toLocaleString("en-US")} resources`,
            json: String(part.total),
          },
        ],
  split: ({ split }) =>
    split === undefined
      ? []
      : [
          { about: "plan", says: `Compared with ${split.base}`, json: split.base },
          ...(["caused by this change", "already pending", "resolved by this change"] as const).map(
            (says) => ({
              about: "plan",
              says,
              json: says.includes("pending") ? "pending" : says.includes("caused") ? "caused" : "resolved",
            }),
          ),
          ...Object.values(split.changes).flatMap(({ fields }) =>
            fields.flatMap(({ path, origin }) =>
              origin === "pending"
                ? [{ about: toDottedPath(path), says: "already pending", json: "field_origins" }]
                : [],
            ),
          ),
          ...split.resolved.map(({ change, fields = [] }) => ({
            about: "resolved",
            says: `${change.action} ${change.address}${fields.length === 0 ? "" : `: only ${fields.map(toDottedPath).join(", ")}`}`,
            json: fields.length === 0 ? change.address : "resolved_paths",
          })),
        ],
  access: ({ access }) =>
    access === undefined
      ? []
      : [
          ...[...access.gained, ...access.lost].flatMap(({ principal, level, object, through }) =>
            [principal, level, object, ...through].map((says) => ({ about: "access", says, except: PEOPLE })),
          ),
          ...access.notCompared.map((says) => ({ about: "access", says, except: PEOPLE })),
        ],
  // Each of them is a sentence of its deletion, too.
  renames: ({ renames }) =>
    renames === undefined || renames.pairs.length === 0
      ? []
      : renames.pairs.map(({ from, to }) => ({
          about: "moved entries to paste",
          says: `moved: - { from: ${from}, to: ${to} }`,
          json: "suggested_moves",
          except: PEOPLE,
        })),
  changes: ({ changes }) => changes.flatMap(changeItems),
  drift: ({ drift }) => drift.flatMap(driftItems).map((one) => ({ ...one, except: PEOPLE })),
  unmanaged: ({ unmanaged }) =>
    unmanaged.map(({ kind, name }) => ({ about: `unmanaged ${kind}`, says: name, except: PEOPLE })),
  guards: ({ guards }) =>
    guards.flatMap(({ diagnostic, addresses }) => [
      ...diagnosticItems(diagnostic),
      ...addresses.map((address) => ({ about: diagnostic.code, says: address })),
    ]),
  diagnostics: ({ diagnostics }) => diagnostics.flatMap(diagnosticItems),
};

export const planItems = (plan: Plan): readonly Item[] => itemsOf(PLAN, plan);

export const noteItems = (notes: readonly Diagnostic[]): readonly Item[] =>
  notes
    .flatMap(diagnosticItems)
    .map((one) => ({ ...one, except: { text: "it is on standard error already" } }));

export function driftReportItems({ host, drift, diagnostics }: Plan): readonly Item[] {
  return [
    {
      about: "drift",
      says: host,
      except: { text: "the terminal's user chose it", markdown: "the issue's title says it", ...PEOPLE },
    },
    ...drift.flatMap(driftItems),
    ...noteItems(diagnostics),
  ];
}

const NOT_TRIED = {
  text: "said of all together",
  markdown: "said in the line",
  junit: "said in the message",
};
const RESULT = { junit: "the element is a failure or skipped" };

function outcomeItem(one: ChangeOutcome): readonly Item[] {
  const { address, action, result, id, blockedBy, diagnostic } = one;
  const item = (says: string, json = says): Item => ({ about: `${result} ${address}`, says, json });
  const tried = result !== "blocked" && diagnostic?.code !== "APPLY_INTERRUPTED";
  return [
    result === "applied" ? { ...item(address), except: { text: "progress names it" } } : item(address),
    { ...item(result === "applied" ? "created" : result, result), except: RESULT },
    ...(tried && result !== "applied" ? [item(`${action} ${address}`, action)] : []),
    ...(id === undefined ? [] : [{ ...item(id), except: NOT_TRIED }]),
    ...(blockedBy === undefined ? [] : [item(blockedBy)]),
    ...(diagnostic === undefined
      ? []
      : diagnosticItems(diagnostic).map((detail) => (tried ? detail : { ...detail, except: NOT_TRIED }))),
  ];
}

const OUTCOME: Members<ApplyOutcome> = {
  changes: ({ changes }) => changes.flatMap(outcomeItem),
  diagnostics: ({ diagnostics }) => diagnostics.flatMap(diagnosticItems),
  interrupted: () => [{ about: "outcome", says: "Stopped", json: "interrupted.true", except: PEOPLE }],
  elapsedMs: ({ elapsedMs }) => [
    {
      about: "outcome",
      says: `${(elapsedMs / 1000).toFixed(1)} s`,
      json: String(elapsedMs / 1000),
      except: PEOPLE,
    },
  ],
};

export const outcomeItems = (outcome: ApplyOutcome): readonly Item[] => itemsOf(OUTCOME, outcome);

/** What a form does not say although it should. */
export function missingIn(form: FormName, output: string, items: readonly Item[]): readonly string[] {
  const plain = PLAIN[form](output);
  return items
    .filter(({ except }) => except?.[form] === undefined)
    .filter(({ says, json }) => !plain.includes(form === "json" ? (json ?? says) : says))
    .map(({ about, says }) => `${form}: ${about}: ${says}`);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
const withoutEntities = (text: string) =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code === undefined ? (ENTITIES[name] ?? whole) : String.fromCharCode(Number(code)),
  );
const withoutTags = (text: string) => withoutEntities(text.replace(/<(?!\d)[^>]*>/g, ""));

const PLAIN: Readonly<Record<FormName, (output: string) => string>> = {
  // Verbs are padded.
  text: (output) => output.replace(/(changed|deleted) +(?=\w+\.)/g, "$1 "),
  markdown: (output) =>
    withoutTags(output)
      .replace(/`|\*\*/g, "")
      .replace(/^(\s*)> /gm, "$1"),
  html: (output) =>
    withoutTags(
      output.replace(/<(style|script)>.*?<\/\1>/gs, "").replace(/<\/(span|td|p|li|h\d)>/g, " "),
    ).replaceAll("  ", " "),
  junit: (output) => withoutEntities(output).replace(/(changed|deleted) +(?=\w+\.)/g, "$1 "),
  json: (output) =>
    output
      .split("\n")
      .filter((line) => line !== "")
      .flatMap((line) => leaves(JSON.parse(line), []))
      .join("\n"),
};

/** Each leaf with its dotted path, each list as a separate path, each location as `file:line:column`. */
function leaves(value: Json, path: readonly (string | number)[]): readonly string[] {
  if (Array.isArray(value))
    return [
      toDottedPath(value.filter((one) => typeof one === "string")),
      ...value.flatMap((one, at) => leaves(one, [...path, at])),
    ];
  if (typeof value !== "object" || value === null) return [`${toDottedPath(path)}.${String(value)}`];
  const { file, line, column } = value as Record<string, Json>;
  const place = file === undefined ? [] : [`${String(file)}:${String(line)}:${String(column)}`];
  return [...place, ...Object.entries(value).flatMap(([key, one]) => leaves(one, [...path, key]))];
}
