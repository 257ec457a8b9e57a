// Who may do what with a secret scope (contract: part A, 2.5 and 4.3). Written over, never deleted and put again: no gap.

import type { Reader } from "../api/contract/reader.ts";
import { type RemoteId, remoteId } from "../core/address.ts";
import { foldCase, foldName } from "../resource/names.ts";
import type { LiveObject, Look, Objection, PlannedChange } from "../resource/provider.ts";
import { lockout } from "./kit/admin-membership.ts";
import { choice, defineProvider } from "./kit/field-builders.ts";
import { membersOfAll, placeOf } from "./kit/names.ts";
import { found, keyIn, objectsIn, unlessGone } from "./kit/responses.ts";

const fields = {
  permission: choice(["READ", "WRITE", "MANAGE"], {
    description:
      "READ reads and lists secrets, WRITE also writes them, MANAGE also changes this list. The most powerful one counts.",
  }),
};

const NAMES = {
  ignoreCase: true,
  nested: { kind: "scopes", under: "acls", shorthand: "permission" },
} as const;

/** User names compare without regard to case, so an id does; names of scopes do not. */
const idOf = (name: string): RemoteId => remoteId(foldName(NAMES, name));

async function ofScope(api: Reader, scope: string): Promise<readonly LiveObject[]> {
  const answer = await api.read("secrets/acls/list", { scope });
  return objectsIn(answer, "items", "acls").flatMap((item) => {
    const principal = keyIn(item, "principal");
    const permission = keyIn(item, "permission");
    const name = `${scope}/${principal}`;
    return [{ id: idOf(name), name, values: { permission }, facts: {} }];
  });
}

const isCaller = (look: Look, name: string): boolean =>
  look.caller !== undefined && foldCase(placeOf(name).member) === foldCase(look.caller);

/** A MANAGE that would be lowered or removed. */
function losesManage(change: PlannedChange): boolean {
  return (
    change.live?.values.permission === "MANAGE" &&
    change.action !== "create" &&
    (change.action === "delete" || change.after?.permission !== "MANAGE")
  );
}

function isGroup(look: Look, principal: string): boolean {
  return principal === "users" || look.live("groups").some((live) => live.name === principal);
}

function objections(change: PlannedChange, look: Look): readonly Objection[] {
  if (!losesManage(change) || change.live === undefined) return [];
  const { parent, member } = placeOf(change.live.name);
  if (isCaller(look, change.live.name))
    return [
      lockout(
        `${look.caller}, who runs this, would lose MANAGE on the scope ${parent}`,
        `keep ${member}: MANAGE in the access list, or let another manager of the scope apply this`,
      ),
    ];
  if (look.caller === undefined && !isGroup(look, member))
    return [
      lockout(
        `${member} would lose MANAGE on the scope ${parent}, and whether that is who runs this is not known`,
        "say who runs this in the environment variable WORKSPACE_USER",
      ),
    ];
  return [];
}

export const acls = defineProvider({
  kind: "acls",
  one: "access",
  description: "Access of one user or group to a secret scope.",
  fields,
  severity: "security",
  nameField: undefined,
  unique: true,
  ignoreCase: NAMES.ignoreCase,
  idAttribute: "name",
  crash: "repeatable",
  replacing: "delete-first",
  nested: NAMES.nested,

  needs: (name) => ["users", "groups"].map((kind) => ({ kind, name: placeOf(name).member })),
  speaksOf: (name) => ({ kinds: ["users", "groups"], name: placeOf(name).member }),
  steps: () => [{ operation: "put" }],
  wants: (change, look) => (look.caller === undefined && losesManage(change) ? ["caller"] : []),
  consequences(change) {
    if (change.action !== "delete" || change.live === undefined) return [];
    const { parent, member } = placeOf(change.live.name);
    return [`${member} loses ${String(change.live.values.permission)} on the scope ${parent}`];
  },
  objections,
  keeps: (live, look, scope) =>
    live.values.permission === "MANAGE" &&
    (isCaller(look, live.name) || placeOf(live.name).member === scope.initial_manage_principal),

  list: (api, scope) => membersOfAll(api, scope.parents, ofScope),
  async read(api, id) {
    const all = await found(() => ofScope(api, placeOf(id).parent));
    return all?.find((live) => live.id === id);
  },
  async create(api, task) {
    const { parent, member } = placeOf(task.name);
    const permission = task.values.permission ?? "";
    await api.write("secrets/acls/put", { scope: parent, principal: member, permission });
    return idOf(task.name);
  },
  async update(api, task) {
    const { parent, member } = placeOf(task.name);
    const permission = task.values.permission ?? "";
    await api.write("secrets/acls/put", { scope: parent, principal: member, permission });
  },
  delete(api, task) {
    const { parent, member } = placeOf(task.live?.name ?? task.name);
    return unlessGone(() => api.write("secrets/acls/delete", { scope: parent, principal: member }));
  },
});
