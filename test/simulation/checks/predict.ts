// The writes that a plan announces, told from the plan alone: what the service's log must then show, no more and no less.

import { OPERATIONS, type OperationName } from "../../../src/api/contract/operations.ts";
import { canonicalJson } from "../../../src/core/digest.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Change, Create, Replace, Update } from "../../../src/planner/model/change.ts";
import type { Plan } from "../../../src/planner/model/plan.ts";
import type { Written } from "./ledger.ts";

/** One write: the operation and its subject. An open subject is the ID of an object that the same plan creates. */
export interface Announced {
  readonly operation: OperationName;
  readonly subject?: string;
  /** Something else in the plan may have done it already. */
  readonly optional?: true;
  /** As often as it takes: the blocks of a content, the parts that earlier uploads left. */
  readonly many?: true;
}

type Verb = (change: Create | Replace) => readonly Announced[];

const MEGABYTE = 1024 * 1024;

const one = (operation: OperationName, subject?: string): Announced =>
  subject === undefined ? { operation } : { operation, subject };

const CREATES: Readonly<Record<string, Verb>> = {
  users: ({ name }) => [one("scim/users/create", name)],
  groups: ({ name }) => [one("scim/groups/create", name)],
  scopes: ({ name }) => [one("secrets/scopes/create", name)],
  acls: ({ name }) => [one("secrets/acls/put", name)],
  secrets: ({ name }) => [one("secrets/put", name)],
  pools: ({ name }) => [one("instance-pools/create", name)],
  clusters: ({ name, after }) => [
    one("clusters/create", name),
    ...(after.pinned === true ? [one("clusters/pin")] : []),
    ...(after.run_state === "TERMINATED" ? [one("clusters/delete")] : []),
  ],
  jobs: ({ name }) => [one("jobs/create", name), one("jobs/reset", name)],
  directories: ({ name }) => [one("workspace/mkdirs", name)],
  notebooks: ({ name }) => [one("workspace/import", name)],
  files: (change) => upload(change, false),
};

function upload({ name, after }: Create | Replace | Update, over: boolean): readonly Announced[] {
  const size = Number.parseInt(String(after.content), 10);
  if (size <= MEGABYTE) return [one("fs/put", name)];
  return [
    { operation: "fs/delete", subject: `${name}.*.part`, optional: true, many: true },
    one("fs/create"),
    { ...one("fs/add-block"), many: true },
    one("fs/close"),
    ...(over ? [one("fs/delete", name)] : []),
    one("fs/move", name),
  ];
}

const CLUSTER_STEPS: Readonly<Record<string, OperationName>> = {
  edit: "clusters/edit",
  resize: "clusters/resize",
  pin: "clusters/pin",
  unpin: "clusters/unpin",
  start: "clusters/start",
  terminate: "clusters/delete",
};

function updates(change: Update): readonly Announced[] {
  const { kind, id, name, steps } = change;
  switch (kind) {
    case "users":
      return steps.flatMap(({ operation, detail }) =>
        operation === "patch"
          ? [one("scim/users/patch", id)]
          : textsOf(detail?.groups).map(() => ({
              ...one("scim/groups/patch"),
              ...(operation === "leave" ? { optional: true as const } : {}),
            })),
      );
    case "groups":
      return [one("scim/groups/patch", id)];
    case "acls":
      return [one("secrets/acls/put", name)];
    case "secrets":
      return [one("secrets/put", name)];
    case "pools":
      return [one("instance-pools/edit", id)];
    case "clusters":
      return steps.flatMap(({ operation }) => {
        const known = CLUSTER_STEPS[operation];
        return known === undefined ? [] : [one(known, id)];
      });
    case "jobs":
      return [one("jobs/reset", name)];
    case "notebooks":
      return [one("workspace/import", name)];
    case "files":
      return upload(change, true);
    default:
      throw new Error(`no update of ${kind} was foreseen`);
  }
}

const DELETES: Readonly<Record<string, OperationName>> = {
  users: "scim/users/delete",
  groups: "scim/groups/delete",
  scopes: "secrets/scopes/delete",
  acls: "secrets/acls/delete",
  secrets: "secrets/delete",
  pools: "instance-pools/delete",
  clusters: "clusters/permanent-delete",
  jobs: "jobs/delete",
  directories: "workspace/delete",
  notebooks: "workspace/delete",
  files: "fs/delete",
};

function deletes(kind: string, id: string, before: JsonObject): readonly Announced[] {
  const operation = DELETES[kind];
  if (operation === undefined) throw new Error(`no delete of ${kind} was foreseen`);
  const unpin = kind === "clusters" && before.pinned === true ? [one("clusters/unpin", id)] : [];
  return [...unpin, one(operation, id)];
}

/** The writes of kinds and fields that only the Databricks dialect has: how often each is sent depends on the live object. */
const OF_DIALECT: Readonly<Record<string, readonly OperationName[]>> = {
  service_principals: ["create", "patch", "delete"].map(
    (verb) => `scim/service-principals/${verb}` as OperationName,
  ),
  workspace_assignments: [
    "permissionassignments/create",
    "permissionassignments/set",
    "permissionassignments/delete",
  ],
  workspace_files: ["workspace/mkdirs", "workspace/import", "workspace/delete"],
  workspace_conf: ["workspace-conf/update"],
  authorizations: [],
  ip_access_lists: [
    "ip-access-lists/create",
    "ip-access-lists/replace",
    "ip-access-lists/update",
    "ip-access-lists/delete",
  ],
  notification_destinations: [
    "notification-destinations/create",
    "notification-destinations/update",
    "notification-destinations/delete",
  ],
  git_credentials: ["git-credentials/create", "git-credentials/update", "git-credentials/delete"],
  global_init_scripts: [
    "global-init-scripts/create",
    "global-init-scripts/update",
    "global-init-scripts/delete",
  ],
  global_init_script_order: ["global-init-scripts/update"],
  cluster_policies: ["policies/clusters/create", "policies/clusters/edit", "policies/clusters/delete"],
  warehouses: [
    "sql/warehouses/create",
    "sql/warehouses/edit",
    "sql/warehouses/start",
    "sql/warehouses/stop",
    "sql/warehouses/delete",
  ],
  repos: ["workspace/mkdirs", "repos/create", "repos/update", "repos/delete"],
};

const ACCESS = ["permissions/set", "permissions/update"] as const;
const LIBRARIES = ["libraries/install", "libraries/uninstall"] as const;

function ofDialect(change: Change): readonly Announced[] {
  const sides = [
    "before" in change ? change.before : {},
    "after" in change && change.after !== undefined ? change.after : {},
  ] as readonly JsonObject[];
  const has = (field: string): boolean => sides.some((values) => values[field] !== undefined);
  const operations = [
    ...(OF_DIALECT[change.kind] ?? []),
    ...(has("access") || has("owner") || change.kind === "authorizations" ? ACCESS : []),
    ...(has("libraries") && change.kind === "clusters" ? LIBRARIES : []),
  ];
  return operations.map((operation) => ({ operation, optional: true, many: true }));
}

export function announcedBy(change: Change): readonly Announced[] {
  const added = ofDialect(change);
  return OF_DIALECT[change.kind] === undefined ? [...announcedOf(change), ...added] : added;
}

function announcedOf(change: Change): readonly Announced[] {
  switch (change.action) {
    case "create":
      return creates(change);
    case "update":
      return change.steps.every(({ operation }) => operation === "access") ? [] : updates(change);
    case "replace": {
      const aside =
        change.replacing === "rename-aside"
          ? [{ ...one("instance-pools/edit", change.id), optional: true as const }]
          : [];
      const old = change.keepsOld === true ? [] : deletes(change.kind, change.id, change.before);
      return [...aside, ...creates(change), ...old];
    }
    case "delete":
      return deletes(change.kind, change.id, change.before);
    case "adopt":
    case "import":
    case "move":
    case "forget":
    case "compare":
    case "noop":
    case "report":
      return [];
  }
  return change satisfies never;
}

function creates(change: Create | Replace): readonly Announced[] {
  const verb = CREATES[change.kind];
  if (verb === undefined) throw new Error(`no create of ${change.kind} was foreseen`);
  return verb(change);
}

/** `complete`: the run went to its end, so everything announced must have been written. */
export function notAnnounced(
  plan: Plan,
  writes: readonly Written[],
  { complete, repeats = false }: { readonly complete: boolean; readonly repeats?: boolean },
): readonly string[] {
  const left = plan.changes.flatMap((change) =>
    announcedBy(change).map((what) => ({ ...what, of: change.address, met: 0 })),
  );
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const write of writes) {
    const subject = subjectOf(write);
    const text = canonicalJson({ operation: write.operation, id: write.id ?? null, body: write.body });
    // The same request again, token and all, is another attempt of the same write.
    if (seen.has(text)) {
      const { repeat } = OPERATIONS[write.operation];
      if (repeat === "unsafe" && !repeats)
        wrong.push(`took effect twice: ${write.operation} ${subject ?? ""}`);
      continue;
    }
    seen.add(text);
    const free = left.filter((one) => fits(one, write, subject) && (one.met === 0 || one.many === true));
    const match = free.find((one) => one.subject === subject) ?? free[0];
    if (match === undefined) wrong.push(`unannounced: ${write.operation} ${subject ?? ""}`);
    else match.met += 1;
  }
  if (complete)
    for (const one of left)
      if (one.met === 0 && one.optional !== true)
        wrong.push(`announced and not written: ${one.operation} for ${one.of}`);
  return wrong;
}

function fits(one: Announced, write: Written, subject: string | undefined): boolean {
  if (one.operation !== write.operation || one.subject === undefined)
    return one.operation === write.operation;
  const [head = "", tail] = one.subject.toLowerCase().split("*");
  const found = subject?.toLowerCase() ?? "";
  return tail === undefined ? found === head : found.startsWith(head) && found.endsWith(tail);
}

const text = (value: Json | undefined): string | undefined =>
  value === undefined || value === null ? undefined : String(value);

/** The natural name or the id that a request is about. */
export function subjectOf({ operation, id, body }: Written): string | undefined {
  const settings = body.new_settings;
  if (
    operation === "jobs/reset" &&
    settings !== null &&
    typeof settings === "object" &&
    !Array.isArray(settings)
  )
    return text((settings as JsonObject).name);
  if (operation === "jobs/create") return text(body.name)?.replace(/ \[workspace:[\w-]+\]$/, "");
  if (operation === "clusters/create") return text(body.cluster_name);
  if (operation === "instance-pools/edit") return text(body.instance_pool_id);
  if (operation === "clusters/edit") return text(body.cluster_id);
  if (operation === "fs/move") return text(body.destination_path);
  if (operation.startsWith("secrets/") && body.scope !== undefined) {
    const member = text(body.key ?? body.principal);
    return member === undefined ? text(body.scope) : `${text(body.scope)}/${member}`;
  }
  return (
    id ??
    text(
      body.userName ??
        body.displayName ??
        body.instance_pool_name ??
        body.instance_pool_id ??
        body.cluster_id ??
        body.job_id ??
        body.path,
    )
  );
}

const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [];
