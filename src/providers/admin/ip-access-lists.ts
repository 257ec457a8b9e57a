// IP access lists in the Databricks dialect: addresses that may, or may not, reach the workspace.

import type { Reader } from "../../api/contract/reader.ts";
import { kindOf, remoteId } from "../../core/address.ts";
import { defined, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Objection, PlannedChange, PlannedWorkspace, Problem } from "../../resource/planning.ts";
import {
  choiceField,
  defineProvider,
  flagField,
  listField,
  required,
  textField,
} from "../kit/field-builders.ts";
import { lockout } from "../kit/lockout.ts";
import { tokenInName, unfinishedName } from "../kit/names.ts";
import { effectOn, notCompared, problem } from "../kit/problems.ts";
import { createdId, ignoreMissing, keyIn, liveIfPresent, objectsIn } from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";
import {
  type AddressRange,
  ALL_ADDRESSES,
  addressRange,
  intersection,
  rangeText,
  withoutRanges,
} from "./address-ranges.ts";
import { IP_ACCESS_SWITCH, isSwitched, settingsByKey, workspaceConf } from "./workspace-conf.ts";

const KIND = "ip_access_lists";
const fields = {
  label: textField({ severity: "other", minLength: 1, description: "Unique name." }),
  list_type: required(
    choiceField(["ALLOW", "BLOCK"], {
      description: "Whether the addresses may reach the workspace, or may not.",
    }),
  ),
  ip_addresses: required(
    listField(textField({ minLength: 1, description: "IPv4 address or CIDR range." }), {
      list: "set",
      minItems: 1,
      description: "Addresses and ranges. All lists together have at most 1,000.",
      examples: [["203.0.113.0/24"]],
    }),
  ),
  enabled: flagField({ default: true, separateRequest: true, description: "Whether the list is in force." }),
};

const READ_ONLY = new Set([
  "list_id",
  "address_count",
  "created_at",
  "created_by",
  "updated_at",
  "updated_by",
]);

/** The service may write a single address as a range of one. */
const plain = (address: string): string => address.replace(/\/32$/, "");

function toLive(answer: JsonObject): LiveObject {
  const name = keyIn(answer, "label");
  const values = normalized(normalizeLive(fields, answer));
  return withUnknownFields(
    { id: remoteId(keyIn(answer, "list_id")), name, values, facts: defined({ token: tokenInName(name) }) },
    fields,
    answer,
    READ_ONLY,
  );
}

function normalized(values: Values): Values {
  const { ip_addresses: addresses } = values;
  return Array.isArray(addresses) ? { ...values, ip_addresses: addresses.map(String).map(plain) } : values;
}

/** Every list with the switch of the workspace, without which no list is in force. */
async function list(api: Reader): Promise<readonly LiveObject[]> {
  const lists = objectsIn(await api.read("ip-access-lists/list"), "ip_access_lists").map(toLive);
  if (lists.length === 0) return lists;
  const { [IP_ACCESS_SWITCH]: enabled } = await settingsByKey(api, [IP_ACCESS_SWITCH]);
  return lists.map((live) => ({ ...live, facts: { ...live.facts, in_force: String(enabled) === "true" } }));
}

function check({ ip_addresses: addresses }: Values): readonly Problem[] {
  if (!Array.isArray(addresses)) return [];
  return addresses.flatMap((address, index) =>
    String(address).includes("${") || addressRange(String(address)) !== undefined
      ? []
      : [
          problem(
            "SPEC_VALUE",
            ["ip_addresses", index],
            `"${String(address)}" is not an IPv4 address or range`,
            "write an address such as 203.0.113.7 or a range such as 203.0.113.0/24",
          ),
        ],
  );
}

/** What the lists let through: without a list that allows anything, everything that no list blocks. */
function passing(lists: readonly Values[]): readonly AddressRange[] {
  const inForce = lists.filter(({ enabled }) => enabled !== false);
  const rangesOf = (type: string): readonly AddressRange[] =>
    inForce
      .filter(({ list_type }) => list_type === type)
      .flatMap(({ ip_addresses: all }): readonly Json[] => (Array.isArray(all) ? all : []))
      .flatMap((address) => addressRange(String(address)) ?? []);
  const allows = inForce.some(({ list_type }) => list_type === "ALLOW");
  return withoutRanges(allows ? rangesOf("ALLOW") : ALL_ADDRESSES, rangesOf("BLOCK"));
}

interface Effect {
  /** Whether a value that decides the ranges is sensitive, so that they must not be shown. */
  readonly isHidden: boolean;
  /** The addresses that reach the workspace after the plan. */
  readonly after: readonly AddressRange[];
  /** Those of now that do so after the plan. One of the present ones is the caller's. */
  readonly staying: readonly AddressRange[];
  readonly lost: readonly AddressRange[];
}

/** The effect of all changes together; undefined if no list is in force, `unknown` if a value that decides it is hidden. */
function effectOf(workspace: PlannedWorkspace): Effect | "unknown" | undefined {
  const live = workspace.live(KIND);
  const created = workspace.created(KIND);
  const remaining = live
    .map((list) => workspace.valuesAfter(KIND, list))
    .filter((values) => values !== undefined);
  const lists = [...live, ...created].map(({ values }) => values);
  const switches = workspace.live("workspace_conf").filter(({ name }) => name === IP_ACCESS_SWITCH);
  if ([...lists, ...remaining, ...switches.map(({ values }) => values)].some(hasDigest)) return "unknown";
  if (live.length > 0 && live.every(({ facts }) => facts.in_force === false)) return undefined;
  const before = passing(live.map(({ values }) => values));
  const after = passing([...remaining, ...created.map(({ values }) => values)]);
  const isHidden = [...live, ...created].some((list) => workspace.isSensitive(KIND, list, []));
  return { isHidden, after, staying: intersection(before, after), lost: withoutRanges(before, after) };
}

/** The address of the caller is unknown, but it is one of those that reach the workspace now. */
function lockouts({ address }: PlannedChange, workspace: PlannedWorkspace): readonly Objection[] {
  const effect = effectOf(workspace);
  if (effect === "unknown")
    return [notCompared(address, ["the list"], "with the addresses that reach the workspace now")];
  if (effect === undefined || effect.staying.length > 0) return [];
  const message =
    effect.after.length === 0
      ? "no address could reach the workspace"
      : "no address that reaches the workspace now could do so, and that includes the caller's";
  return [lockout(message, "keep the address that you apply from in a list of the type ALLOW")];
}

function consequences(change: PlannedChange, workspace: PlannedWorkspace): readonly string[] {
  const effect = effectOf(workspace);
  if (effect === undefined || effect === "unknown") return [];
  const { lost } = effect;
  const limits = withoutRanges(lost, ALL_ADDRESSES).length === 0 && lost.length > 20;
  if (change.action === "create" && lost.length > 0)
    return ["only addresses of the lists can reach the workspace then"];
  if (limits || lost.length === 0) return [];
  const effects = "addresses can no longer reach the workspace";
  return effect.isHidden ? [effects] : effectOn(effects, lost.map(rangeText));
}

/** First what lets addresses in, then what shuts them out. */
const ORDER = ["create", "update", "replace", "delete"];

function comesAfter(change: PlannedChange, other: PlannedChange): boolean {
  const kind = kindOf(other.address);
  if (kind === workspaceConf.kind) return isSwitched(other, IP_ACCESS_SWITCH, "off");
  return kind === KIND && ORDER.indexOf(change.action) > ORDER.indexOf(other.action);
}

export const ipAccessLists = defineProvider({
  kind: KIND,
  dialect: "databricks",
  singular: "IP access list",
  description:
    "IP access lists: addresses that may reach the workspace, or may not. They are in force while the setting enableIpAccessLists is true.",
  fields,
  severity: "security",
  nameField: "label",
  unique: true,
  idAttribute: "list_id",
  creationRecovery: "two-phase",
  replaceStrategy: "create-first",

  planning: {
    validate: check,
    normalize: normalized,
    waitsFor: comesAfter,
    consequences,
    objections: lockouts,
  },

  operations: {
    list,
    read: (api, id) =>
      liveIfPresent(
        () => api.read("ip-access-lists/get", { id }),
        (answer) => toLive(objectIn(answer.ip_access_list)),
      ),
    /** A new list is enabled: the request takes no `enabled`. */
    async create(api, { name, values: { list_type, ip_addresses, enabled }, token }) {
      const answer = await api.write(
        "ip-access-lists/create",
        defined({ label: unfinishedName(name, token), list_type, ip_addresses }),
      );
      const id = createdId(objectIn(answer.ip_access_list), "list_id");
      await api.created(id);
      await api.write("ip-access-lists/update", defined({ id, label: name, enabled }));
      return id;
    },
    async update(api, { id, name, values: { list_type, ip_addresses, enabled = true } }) {
      await api.write(
        "ip-access-lists/replace",
        defined({ id, label: name, list_type, ip_addresses, enabled }),
      );
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("ip-access-lists/delete", { id })),
  },
});
