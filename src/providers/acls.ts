// Permissions on a secret scope (contract A 2.5 and contract A 4.3). An ACL is overwritten, never deleted and created again, so access has no gap.

import type { Reader } from "../api/contract/reader.ts";
import { nestedNameOf, type RemoteId, remoteId } from "../core/address.ts";
import type { LiveObject } from "../resource/live.ts";
import { foldCase, foldName, isApplicationId } from "../resource/names.ts";
import type { OperationWriter, Task } from "../resource/operations.ts";
import type { Objection, PlannedChange, PlannedWorkspace } from "../resource/planning.ts";
import { choiceField, defineProvider, required } from "./kit/field-builders.ts";
import { lockout } from "./kit/lockout.ts";
import { nestedName, nestedReads } from "./kit/names.ts";
import { ignoreMissing, keyIn, objectsIn } from "./kit/responses.ts";
import { withUnknownFields } from "./kit/unknown-fields.ts";

const fields = {
  permission: required(
    choiceField(["READ", "WRITE", "MANAGE"], {
      description:
        "READ reads and lists secrets, WRITE also writes them, MANAGE also changes this list. The most powerful permission applies.",
    }),
  ),
};

const NAMES = {
  ignoreCase: "principals",
  nested: { kind: "scopes", under: "acls", shorthand: "permission" },
} as const;

/** The principal is the key. */
const READ_ONLY = new Set(["principal"]);

/** User names compare without regard to case, so an id does; names of scopes do not. */
const idOf = (name: string): RemoteId => remoteId(foldName(NAMES, name));

async function ofScope(api: Reader, scope: string): Promise<readonly LiveObject[]> {
  const answer = await api.read("secrets/acls/list", { scope });
  return objectsIn(answer, "items", "acls").flatMap((item) => {
    const principal = keyIn(item, "principal");
    const permission = keyIn(item, "permission");
    const name = nestedNameOf(scope, principal);
    return [
      withUnknownFields({ id: idOf(name), name, values: { permission }, facts: {} }, fields, item, READ_ONLY),
    ];
  });
}

const isCaller = (caller: string | undefined, name: string): boolean =>
  caller !== undefined && foldCase(nestedName(name).member) === foldCase(caller);

/** A MANAGE that would be lowered or removed. */
function losesManage(change: PlannedChange): boolean {
  return (
    change.live?.values.permission === "MANAGE" &&
    change.action !== "create" &&
    (change.action === "delete" || change.after?.permission !== "MANAGE")
  );
}

function isGroup(workspace: PlannedWorkspace, principal: string): boolean {
  return principal === "users" || workspace.live("groups").some((live) => live.name === principal);
}

function objections(change: PlannedChange, workspace: PlannedWorkspace): readonly Objection[] {
  if (!losesManage(change) || change.live === undefined) return [];
  const { parent, member } = nestedName(change.live.name);
  if (isCaller(workspace.caller, change.live.name))
    return [
      lockout(
        `the caller, ${workspace.caller}, would lose MANAGE on the scope ${parent}`,
        `keep ${member}: MANAGE in the access list, or ask another manager of the scope to apply this`,
      ),
    ];
  if (workspace.caller === undefined && !isGroup(workspace, member))
    return [
      lockout(
        `${member} would lose MANAGE on the scope ${parent}; it is unknown whether that is the caller`,
        "set WORKSPACE_USER to the user name of the caller",
      ),
    ];
  return [];
}

async function put(api: OperationWriter, task: Task): Promise<void> {
  const { parent, member } = nestedName(task.name);
  const permission = task.values.permission ?? "";
  await api.write("secrets/acls/put", { scope: parent, principal: member, permission });
}

export const acls = defineProvider({
  kind: "acls",
  singular: "ACL",
  description: "Access of one user or group to a secret scope.",
  fields,
  severity: "security",
  nameField: undefined,
  unique: true,
  ignoreCase: NAMES.ignoreCase,
  idAttribute: "name",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",
  nested: NAMES.nested,

  planning: {
    access: {
      levels: [],
      contribution({ name, values }) {
        const { parent, member } = nestedName(name);
        const level = String(values.permission ?? "");
        return { grants: [{ on: { kind: "scopes", name: parent }, to: { name: member }, level }] };
      },
    },
    dependencies: (name) => ["users", "groups"].map((kind) => ({ kind, name: nestedName(name).member })),
    namedInKey: (name) =>
      isApplicationId(nestedName(name).member)
        ? undefined
        : { kinds: ["users", "groups"], name: nestedName(name).member },
    steps: () => [{ operation: "put" }],
    neededFacts: (change) => (losesManage(change) ? ["caller"] : []),
    consequences(change) {
      if (change.action !== "delete" || change.live === undefined) return [];
      const { parent, member } = nestedName(change.live.name);
      return [`${member} loses ${String(change.live.values.permission)} on the scope ${parent}`];
    },
    objections,
    isImplicit: (live, caller, scope) =>
      live.values.permission === "MANAGE" &&
      (isCaller(caller, live.name) || nestedName(live.name).member === scope.initial_manage_principal),
  },

  operations: {
    ...nestedReads(ofScope),
    async create(api, task) {
      await put(api, task);
      return idOf(task.name);
    },
    update: put,
    delete(api, task) {
      const { parent, member } = nestedName(task.live?.name ?? task.name);
      return ignoreMissing(() => api.write("secrets/acls/delete", { scope: parent, principal: member }));
    },
  },
});
