// The interfaces of the client: a reader, and a writer that also reads. Planning gets a reader only.

import type { JsonObject } from "../../core/json.ts";

export type ReadOperation =
  | "scim/users/list"
  | "scim/users/get"
  | "scim/me"
  | "scim/groups/list"
  | "scim/groups/get"
  | "secrets/scopes/list"
  | "secrets/list"
  | "secrets/acls/get"
  | "secrets/acls/list"
  | "workspace/export"
  | "workspace/get-status"
  | "workspace/list"
  | "fs/get-status"
  | "fs/list"
  | "fs/read"
  | "instance-pools/get"
  | "instance-pools/list"
  | "permissions/get"
  | "service-principals/list"
  | "jobs/list"
  | "jobs/get"
  | "jobs/runs/list"
  | "jobs/runs/get"
  | "jobs/runs/export"
  | "jobs/runs/get-output"
  | "clusters/get"
  | "clusters/list"
  | "clusters/list-node-types"
  | "clusters/spark-versions"
  | "clusters/events"
  | "groups/list-members"
  | "groups/list"
  | "groups/list-parents";

export type WriteOperation =
  | "scim/users/create"
  | "scim/users/patch"
  | "scim/users/put"
  | "scim/users/delete"
  | "scim/groups/create"
  | "scim/groups/patch"
  | "scim/groups/delete"
  | "groups/add-member"
  | "groups/create"
  | "groups/remove-member"
  | "groups/delete"
  | "secrets/scopes/create"
  | "secrets/scopes/delete"
  | "secrets/put"
  | "secrets/delete"
  | "secrets/acls/put"
  | "secrets/acls/delete"
  | "workspace/delete"
  | "workspace/import"
  | "workspace/mkdirs"
  | "fs/add-block"
  | "fs/close"
  | "fs/create"
  | "fs/delete"
  | "fs/mkdirs"
  | "fs/move"
  | "fs/put"
  | "instance-pools/create"
  | "instance-pools/edit"
  | "instance-pools/delete"
  | "permissions/set"
  | "permissions/update"
  | "jobs/create"
  | "jobs/delete"
  | "jobs/reset"
  | "jobs/run-now"
  | "jobs/runs/submit"
  | "jobs/runs/cancel"
  | "jobs/runs/delete"
  | "clusters/create"
  | "clusters/edit"
  | "clusters/start"
  | "clusters/restart"
  | "clusters/resize"
  | "clusters/delete"
  | "clusters/permanent-delete"
  | "clusters/pin"
  | "clusters/unpin";

/** Fields of a request: JSON body or query. A path parameter is the field that the path names (`id`). */
export type RequestInput = JsonObject;

export interface Reader {
  /** One read. Retried by the client. Throws Refused or UnknownOutcome (core/request-failure). */
  read(operation: ReadOperation, input?: RequestInput): Promise<JsonObject>;
}

export interface Writer extends Reader {
  /**
   * One write; an intent is durable before it leaves. Throws Refused when it certainly had no effect, UnknownOutcome when that is open.
   * `permit` is asked right before each attempt leaves; where it throws, that attempt is not made.
   * Secret values travel as `Sensitive` members of `input` (see SecretInput) and are revealed by the client only.
   */
  write(operation: WriteOperation, input: WriteInput, permit?: Permit): Promise<JsonObject>;
}

/** Throws if a request that changes something must no longer be sent. */
export type Permit = () => void;

/** Input of a write: JSON, save that a member may be a `Sensitive` or bytes, which the client base64-encodes. */
export type WriteInput = { readonly [field: string]: JsonObject[string] | SecretValue | Uint8Array };

/** The part of core's `Sensitive` that the client needs. */
export interface SecretValue {
  reveal(): Uint8Array;
}
