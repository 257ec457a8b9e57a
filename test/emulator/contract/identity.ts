// Part A of the contract about people and secrets: conventions, SCIM users and groups, legacy groups.

import { section } from "./section.ts";

const CONVENTIONS = section("A", "Conventions", {
  conventions: {
    "bodies are JSON objects": /body is a JSON object/,
    "fields of a GET are query parameters": /query string/,
    "a JSON body on a GET carries the same fields": /GET may carry the same fields/,
    "STRING, BOOL, INT32, INT64: a value of another type is refused, none is coerced": /wrong type/,
    "INT64 has 64 bits": /64 bits/,
  },
  "conventions BYTES": { "BYTES are base64 text in JSON": /is base64/, "nothing else is": /is not base64/ },
});

const USER = section(
  "A2.1",
  "SCIM user",
  {
    schemas: {
      "required on create": /on create/,
      "required on PUT": /PUT/,
      "names the core user schema": /user schema/,
    },
    userName: { "required on create": /on create/, "can be filtered on": /filter/ },
    id: "assigned by the service; used in paths",
    groups: "optional list of {value}, each the id of a group",
    entitlements: "optional list of {value}; allow-cluster-create is one",
  },
  {
    open: {
      attributes: [
        "other attributes of users and groups",
        "displayName, name, emails, active, externalId, roles; lists that are empty are left out",
      ],
    },
  },
);

const GROUP = section("A2.2", "SCIM group", {
  schemas: "required on create: the core group schema",
  displayName: {
    "required on create": /on create/,
    "can be filtered on": /filter/,
    "cannot be changed after creation": /cannot be changed/,
  },
  members: {
    "optional list of {value}, each the id of a user or a group": /users and groups/,
    "groups may be members": /group in a group/,
  },
  id: "assigned by the service",
});

const SECRETS = [
  section("A2.3", "Secret scope", {
    name: {
      unique: /exists/,
      "alphanumerics, dashes, underscores, periods; at most 128 characters": /alphabet/,
    },
    backend_type: "CLOUD_KEYVAULT or PLATFORM",
  }),
  section("A2.4", "Secret metadata", {
    key: {
      "unique in its scope": /one secret/,
      "alphanumerics, dashes, underscores, periods; at most 128 characters": /alphabet/,
    },
    last_updated_timestamp: "INT64, milliseconds since the Unix epoch",
    value: "no endpoint returns the value of a secret",
  }),
  section("A2.5", "Secret ACL item", {
    principal: "name of a user or a group; required",
    permission: "required; READ, WRITE or MANAGE",
    READ: "reads and lists the secrets of the scope",
    WRITE: "reads and writes secrets",
    MANAGE: "reads and writes ACLs and secrets",
    "strongest permission": "a principal uses the most powerful permission that it has",
  }),
];

const PRINCIPAL = section("A2.7", "Legacy group principal", {
  PrincipalName: "exactly one of user_name and group_name",
});

const STATES = section(
  "A3",
  "States of users and uploads",
  {
    "user DELETE": "always makes the user inactive",
    "user purge": "who neither owns nor belongs to a workspace is purged 30 days later",
    "upload handle": {
      "create, path free: open, a handle is returned": /create opens it where/,
      "create, overwrite true: open": /create opens it over/,
      "add-block, handle exists: stays open, the block is appended": /add-block/,
      "close, handle exists: closed, the upload is finished": /close/,
      "no call for 10 minutes: expired": /10 minutes/,
    },
  },
  {
    open: {
      "inactive user": [
        "name of the inactive state",
        "the user is neither found nor listed, its tokens are refused, and its memberships are removed; the same name posted within 30 days gets its ID again",
      ],
      "expired handle": [
        "later calls on an expired handle",
        "RESOURCE_DOES_NOT_EXIST, as for any unknown handle; what it held is dropped",
      ],
    },
  },
);

const SCIM = section(
  "A4.1",
  "SCIM",
  {
    "GET /Users": { "list of users": /list response/, "optional filter, paging of SCIM 2.0": /startIndex/ },
    "GET /Users/{id}": "one user",
    "POST /Users": {
      "schemas, userName, entitlements: the created user": /creates a user/,
      groups: /puts the user into the groups/,
    },
    "PATCH /Users/{id}":
      "PatchOp with Operations of {op, path, value}, add to entitlements: the updated user",
    "PUT /Users/{id}": { "a full body overwrites the user": /overwrites/, "schemas are required": /schemas/ },
    "DELETE /Users/{id}": "inactivates the user",
    "GET /Groups": { "list of groups": /lists/, "optional filter": /filter/ },
    "GET /Groups/{id}": "one group",
    "POST /Groups": "schemas, displayName, members: the created group",
    "PATCH /Groups/{id}": {
      "PatchOp with Operations of {op, value: {members}}: adds individual members": /adds individual/,
      "removes individual members": /removes individual/,
    },
    "DELETE /Groups/{id}": "removes the group; its users are kept",
    PATCH: {
      "add, remove and replace": /replaces?\b/,
      "by path and value filter": /value filter/,
      "in order, and all or none": /all or none/,
    },
    "rule 1": {
      "PATCH changes only what is not immutable": /PATCH does not change immutable/,
      "PUT changes only what is not immutable": /PUT does not change/,
      "PATCH sets and changes the entitlements of a user": /entitlements/,
    },
    "rule 2": "group names cannot be changed",
    "Content-Type": {
      "application/scim+json": /is served/,
      "required on write calls": /is refused|required/,
    },
    Accept: { "application/scim+json": /is served/, "required on read calls": /is refused/ },
    filter: {
      "<attribute> <operator> <value>": /without quotes/,
      "spaces written as +": /written as \+/,
      "userName eq <user_name> on users": /by userName/,
      "displayName sw <prefix> on groups": /displayName/,
    },
    "filter eq": "the attribute equals the value",
    "filter ne": "the attribute does not equal the value",
    "filter co": "the value is a substring of the attribute",
    "filter sw": "the attribute starts with the value",
    "filter and": "all expressions are true",
    "filter or": "any expression is true",
  },
  {
    open: {
      headers: [
        "what happens without the required headers",
        "415 and 406 in the SCIM form; application/json is taken too, and ranges that hold it; a DELETE needs none",
      ],
      "rule 3": [
        "one published example of group delete leaves out 2.0",
        "the table counts: that path is not an endpoint (404)",
      ],
      "rule 4": [
        "response bodies",
        "create answers 201, DELETE 204 without a body, all others 200, each with the resource; lists are a ListResponse",
      ],
      "built-in groups": ["deletion of admins and users", "403"],
      cycles: ["a group that would contain itself", "400 invalidValue (legacy: INVALID_PARAMETER_VALUE)"],
      duplicates: [
        "a userName or displayName that exists",
        "409 uniqueness; user names are the same in upper and lower case",
      ],
      precedence: ["precedence of and, or", "and binds tighter; parentheses group"],
      "/Me": ["RFC 7644 has /Me", "served, for everyone: the user who calls"],
    },
  },
);

const LEGACY = section(
  "A4.2",
  "Legacy groups",
  {
    "add-member": {
      "one of user_name and group_name: becomes a member": /a user or a group/,
      "parent_name is required": /parent_name/,
    },
    create: { "answers {group_name}": /answers/, "group_name is required": /required/ },
    "list-members": {
      "members as PrincipalNames": /PrincipalName/,
      "not recursive: child groups are listed, their members are not": /not recursive/,
    },
    list: "group_names of all groups",
    "list-parents": "one of user_name and group_name: group_names, not recursive",
    "remove-member": {
      "one of user_name and group_name: is removed from the members": /removed from the members/,
      "parent_name is required": /parent_name/,
    },
    delete: "group_name: the group no longer exists",
    rules: {
      "a missing user, group or parent gives RESOURCE_DOES_NOT_EXIST": /gives RESOURCE_DOES_NOT_EXIST/,
      "so for list-members and list-parents": /list-members and list-parents/,
      "create of an existing name gives RESOURCE_ALREADY_EXISTS": /RESOURCE_ALREADY_EXISTS/,
    },
  },
  {
    open: {
      answers: ["answers of the write calls", "200 with an empty object; lists that are empty are left out"],
      "group users": ["members of the group users", "everyone, without being listed"],
      repeated: ["adding a member twice, removing who is none", "nothing changes, 200"],
    },
  },
);

const SECRET_CALLS = section(
  "A4.3",
  "Secrets",
  {
    "scopes/create": {
      "scope is required": /scope is required/,
      "initial_manage_principal can only be the group users": /only initial principal/,
      "the scope is there": /the scope is listed/,
    },
    "scopes/delete": {
      "scope is required": /scope is required/,
      "it is deleted with all in it": /is deleted with/,
    },
    "scopes/list": "scopes: list of SecretScope",
    put: {
      "scope and key are required": /required/,
      "exactly one of string_value and bytes_value": /exactly one/,
      "string_value is stored as UTF-8, bytes_value as bytes": /UTF-8/,
    },
    delete: { "scope and key are required": /required/, "the secret is deleted": /the secret is deleted/ },
    list: { "scope is required": /required/, "secrets, metadata only": /metadata only/ },
    "acls/put": { "gives a permission": /gives a user or a group/, "all fields are required": /required/ },
    "acls/delete": { "takes a permission": /is removed/, "all fields are required": /required/ },
    "acls/get": { "principal and permission": /show it/, "all fields are required": /required/ },
    "acls/list": { "list of AclItem": /items/, "scope is required": /required/ },
    "rule 1": {
      "the given initial_manage_principal gets MANAGE": /initial principal users/,
      "without one the caller gets MANAGE": /the caller gets/,
    },
    "rule 2": {
      "put overwrites a secret of the same key": /overwrites/,
      "values are encrypted before they are stored": /encrypted/,
      "put needs WRITE or MANAGE": /secrets\/put needs WRITE/,
    },
    "rule 3": {
      "delete of a secret needs WRITE or MANAGE": /secrets\/delete needs WRITE/,
      "list of secrets needs READ": /secrets\/list needs READ/,
      "ACL put, delete, get and list need MANAGE": /acls\/\w+ needs MANAGE/,
    },
    "rule 4": "secrets of a CLOUD_KEYVAULT scope are not written or deleted by put and delete",
    "rule 5": {
      "acls/put creates or overwrites": /overwrites/,
      "its principal must be an existing user or group": /does not exist/,
    },
  },
  {
    open: {
      "acls key": ["items or acls in the answer of acls/list", "items"],
      answers: ["answers of the write calls", "200 with an empty object; lists that are empty are left out"],
      permissions: [
        "permissions of administrators, and on scopes",
        "administrators may do everything on every scope; anyone may create and list scopes; deleting one needs MANAGE",
      ],
      "vault code": ["code of put and delete on a vault scope", "400 BAD_REQUEST"],
      "principal code": ["code of another initial_manage_principal than users", "400 BAD_REQUEST"],
      "deleted principals": ["ACLs of deleted users and groups", "stay, and can be read and deleted"],
    },
  },
);

export const identity = [CONVENTIONS, USER, GROUP, ...SECRETS, PRINCIPAL, STATES, SCIM, LEGACY, SECRET_CALLS];
