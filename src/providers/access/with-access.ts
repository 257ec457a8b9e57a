// Gives a kind access lists: the fields `access` and `owner`, read only if they are declared, their rules, and a separate step that changes them.

import type { Reader } from "../../api/contract/reader.ts";
import { defined, type JsonObject, omit } from "../../core/json.ts";
import { count } from "../../core/sentences.ts";
import type { AccessContribution, Grant, RightsHolder } from "../../resource/access.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isIdItsName, principalKey } from "../../resource/names.ts";
import type { OperationWriter, UpdateTask } from "../../resource/operations.ts";
import type { FieldDiff, Objection, PlannedChange, Problem, Step } from "../../resource/planning.ts";
import { choiceField, mapField, textField } from "../kit/field-builders.ts";
import { lockout } from "../kit/lockout.ts";
import { problem } from "../kit/problems.ts";
import {
  type AccessObject,
  accessOf,
  forExport,
  OWNER,
  ownerOf,
  readAccess,
  writeAccess,
} from "./access-list.ts";
import {
  isAdmins,
  isSamePrincipal,
  managedPrincipal,
  principalInRights,
  principalNamed,
} from "./principals.ts";

export interface AccessRules {
  /** The part of the path that names the type of the object. */
  readonly type: string;
  /** From the lowest to the highest, without ownership. */
  readonly levels: readonly string[];
  /** Levels of single objects that have fewer, by name. */
  readonly fewer?: Readonly<Record<string, readonly string[]>>;
  /** Whether an object always has exactly one owner. */
  readonly owned?: true;
  /** The ID of the object in paths, if it is not its remote ID. */
  readonly idOf?: (api: Reader, id: string) => Promise<string>;
}

const OURS = ["access", "owner"];
const STEP = "access";

const accessFields = ({ levels, owned }: AccessRules, singular: string): FieldTable => ({
  access: mapField(choiceField(levels, { description: "Level of the principal." }), {
    dialect: "databricks",
    severity: "security",
    whenAbsent: "unmanaged",
    separateRequest: true,
    keys: { minLength: 1 },
    description: `The whole access list of the ${singular}: a level for each user (ada@example.com), group (data-eng), or service principal (sp:APPLICATION_ID or sp:NAME). Entries of others are drift and are removed. The owner, admins, your own right, and inherited entries are not listed. If absent, the list is not managed.`,
    examples: [{ "data-eng": levels.at(-1) ?? "" }],
  }),
  ...(owned === true
    ? {
        owner: textField({
          dialect: "databricks",
          severity: "security",
          whenAbsent: "unmanaged",
          separateRequest: true,
          ignoreCase: true,
          minLength: 1,
          mentions: ["users"],
          description: `The one owner of the ${singular}: a user or a service principal (sp:APPLICATION_ID or sp:NAME). If absent, it is not managed.`,
          examples: ["ada@example.com"],
        }),
      }
    : {}),
});

const withoutAccess = (values: Values): Values => omit(values, OURS);

/** The kind with access lists. Its own rules and operations do not see their fields. */
export function withAccess(kind: Provider, rules: AccessRules): Provider {
  return {
    ...kind,
    fields: { ...kind.fields, ...accessFields(rules, kind.singular) },
    planning: planningWithAccess(kind, rules),
    operations: operationsWithAccess(kind, rules),
  };
}

function planningWithAccess(kind: Provider, rules: AccessRules): Provider["planning"] {
  const { planning } = kind;
  return {
    ...planning,
    access: {
      dialect: "databricks",
      levels: rules.owned === true ? [...rules.levels, OWNER] : rules.levels,
      contribution: (object) => contributionOf(kind, rules, object),
    },
    validate: (values, name) => [
      ...(planning.validate?.(withoutAccess(values), name) ?? []),
      ...accessProblems(values),
      ...levelProblems(values, name, rules.fewer?.[name]),
    ],
    normalize(values, like) {
      const own = withoutAccess(values);
      const normal = planning.normalize?.(own, like) ?? own;
      return own === values
        ? normal
        : { ...normal, ...defined({ access: values.access, owner: values.owner }) };
    },
    dependencies: (name, values) => [
      ...(planning.dependencies?.(name, withoutAccess(values)) ?? []),
      ...Object.keys(accessOf(values)).map(managedPrincipal),
    ],
    namedPrincipals: principalsIn,
    steps: (diffs, live, after) => stepsWith(planning.steps, diffs, live, after),
    consequences: (change, workspace) => [
      ...(planning.consequences?.({ ...withoutOurs(change), after: change.after }, workspace) ?? []),
      ...accessConsequences(change, kind.singular),
    ],
    objections: (change, workspace) => [
      ...(planning.objections?.(withoutOurs(change), workspace) ?? []),
      ...lockoutOf(change, rules, kind.singular),
    ],
  };
}

function operationsWithAccess(kind: Provider, rules: AccessRules): Provider["operations"] {
  const { operations } = kind;
  const objectOf = async (api: Reader, id: string): Promise<AccessObject> => ({
    object_type: rules.type,
    object_id: rules.idOf === undefined ? id : await rules.idOf(api, id),
  });
  return {
    ...operations,
    ...(operations.readDetails === undefined ? { listsAll: true } : {}),
    async readDetails(api, live, desired, context) {
      const rest = desired === undefined ? undefined : withoutAccess(desired);
      const detailed = (await operations.readDetails?.(api, live, rest, context)) ?? live;
      return isDeclared(desired) ? readAccess(api, detailed, desired, objectOf, context) : detailed;
    },
    async readAccess(api, live, isWhole = false) {
      const read = await readAccess(api, live, {}, objectOf);
      return isWhole ? read : forExport(read);
    },
    async create(api, task) {
      const id = await operations.create(api, { ...task, values: withoutAccess(task.values) });
      const change = { set: accessOf(task.values), removed: [], owner: ownerOf(task.values) };
      if (change.owner === undefined && Object.keys(change.set).length === 0) return id;
      if (!isIdItsName(kind)) await api.created(id);
      await writeAccess(api, await objectOf(api, id), change);
      return id;
    },
    async update(api, task) {
      const steps = task.steps.filter(({ operation }) => operation !== STEP);
      const values = withoutAccess(task.values);
      const before = withoutAccess(task.before);
      if (steps.length > 0) await operations.update(api, { ...task, values, before, steps });
      const change = task.steps.find(({ operation }) => operation === STEP);
      if (change !== undefined) await updateAccess(api, task, change, await objectOf(api, task.id));
    },
  };
}

function isDeclared(desired: Values | undefined): desired is Values {
  return desired?.access !== undefined || desired?.owner !== undefined;
}

/** The caller's own right is not in the list of a spec: the fact `manager` has it. */
function contributionOf(
  { kind, tree }: Provider,
  { levels, owned }: AccessRules,
  { name, values, facts, isNew }: RightsHolder,
): AccessContribution {
  const on = { kind, name };
  const grant = (text: string, level: string): Grant => ({ on, to: principalInRights(text), level });
  const { access, owner } = values;
  const { manager } = facts;
  const listed = Object.entries(accessOf(values)).map(([text, level]) => grant(text, String(level)));
  const manage = levels.at(-1) ?? "";
  const isManager = typeof manager === "string" && accessOf(values)[manager] === undefined;
  const home = /^\/Users\/([^/]+)$/.exec(name)?.[1];
  return {
    grants: [
      ...listed,
      ...(typeof owner === "string" ? [grant(owner, OWNER)] : []),
      ...(isManager ? [grant(manager, manage)] : []),
      ...(tree?.folders === true && home !== undefined ? [grant(`user:${home}`, manage)] : []),
    ],
    creatorLevel:
      isNew && tree === undefined && levels.length > 1
        ? owned === true && owner === undefined
          ? OWNER
          : manage
        : undefined,
    isUnread: !isNew && access === undefined && owner === undefined,
  };
}

function accessProblems(values: Values): readonly Problem[] {
  const keys = new Map<string, string>();
  const problems: Problem[] = [];
  const owner = ownerOf(values);
  if (owner !== undefined && principalNamed(owner).kind === "group" && !owner.includes("${"))
    problems.push(problem("SPEC_VALUE", ["owner"], `a group cannot own an object: "${owner}"`));
  for (const text of Object.keys(accessOf(values))) {
    const principal = principalNamed(text);
    const earlier = keys.get(principalKey(principal));
    const at = ["access", text];
    if (isAdmins(principal))
      problems.push(problem("SPEC_VALUE", at, "admins manage every object", "remove the entry"));
    else if (earlier !== undefined)
      problems.push(problem("SPEC_DUPLICATE_KEY", at, `"${earlier}" and "${text}" are the same principal`));
    else if (owner !== undefined && isSamePrincipal(principalNamed(owner), principal))
      problems.push(
        problem(
          "SPEC_COMBINATION",
          at,
          `"${text}" is the owner`,
          "remove the entry: an owner has every right",
        ),
      );
    keys.set(principalKey(principal), text);
  }
  return problems;
}

function levelProblems(
  values: Values,
  name: string,
  levels: readonly string[] | undefined,
): readonly Problem[] {
  if (levels === undefined) return [];
  return Object.entries(accessOf(values)).flatMap(([text, level]): readonly Problem[] =>
    levels.includes(String(level))
      ? []
      : [
          problem(
            "SPEC_VALUE",
            ["access", text],
            `${String(level)} is not a level of ${name}`,
            `use ${levels.join(" or ")}`,
          ),
        ],
  );
}

/** Everybody of the account; no list of a workspace contains it. */
const ACCOUNT_USERS = "account users";

function principalsIn(values: Values) {
  const owner = ownerOf(values);
  return [
    ...Object.keys(accessOf(values)).flatMap((text) =>
      text === ACCOUNT_USERS ? [] : [{ ...managedPrincipal(text), path: ["access", text] }],
    ),
    ...(owner === undefined ? [] : [{ ...managedPrincipal(owner), path: ["owner"] }]),
  ];
}

const isOurs = ({ path }: FieldDiff): boolean => OURS.includes(String(path[0]));

/** Access comes last: an archive that replaces a notebook takes its list with it. */
function stepsWith(
  own: Provider["planning"]["steps"],
  diffs: readonly FieldDiff[],
  live: LiveObject,
  after: Values,
): readonly Step[] {
  const others = diffs.filter((diff) => !isOurs(diff));
  const first: readonly Step[] =
    others.length === 0 ? [] : (own?.(others, live, withoutAccess(after)) ?? [{ operation: "update" }]);
  const changed = diffs.filter((diff) => diff.path[0] === "access").map(({ path }) => path[1]);
  const names = changed.includes(undefined)
    ? Object.keys({ ...accessOf(live.values), ...accessOf(after) })
    : changed.map(String);
  return diffs.length === others.length ? first : [...first, { operation: STEP, detail: { names } }];
}

async function updateAccess(
  api: OperationWriter,
  { values }: UpdateTask,
  { detail }: Step,
  object: AccessObject,
): Promise<void> {
  const declared = accessOf(values);
  const names = Array.isArray(detail?.names) ? detail.names.map(String) : [];
  const set: JsonObject = Object.fromEntries(
    names.flatMap((name) => (declared[name] === undefined ? [] : [[name, declared[name]]])),
  );
  const removed = names.filter((name) => declared[name] === undefined);
  await writeAccess(api, object, { set, removed, owner: ownerOf(values) });
}

const withoutOurs = (change: PlannedChange): PlannedChange => ({
  ...change,
  after: change.after === undefined ? undefined : withoutAccess(change.after),
  diffs: change.diffs.filter((diff) => !isOurs(diff)),
  steps: change.steps.filter(({ operation }) => operation !== STEP),
});

function accessConsequences(change: PlannedChange, singular: string): readonly string[] {
  const entries = Object.keys(accessOf(change.after)).length;
  if (change.action === "replace" && entries > 0)
    return [`the new ${singular} gets the access list of the spec (${count(entries, "entry", "entries")})`];
  const passed = change.action === "update" && change.diffs.find(({ path }) => path[0] === "owner");
  return passed && typeof passed.before === "string"
    ? [`${passed.before} no longer owns the ${singular}`]
    : [];
}

/** A level of the caller that would no longer let it manage the object. */
function lockoutOf({ diffs, live, after }: PlannedChange, { levels }: AccessRules, singular: string) {
  const manager = live?.facts.manager;
  const level = typeof manager === "string" ? accessOf(after)[manager] : undefined;
  const isLowered = diffs.some(({ path }) => path[0] === "access" && path[1] === manager);
  if (!isLowered || level === undefined || level === levels.at(-1)) return [];
  const objection: Objection = lockout(
    `the caller, ${String(manager)}, could no longer manage the ${singular}`,
    `give ${String(manager)} ${levels.at(-1)}, or ask another manager to apply this`,
  );
  return [objection];
}
