// A small service of objects in parents, and kinds for it: every outcome of a request can be scripted.

import type { WriteOperation } from "../../src/api/contract/operations.ts";
import type { Writer } from "../../src/api/contract/reader.ts";
import { type Address, addressOf, type RemoteId, remoteId } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { Refused, UnknownOutcome } from "../../src/core/request-failure.ts";
import type { DesiredSpec } from "../../src/engine/observe/needed-kinds.ts";
import { type Provider, type Registry, registryOf } from "../../src/resource/kind.ts";
import type { LiveObject } from "../../src/resource/live.ts";
import { type FlatKind, providerOf } from "../flat-kind.ts";

export interface Thing {
  readonly kind: string;
  readonly id: string;
  name: string;
  values: JsonObject;
  token?: string;
}

export type Fate = "refuse" | "lose" | "commit-and-lose";

export class Service implements Writer {
  readonly things = new Map<string, Thing>();
  readonly log: string[] = [];
  /** What happens to the next requests with this text, in order. */
  readonly fates = new Map<string, Fate[]>();
  inFlight = 0;
  most = 0;
  /** Called during a request. */
  during: (text: string) => Promise<void> | void = () => {};
  #last = 0;

  add(kind: string, name: string, values: JsonObject = {}, token?: string): Thing {
    this.#last += 1;
    const thing = {
      kind,
      id: `${kind}-${this.#last}`,
      name,
      values,
      ...(token === undefined ? {} : { token }),
    };
    this.things.set(thing.id, thing);
    return thing;
  }

  async read(_operation: string, input: JsonObject = {}): Promise<JsonObject> {
    const text = `read ${String(input.kind)} ${String(input.id ?? input.parent ?? "")}`.trim();
    await this.#under(text);
    const found = [...this.things.values()].filter(
      (thing) =>
        thing.kind === input.kind &&
        (input.id === undefined || thing.id === input.id) &&
        (input.parent === undefined || thing.name.startsWith(`${String(input.parent)}/`)),
    );
    return { things: found.map((thing) => ({ ...thing })) as Json };
  }

  async write(_operation: WriteOperation, input: JsonObject): Promise<JsonObject> {
    const text = `${String(input.verb)} ${String(input.kind)} ${String(input.name ?? input.id)}`;
    await this.#under(text, () => undefined);
    const fate = this.fates.get(text)?.shift();
    if (fate === "refuse") throw new Refused(400, "NO", error("API_REFUSED", `${text} was refused`));
    if (fate === "lose") throw new UnknownOutcome(error("API_UNKNOWN_OUTCOME", `${text} has no answer`));
    const answer = this.#act(input);
    if (fate === "commit-and-lose")
      throw new UnknownOutcome(error("API_UNKNOWN_OUTCOME", `${text} has no answer`));
    return answer;
  }

  async #under(text: string, after: () => void = () => undefined): Promise<void> {
    this.log.push(text);
    this.inFlight += 1;
    this.most = Math.max(this.most, this.inFlight);
    try {
      await new Promise((resolve) => setImmediate(resolve));
      await this.during(text);
      if (this.fates.get(text)?.[0] === "refuse" && text.startsWith("read")) {
        this.fates.get(text)?.shift();
        throw new Refused(403, "PERMISSION_DENIED", error("API_FORBIDDEN", `${text} is forbidden`));
      }
    } finally {
      this.inFlight -= 1;
      after();
    }
  }

  #act(input: JsonObject): JsonObject {
    const kind = String(input.kind);
    const thing = this.things.get(String(input.id));
    switch (input.verb) {
      case "create": {
        const made = this.add(kind, String(input.name), input.values as JsonObject);
        if (typeof input.token === "string") made.token = input.token;
        return { id: made.id };
      }
      case "update":
        if (thing !== undefined) {
          thing.values = input.values as JsonObject;
          if (input.finish === true) delete thing.token;
        }
        return {};
      case "rename":
        if (thing !== undefined) thing.name = String(input.name);
        return {};
      default:
        this.things.delete(String(input.id));
        return {};
    }
  }
}

const text = { type: "string" } as const;

type Options = Partial<FlatKind>;

/** A kind with a few fields of every type. */
export function kind(name: string, options: Options = {}): Provider {
  const toLive = (item: JsonObject): LiveObject => ({
    id: remoteId(String(item.id)),
    name: String(item.name),
    values: item.values as JsonObject,
    facts: typeof item.token === "string" ? { token: item.token } : {},
  });
  const tokened = options.creationRecovery === "tagged" || options.creationRecovery === "two-phase";
  return providerOf({
    kind: name,
    singular: name.replace(/s$/, ""),
    description: name,
    fields: {
      size: { type: "integer" },
      color: { ...text, serverDefault: true },
      owner: { ...text, names: "people", whenAbsent: "unmanaged" },
      ref: text,
    },
    nameField: undefined,
    unique: !tokened,
    idAttribute: "id",
    creationRecovery: "client-named",
    replaceStrategy: "create-first",
    list: async (api, scope) => {
      const input: JsonObject =
        scope.parents[0] === undefined ? { kind: name } : { kind: name, parent: scope.parents[0] };
      return ((await api.read("fs/list", input)).things as JsonObject[]).map(toLive);
    },
    read: async (api, id) => {
      const [item] = (await api.read("fs/list", { kind: name, id })).things as JsonObject[];
      return item === undefined ? undefined : toLive(item);
    },
    create: async (api, task) => {
      const token: JsonObject = tokened ? { token: task.token } : {};
      const answer = await api.write("fs/create", {
        verb: "create",
        kind: name,
        name: task.name,
        values: task.values,
        ...token,
      });
      const id = remoteId(String(answer.id));
      if (options.creationRecovery === "two-phase") {
        await api.created(id);
        await api.write("fs/create", { verb: "update", kind: name, id, values: task.values, finish: true });
      }
      return id;
    },
    update: async (api, task) => {
      await api.write("fs/create", {
        verb: "update",
        kind: name,
        id: task.id,
        values: task.values,
        finish: true,
      });
    },
    delete: async (api, task) => {
      await api.write("fs/delete", { verb: "delete", kind: name, id: task.id });
    },
    rename: async (api, task) => {
      await api.write("fs/move", { verb: "rename", kind: name, id: task.id, name: task.name });
    },
    ...options,
  });
}

export const toys: Registry = registryOf([
  kind("people"),
  kind("things"),
  kind("boxes", { replaceStrategy: "rename-aside" }),
  kind("rooms", { replaceStrategy: "delete-first" }),
  kind("items", { nested: { kind: "rooms", under: "items" }, creationRecovery: "repeatable" }),
  kind("tagged", { creationRecovery: "tagged" }),
  kind("phased", { creationRecovery: "two-phase" }),
]);

export function emptySpec(): DesiredSpec {
  return {
    files: [],
    resources: new Map(),
    policy: {
      on_immutable_change: "replace",
      on_immutable_change_by_kind: {},
      max_deletes: { share: 1 },
      authoritative: [],
      duplicate_names: "error",
    },
  };
}

export interface Wanted {
  readonly values?: JsonObject;
  readonly dependsOn?: readonly string[];
  readonly refersTo?: string;
}

/** A spec with these resources; `refersTo` puts the id of another one into the field `ref`. */
export function specOf(wanted: Readonly<Record<string, Wanted>>): DesiredSpec {
  const at = { file: "spec", line: 1, column: 1 };
  const resources = new Map<
    Address,
    DesiredSpec["resources"] extends ReadonlyMap<Address, infer R> ? R : never
  >();
  for (const [text, { values = {}, dependsOn = [], refersTo }] of Object.entries(wanted)) {
    const dot = text.indexOf(".");
    const address = addressOf(text.slice(0, dot), text.slice(dot + 1));
    const reference =
      refersTo === undefined
        ? []
        : [{ path: ["ref"], parts: [{ address: refersTo as Address, attribute: "id" }] }];
    resources.set(address, {
      address,
      kind: text.slice(0, dot),
      key: text.slice(dot + 1),
      name: text.slice(dot + 1),
      values: refersTo === undefined ? values : { ...values, ref: `\${${refersTo}.id}` },
      references: reference,
      dependsOn: [...dependsOn, ...(refersTo === undefined ? [] : [refersTo])] as Address[],
      owns: [],
      lifecycle: { prevent_destroy: false, ignore_changes: [] },
      at,
      locate: () => at,
    });
  }
  return { ...emptySpec(), resources };
}

export const id = (text: string): RemoteId => remoteId(text);
