// Every operation of the contract that the client uses: method, path, whether it writes, and whether it can be repeated.

/**
 * What sending a request a second time does, where the first may have had its effect:
 * `safe`: nothing more; `unsafe`: it may act twice or answer for its own first attempt;
 * `overwrite`: safe where the input says `overwrite: true`.
 */
type Repeat = "safe" | "unsafe" | "overwrite";

interface Facts {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the host; `{id}` is filled from the input's field of that name. */
  readonly path: string;
  readonly repeat: Repeat;
  /** `scim`: content type and error bodies of SCIM (contract A 4.1). */
  readonly format: "json" | "scim";
  /** 5xx of the jobs endpoints have a retry rule of their own (contract B 4.2 rule 11). */
  readonly jobs: boolean;
  /** Content of more than `above` bytes in base64 is sent as a form file, without base64. */
  readonly file?: { readonly field: string; readonly above: number };
}
type ReadFacts = Facts & { readonly kind: "read" };
type WriteFacts = Facts & { readonly kind: "write" };
export type OperationFacts = ReadFacts | WriteFacts;

const SCIM = "/api/2.0/preview/scim/v2";

function facts(method: Facts["method"], path: string, repeat: Repeat): Facts {
  const scim = path.startsWith(SCIM);
  return { method, path, repeat, format: scim ? "scim" : "json", jobs: path.startsWith("/api/2.0/jobs/") };
}
const rpc = (name: string) => `/api/2.0/${name}`;
const get = (name: string): ReadFacts => ({ kind: "read", ...facts("GET", rpc(name), "safe") });
const ask = (name: string): ReadFacts => ({ kind: "read", ...facts("POST", rpc(name), "safe") });
const post = (name: string, repeat: Repeat): WriteFacts => ({
  kind: "write",
  ...facts("POST", rpc(name), repeat),
});
const send = (method: Facts["method"], name: string): WriteFacts => ({
  kind: "write",
  ...facts(method, rpc(name), "safe"),
});
const scimGet = (path: string): ReadFacts => ({ kind: "read", ...facts("GET", SCIM + path, "safe") });
const scim = (method: Facts["method"], path: string, repeat: Repeat): WriteFacts => ({
  kind: "write",
  ...facts(method, SCIM + path, repeat),
});

/** The access list of an object; only the dialect of Databricks has it, as all that follows it. */
const OBJECT_ACCESS = "permissions/{object_type}/{object_id}";

/**
 * Keyed by `operationId` of openapi.yaml. Deletes are safe because a second one finds nothing; `clusters/restart` is not,
 * because it would stop the runs that began after the first.
 */
export const OPERATIONS = {
  "scim/users/list": scimGet("/Users"),
  "scim/users/get": scimGet("/Users/{id}"),
  "scim/users/create": scim("POST", "/Users", "unsafe"),
  "scim/users/patch": scim("PATCH", "/Users/{id}", "safe"),
  "scim/users/put": scim("PUT", "/Users/{id}", "safe"),
  "scim/users/delete": scim("DELETE", "/Users/{id}", "safe"),
  "scim/me": scimGet("/Me"),
  "scim/groups/list": scimGet("/Groups"),
  "scim/groups/get": scimGet("/Groups/{id}"),
  "scim/groups/create": scim("POST", "/Groups", "unsafe"),
  "scim/groups/patch": scim("PATCH", "/Groups/{id}", "safe"),
  "scim/groups/delete": scim("DELETE", "/Groups/{id}", "safe"),

  "groups/add-member": post("groups/add-member", "safe"),
  "groups/create": post("groups/create", "unsafe"),
  "groups/list-members": get("groups/list-members"),
  "groups/list": get("groups/list"),
  "groups/list-parents": get("groups/list-parents"),
  "groups/remove-member": post("groups/remove-member", "safe"),
  "groups/delete": post("groups/delete", "safe"),

  "secrets/scopes/create": post("secrets/scopes/create", "unsafe"),
  "secrets/scopes/delete": post("secrets/scopes/delete", "safe"),
  "secrets/scopes/list": get("secrets/scopes/list"),
  "secrets/put": post("secrets/put", "safe"),
  "secrets/delete": post("secrets/delete", "safe"),
  "secrets/list": get("secrets/list"),
  "secrets/acls/put": post("secrets/acls/put", "safe"),
  "secrets/acls/delete": post("secrets/acls/delete", "safe"),
  "secrets/acls/get": get("secrets/acls/get"),
  "secrets/acls/list": get("secrets/acls/list"),

  "workspace/delete": post("workspace/delete", "safe"),
  "workspace/export": get("workspace/export"),
  "workspace/get-status": get("workspace/get-status"),
  // Content and request are at most 10 MB (contract A 8); a form posts the file itself (contract A 4.4 rule 3).
  "workspace/import": {
    ...post("workspace/import", "overwrite"),
    file: { field: "content", above: 9 * 1024 * 1024 },
  },
  "workspace/list": get("workspace/list"),
  "workspace/mkdirs": post("workspace/mkdirs", "safe"),

  "fs/add-block": post("fs/add-block", "unsafe"),
  "fs/close": post("fs/close", "unsafe"),
  "fs/create": post("fs/create", "unsafe"),
  "fs/delete": post("fs/delete", "safe"),
  "fs/get-status": get("fs/get-status"),
  "fs/list": get("fs/list"),
  "fs/mkdirs": post("fs/mkdirs", "safe"),
  "fs/move": post("fs/move", "unsafe"),
  "fs/put": post("fs/put", "overwrite"),
  "fs/read": get("fs/read"),

  "instance-pools/create": post("instance-pools/create", "unsafe"),
  "instance-pools/edit": post("instance-pools/edit", "safe"),
  "instance-pools/delete": post("instance-pools/delete", "safe"),
  "instance-pools/get": get("instance-pools/get"),
  "instance-pools/list": get("instance-pools/list"),

  "permissions/get": get(OBJECT_ACCESS),
  "permissions/set": send("PUT", OBJECT_ACCESS),
  "permissions/update": send("PATCH", OBJECT_ACCESS),

  "permissionassignments/list": get("preview/permissionassignments"),
  "permissionassignments/create": post("preview/permissionassignments", "unsafe"),
  "permissionassignments/set": send("PUT", "preview/permissionassignments/principals/{id}"),
  "permissionassignments/delete": send("DELETE", "preview/permissionassignments/principals/{id}"),

  "libraries/all-cluster-statuses": get("libraries/all-cluster-statuses"),
  "libraries/cluster-status": get("libraries/cluster-status"),
  "libraries/install": post("libraries/install", "safe"),
  "libraries/uninstall": post("libraries/uninstall", "safe"),

  "scim/service-principals/list": scimGet("/ServicePrincipals"),
  "scim/service-principals/get": scimGet("/ServicePrincipals/{id}"),
  "scim/service-principals/create": scim("POST", "/ServicePrincipals", "unsafe"),
  "scim/service-principals/patch": scim("PATCH", "/ServicePrincipals/{id}", "safe"),
  "scim/service-principals/delete": scim("DELETE", "/ServicePrincipals/{id}", "safe"),

  "policies/clusters/list": get("policies/clusters/list"),
  "policies/clusters/get": get("policies/clusters/get"),
  "policies/clusters/create": post("policies/clusters/create", "unsafe"),
  "policies/clusters/edit": post("policies/clusters/edit", "safe"),
  "policies/clusters/delete": post("policies/clusters/delete", "safe"),

  "sql/warehouses/list": get("sql/warehouses"),
  "sql/warehouses/get": get("sql/warehouses/{id}"),
  "sql/warehouses/create": post("sql/warehouses", "unsafe"),
  "sql/warehouses/edit": post("sql/warehouses/{id}/edit", "safe"),
  "sql/warehouses/start": post("sql/warehouses/{id}/start", "safe"),
  "sql/warehouses/stop": post("sql/warehouses/{id}/stop", "safe"),
  "sql/warehouses/delete": send("DELETE", "sql/warehouses/{id}"),

  "git-credentials/list": get("git-credentials"),
  "git-credentials/get": get("git-credentials/{id}"),
  "git-credentials/create": post("git-credentials", "unsafe"),
  "git-credentials/update": send("PATCH", "git-credentials/{id}"),
  "git-credentials/delete": send("DELETE", "git-credentials/{id}"),

  "repos/list": get("repos"),
  "repos/get": get("repos/{id}"),
  "repos/create": post("repos", "unsafe"),
  "repos/update": send("PATCH", "repos/{id}"),
  "repos/delete": send("DELETE", "repos/{id}"),

  "global-init-scripts/list": get("global-init-scripts"),
  "global-init-scripts/get": get("global-init-scripts/{id}"),
  "global-init-scripts/create": post("global-init-scripts", "unsafe"),
  "global-init-scripts/update": send("PATCH", "global-init-scripts/{id}"),
  "global-init-scripts/delete": send("DELETE", "global-init-scripts/{id}"),

  "instance-profiles/list": get("instance-profiles/list"),
  "instance-profiles/add": post("instance-profiles/add", "unsafe"),
  "instance-profiles/edit": post("instance-profiles/edit", "safe"),
  "instance-profiles/remove": post("instance-profiles/remove", "safe"),

  "ip-access-lists/list": get("ip-access-lists"),
  "ip-access-lists/get": get("ip-access-lists/{id}"),
  "ip-access-lists/create": post("ip-access-lists", "unsafe"),
  "ip-access-lists/replace": send("PUT", "ip-access-lists/{id}"),
  "ip-access-lists/update": send("PATCH", "ip-access-lists/{id}"),
  "ip-access-lists/delete": send("DELETE", "ip-access-lists/{id}"),

  "notification-destinations/list": get("notification-destinations"),
  "notification-destinations/get": get("notification-destinations/{id}"),
  "notification-destinations/create": post("notification-destinations", "unsafe"),
  "notification-destinations/update": send("PATCH", "notification-destinations/{id}"),
  "notification-destinations/delete": send("DELETE", "notification-destinations/{id}"),

  "workspace-conf/get": get("workspace-conf"),
  "workspace-conf/update": send("PATCH", "workspace-conf"),

  "jobs/create": post("jobs/create", "unsafe"),
  "jobs/list": get("jobs/list"),
  "jobs/delete": post("jobs/delete", "safe"),
  "jobs/get": get("jobs/get"),
  "jobs/reset": post("jobs/reset", "safe"),
  "jobs/run-now": post("jobs/run-now", "unsafe"),
  "jobs/runs/submit": post("jobs/runs/submit", "unsafe"),
  "jobs/runs/list": get("jobs/runs/list"),
  "jobs/runs/get": get("jobs/runs/get"),
  "jobs/runs/export": get("jobs/runs/export"),
  "jobs/runs/cancel": post("jobs/runs/cancel", "safe"),
  "jobs/runs/get-output": get("jobs/runs/get-output"),
  "jobs/runs/delete": post("jobs/runs/delete", "safe"),

  "clusters/create": post("clusters/create", "unsafe"),
  "clusters/edit": post("clusters/edit", "safe"),
  "clusters/start": post("clusters/start", "safe"),
  "clusters/restart": post("clusters/restart", "unsafe"),
  "clusters/resize": post("clusters/resize", "safe"),
  "clusters/delete": post("clusters/delete", "safe"),
  "clusters/permanent-delete": post("clusters/permanent-delete", "safe"),
  "clusters/get": get("clusters/get"),
  "clusters/pin": post("clusters/pin", "safe"),
  "clusters/unpin": post("clusters/unpin", "safe"),
  "clusters/list": get("clusters/list"),
  "clusters/list-node-types": get("clusters/list-node-types"),
  "clusters/spark-versions": get("clusters/spark-versions"),
  "clusters/events": ask("clusters/events"),
} as const satisfies Record<string, OperationFacts>;

export type OperationName = keyof typeof OPERATIONS;
export type ReadOperation = {
  [K in OperationName]: (typeof OPERATIONS)[K]["kind"] extends "read" ? K : never;
}[OperationName];
export type WriteOperation = Exclude<OperationName, ReadOperation>;

/** Whether this request may be sent again although it may have had its effect. */
export function repeatIsSafe(
  operation: OperationFacts,
  input: { readonly [field: string]: unknown },
): boolean {
  return operation.repeat === "safe" || (operation.repeat === "overwrite" && input.overwrite === true);
}
