// Four small kinds that show every rule of planning: boxes (immutable fields and service defaults), labels (nested,
// managed if declared), keys (nested, unreadable), tasks (names not unique, refer to boxes).

import { registryOf } from "../../src/resource/kind.ts";
import { providerOf } from "../flat-kind.ts";

const never = (): never => {
  throw new Error("planning calls no verb");
};
const verbs = { list: never, read: never, create: never, update: never, delete: never };

const boxes = providerOf({
  ...verbs,
  kind: "boxes",
  singular: "box",
  description: "A box.",
  nameField: "box_name",
  unique: true,
  ignoreCase: true,
  idAttribute: "box_id",
  creationRecovery: "client-named",
  replaceStrategy: "rename-aside",
  rename: never,
  limit: { max: 40, per: "workspace" },
  builtIn: ["root"],
  fields: {
    box_name: { type: "string", ignoreCase: true },
    material: { type: "string", onChange: "replace" },
    size: { type: "integer", default: 1 },
    timeout: { type: "integer", serverDefault: true },
    note: { type: "string" },
    colors: { type: "array", list: "set", items: { type: "string" } },
    members: { type: "array", list: "set", whenAbsent: "unmanaged", items: { type: "string" } },
    near: { type: "array", list: "set", whenAbsent: "unmanaged", items: { type: "string", names: "boxes" } },
    tags: { type: "object", additionalProperties: { type: "string" } },
    limits: {
      type: "object",
      properties: { low: { type: "integer", default: 0 }, high: { type: "integer" } },
    },
  },
});

const labels = providerOf({
  ...verbs,
  kind: "labels",
  singular: "label",
  description: "A label of a box.",
  nameField: undefined,
  unique: true,
  idAttribute: "label",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",
  nested: { kind: "boxes", under: "labels", shorthand: "text" },
  isImplicit: (live, caller) =>
    live.values.text === "owner" && caller !== undefined && live.name.endsWith(`/${caller}`),
  fields: { text: { type: "string" } },
});

const keys = providerOf({
  ...verbs,
  kind: "keys",
  singular: "key",
  description: "A key of a box, never given back.",
  nameField: undefined,
  unique: true,
  idAttribute: "key",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",
  nested: { kind: "boxes", under: "keys" },
  limit: { max: 3, per: "parent" },
  fields: { value: { type: "string", writeOnly: true, sensitive: true, witness: "written" } },
});

const tasks = providerOf({
  ...verbs,
  kind: "tasks",
  singular: "task",
  description: "A task, in a box or not.",
  nameField: "name",
  unique: false,
  idAttribute: "task_id",
  creationRecovery: "two-phase",
  replaceStrategy: "create-first",
  fields: {
    name: { type: "string" },
    box: { type: "string", refersTo: "boxes" },
    steps: { type: "array", list: "ordered", items: { type: "string" } },
  },
});

export const registry = registryOf([boxes, labels, keys, tasks]);
