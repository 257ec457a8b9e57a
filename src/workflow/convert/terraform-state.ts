// The resources of a Terraform state, from `terraform.tfstate` (version 4) or the JSON of `terraform show -json`, and the reasons for what a conversion omits.
// A mark goes through the conversion in place of each sensitive value and of each string with a copy of one, so no later step can write it.

import type { Address } from "../../core/address.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { JsonTooDeep, parseJson } from "../../core/exact-json.ts";
import {
  collectTexts,
  isObject,
  type Json,
  type JsonObject,
  listIn,
  objectIn,
  ownMember,
} from "../../core/json.ts";
import { type Path, toDottedPath, valueAt, withValueAt } from "../../core/pointer.ts";
import { changedScalars, visitScalars } from "../../core/scalars.ts";
import { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { count, shortened } from "../../core/sentences.ts";
import type { LiveObject } from "../../resource/live.ts";

export interface TerraformInstance {
  /** `module.team["ads"].databricks_cluster.shared[0]`. */
  readonly address: string;
  readonly type: string;
  readonly managed: boolean;
  /** With a mark in place of each value that Terraform marks as sensitive, and of each string with a copy of a sensitive value. */
  readonly values: JsonObject;
  readonly at: Path;
  readonly state?: "tainted" | "deposed" | "without attributes";
}

/** As the state has it. */
interface StoredInstance extends TerraformInstance {
  /** Where Terraform marks the values as sensitive. */
  readonly marked: readonly Path[];
}

export interface TerraformState {
  readonly instances: readonly TerraformInstance[];
  /** Values that no attribute, no content, and no report may contain: those of secrets, of marked attributes, and of sensitive outputs. */
  readonly secrets: SensitiveTexts;
}

export const TERRAFORM_LIMITS = { bytes: 128 << 20, instances: 100_000, modules: 64 } as const;

/** A shorter value is in other attributes by chance. */
const SHORTEST_COPY = 8;

/** Throws Failure with CONVERT_STATE. `name` is the file, or stdin. */
export function terraformState(text: string, name: string): TerraformState {
  const reader = new StateReader(name);
  reader.document(parsed(text, name));
  const secrets = new SensitiveTexts();
  for (const secret of [...textsOfOutputs(reader), ...reader.instances.flatMap(secretsOf)])
    if (secret.length >= SHORTEST_COPY) secrets.add(secret);
  const instances = reader.instances.map(({ marked, values, ...instance }) => ({
    ...instance,
    // The key of `for_each` can be a copy.
    address: secrets.masked(instance.address),
    values: withMarks(values, marked, (text) => secrets.isIn(text)),
  }));
  return { instances, secrets };
}

/** The parser's own message contains a part of the text, which may be a secret, so only the place is kept. */
function parsed(text: string, name: string): Json {
  try {
    return parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (problem) {
    const message = problem instanceof Error ? problem.message : "";
    const why = problem instanceof JsonTooDeep ? message : `line ${lineAt(text, stopIn(text, message))}`;
    throw failureOf("CONVERT_STATE", `${name} is not valid JSON: ${why}`, {
      hint: "pass terraform.tfstate, or the output of `terraform show -json`",
    });
  }
}

const TOKEN =
  /\s*(?:[{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)|$)/y;

/** Returns where the parser stopped. If its message has no position, that is the first text that is not a valid token. */
function stopIn(text: string, message: string): number {
  const place = / at position (\d+)/.exec(message)?.[1];
  if (place !== undefined) return Number(place);
  TOKEN.lastIndex = 0;
  let at = 0;
  while (at < text.length && TOKEN.test(text)) at = TOKEN.lastIndex;
  return at + (/^\s*/.exec(text.slice(at, at + 1000))?.[0].length ?? 0);
}

function lineAt(text: string, position: number): string {
  const before = text.slice(0, position).split("\n");
  return `${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

class StateReader {
  readonly instances: StoredInstance[] = [];
  /** The values of sensitive outputs. */
  readonly outputs: Json[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  document(root: Json): void {
    if (!isObject(root)) this.#fail("the document is not an object", []);
    if (ownMember(root, "encrypted_data") !== undefined)
      this.#fail("the state is encrypted", ["encrypted_data"], "pass the output of `terraform show -json`");
    if (ownMember(root, "format_version") === undefined) this.#stored(root);
    else this.#shown(root);
  }

  #stored(root: JsonObject): void {
    const version = ownMember(root, "version");
    if (typeof version !== "number" || ownMember(root, "terraform_version") === undefined)
      this.#fail("the document is neither a Terraform state nor the output of `terraform show -json`", []);
    if (version !== 4)
      this.#fail(`the version of the state is ${version}, and only 4 is supported`, ["version"]);
    this.#outputs(ownMember(root, "outputs"));
    this.#list(ownMember(root, "resources") ?? [], ["resources"], (jsonObject, at) =>
      this.#resource(jsonObject, at),
    );
  }

  /** A state, or a plan, whose `prior_state` is what exists. */
  #shown(root: JsonObject): void {
    const version = ownMember(root, "format_version");
    if (typeof version !== "string" || !/^[01]\./.test(version))
      this.#fail(`the format version is ${textOr(version)}, and only 0 and 1 are supported`, [
        "format_version",
      ]);
    const prior = ownMember(root, "prior_state");
    const isPlan = prior !== undefined || ownMember(root, "planned_values") !== undefined;
    const at: Path = isPlan ? ["prior_state", "values"] : ["values"];
    const values = isPlan
      ? ownMember(this.#object(prior ?? {}, ["prior_state"]), "values")
      : ownMember(root, "values");
    if (values === undefined || values === null) return;
    this.#outputs(ownMember(this.#object(values, at), "outputs"));
    const top = ownMember(this.#object(values, at), "root_module");
    if (top !== undefined) this.#module(top, [...at, "root_module"], 0);
  }

  #outputs(outputs: Json | undefined): void {
    for (const output of Object.values(objectIn(outputs)))
      if (isObject(output) && ownMember(output, "sensitive") === true)
        this.outputs.push(ownMember(output, "value") ?? null);
  }

  #module(value: Json, at: Path, depth: number): void {
    if (depth > TERRAFORM_LIMITS.modules)
      this.#fail(`modules are nested deeper than ${TERRAFORM_LIMITS.modules} levels`, at);
    const module = this.#object(value, at);
    this.#list(ownMember(module, "resources") ?? [], [...at, "resources"], (jsonObject, place) => {
      const address = this.#text(jsonObject, "address", place);
      const type = this.#text(jsonObject, "type", place);
      const values = this.#object(ownMember(jsonObject, "values") ?? {}, [...place, "values"]);
      const marked = truePaths(ownMember(jsonObject, "sensitive_values") ?? {});
      const managed = ownMember(jsonObject, "mode") === "managed";
      this.#add(
        { address, type, managed, values, marked, at: place },
        ownMember(jsonObject, "deposed_key") !== undefined,
        ownMember(jsonObject, "tainted") === true,
      );
    });
    this.#list(ownMember(module, "child_modules") ?? [], [...at, "child_modules"], (jsonObject, place) =>
      this.#module(jsonObject, place, depth + 1),
    );
  }

  #resource(resource: JsonObject, at: Path): void {
    const type = this.#text(resource, "type", at);
    const name = this.#text(resource, "name", at);
    const module = ownMember(resource, "module");
    const mode = this.#text(resource, "mode", at);
    const head = `${typeof module === "string" ? `${module}.` : ""}${mode === "data" ? "data." : ""}${type}.${name}`;
    this.#list(ownMember(resource, "instances") ?? [], [...at, "instances"], (jsonObject, place) => {
      const index = ownMember(jsonObject, "index_key");
      const attributes = ownMember(jsonObject, "attributes");
      this.#add(
        {
          address: index === undefined || index === null ? head : `${head}[${keyText(index)}]`,
          type,
          managed: mode === "managed",
          values: isObject(attributes) ? attributes : {},
          marked: attributePaths(ownMember(jsonObject, "sensitive_attributes")),
          at: place,
        },
        ownMember(jsonObject, "deposed") !== undefined,
        ownMember(jsonObject, "status") === "tainted",
      );
    });
  }

  #add(terraformInstance: Omit<StoredInstance, "state">, deposed: boolean, tainted: boolean): void {
    if (this.instances.length >= TERRAFORM_LIMITS.instances)
      this.#fail(`it has more than ${count(TERRAFORM_LIMITS.instances, "resource")}`, terraformInstance.at);
    const bare = terraformInstance.managed && Object.keys(terraformInstance.values).length === 0;
    const state = deposed ? "deposed" : tainted ? "tainted" : bare ? "without attributes" : undefined;
    this.instances.push(state === undefined ? terraformInstance : { ...terraformInstance, state });
  }

  #list(value: Json, at: Path, each: (member: JsonObject, at: Path) => void): void {
    if (!Array.isArray(value)) this.#fail("a list is expected", at);
    for (const [index, item] of value.entries()) each(this.#object(item, [...at, index]), [...at, index]);
  }

  #object(value: Json, at: Path): JsonObject {
    return isObject(value) ? value : this.#fail("an object is expected", at);
  }

  #text(object: JsonObject, key: string, at: Path): string {
    const value = ownMember(object, key);
    return typeof value === "string" && value !== ""
      ? value
      : this.#fail("a string is expected", [...at, key]);
  }

  #fail(message: string, at: Path, hint?: string): never {
    const where = at.length === 0 ? this.#name : `${this.#name}, ${toDottedPath(at)}`;
    throw failureOf("CONVERT_STATE", `${where}: ${message}`, { hint });
  }
}

/** The strings in sensitive outputs, except attributes of resources there: these have marks, and hiding all of them would leave nothing. */
function textsOfOutputs({ outputs, instances }: StateReader): readonly string[] {
  const attributesById = Map.groupBy(
    instances.map(({ values }) => values),
    ({ id }) => id,
  );
  const textsIn = (value: Json, attributes: readonly Json[]): readonly string[] => {
    if (typeof value === "string") return attributes.includes(value) ? [] : [value];
    if (Array.isArray(value))
      return value.flatMap((item: Json, at) =>
        textsIn(
          item,
          attributes.flatMap((list) => listIn(list)[at] ?? []),
        ),
      );
    if (!isObject(value)) return [];
    const same = [
      ...attributes,
      ...(typeof value.id === "string" ? (attributesById.get(value.id) ?? []) : []),
    ];
    return Object.entries(value).flatMap(([name, member]) =>
      textsIn(
        member,
        same.flatMap((object) => {
          const attribute = ownMember(objectIn(object), name);
          return attribute === undefined ? [] : [attribute];
        }),
      ),
    );
  };
  return outputs.flatMap((value) => textsIn(value, []));
}

const textOr = (value: Json | undefined): string =>
  typeof value === "string" ? JSON.stringify(shortened(value, 20)) : "not a string";

const keyText = (index: Json): string =>
  typeof index === "string" ? JSON.stringify(index) : typeof index === "number" ? String(index) : "?";

/** Attributes that are credentials, also in a state of a provider that does not mark them. */
const CREDENTIALS = ["string_value", "token_value", "personal_access_token", "client_secret"];

/** Where attributes of one type are credentials: at members with these names, however deep. */
const CREDENTIALS_OF: Readonly<Record<string, readonly string[]>> = {
  databricks_service_principal_secret: ["secret"],
  databricks_notification_destination: ["url", "password", "integration_key", "oauth_token", "auth_secret"],
};

/** The strings that are marked, and values of secrets: other attributes may have copies of them, which Terraform does not mark. */
function secretsOf({ type, values, marked }: StoredInstance): readonly string[] {
  const credentials = CREDENTIALS.map((name) => [name]);
  const secrets = [...marked, ...credentials].flatMap((path) => [...collectTexts(valueAt(values, path))]);
  const names = CREDENTIALS_OF[type] ?? [];
  if (names.length > 0)
    visitScalars(values, [], (value, path) => {
      if (typeof value === "string" && names.includes(String(path.at(-1)))) secrets.push(value);
    });
  return secrets;
}

function truePaths(value: Json): readonly Path[] {
  const paths: Path[] = [];
  visitScalars(value, [], (scalar, path) => {
    if (scalar === true) paths.push(path);
  });
  return paths;
}

/** `sensitive_attributes`: lists of steps, each an attribute or an index. A step of another form ends the path early. */
function attributePaths(value: Json | undefined): readonly Path[] {
  if (!Array.isArray(value)) return [];
  return value.filter(Array.isArray).map((steps: readonly Json[]) => {
    const path: (string | number)[] = [];
    for (const step of steps) {
      const stepValue = isObject(step) ? ownMember(step, "value") : undefined;
      const key = isObject(stepValue) ? ownMember(stepValue, "value") : stepValue;
      if (typeof key !== "string" && typeof key !== "number") break;
      path.push(key);
    }
    return path;
  });
}

export interface ConvertedObject {
  readonly kind: string;
  readonly live: LiveObject;
  readonly instance: TerraformInstance;
}

export type ConvertedObjects = ReadonlyMap<string, ConvertedObject>;

export const convertedKey = (kind: string, id: string): string => `${kind}\n${id}`;

interface OmittedResource {
  readonly terraform: string;
  readonly at: Path;
  readonly reason: string;
}

interface OmittedResourceAttribute extends OmittedResource {
  readonly attribute: Path;
}

/** A resource in both; memberships and entitlements become part of another one. */
export interface ConvertedResource {
  readonly terraform: string;
  readonly address: Address;
  readonly id: string;
}

interface ConversionNote {
  readonly terraform: string;
  readonly text: string;
}

export class ConversionLog {
  readonly #resources: OmittedResource[] = [];
  readonly #order: ReadonlyMap<Path, number>;
  readonly attributes: OmittedResourceAttribute[] = [];
  readonly notes: ConversionNote[] = [];
  /** The sensitive variables of the spec, with the attribute of each. */
  readonly variables = new Map<string, string>();

  /** Values that no attribute and no content may contain. */
  readonly secrets: SensitiveTexts;

  /** The instances in the order of the state. */
  constructor({ instances, secrets }: TerraformState) {
    this.#order = new Map(instances.map(({ at }, index) => [at, index]));
    this.secrets = secrets;
  }

  /** In the order of the state. */
  get resources(): readonly OmittedResource[] {
    const rank = ({ at }: OmittedResource): number => this.#order.get(at) ?? 0;
    return this.#resources.toSorted((a, b) => rank(a) - rank(b));
  }

  leave(instance: { readonly address: string; readonly at: Path }, reason: string): void {
    this.#resources.push({ terraform: instance.address, at: instance.at, reason });
  }

  leaveAttribute(
    instance: { readonly address: string; readonly at: Path },
    attribute: Path,
    reason: string,
  ): void {
    this.attributes.push({
      ...{ terraform: instance.address, at: instance.at, reason },
      attribute: this.secrets.maskedDeep(attribute),
    });
  }

  /** The name of a new sensitive variable for an attribute. */
  variable(instance: { readonly address: string }, attribute: Path): string {
    const steps = attribute.filter((step) => typeof step === "string");
    const word = [instance.address.replace(/\b(module\.|data\.|databricks_)/g, ""), ...steps]
      .join("_")
      .replace(/[^A-Za-z0-9]+/g, "_")
      .replace(/^_|_$/g, "");
    let name = word;
    for (let number = 2; this.variables.has(name); number++) name = `${word}_${number}`;
    this.variables.set(name, `${instance.address}: ${toDottedPath(attribute)}`);
    return name;
  }

  note(instance: { readonly address: string }, text: string): void {
    this.notes.push({ terraform: instance.address, text });
  }
}

/** A character for private use, which no name of a provider has. */
const EDGE = "\u{F0000}";

/** A mark in place of a value of a map that is marked as a whole. */
const ENTRY = `${EDGE}entry `;

/** A mark in place of a number that a provider writes for what is not set. */
const ZERO = `${EDGE}zero `;

/** A mark in place of a string that Terraform does not mark, but that has a copy of a sensitive value. */
const COPY = `${EDGE}copy `;

/** Attributes with JSON as text, of which the parts with copies are left out. */
export const JSON_ATTRIBUTES: ReadonlySet<string> = new Set([
  "definition",
  "policy_family_definition_overrides",
]);

/** The values with a mark in place of each that a path leads to, and of each string with a copy. */
function withMarks(
  values: JsonObject,
  paths: readonly Path[],
  hasCopy: (text: string) => boolean,
): JsonObject {
  let count = 0;
  const mark = (value: Json, isBlock = false, isEntry = false): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => mark(item, true));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, mark(member, false, !isBlock)]),
      );
    if (value === null || value === "" || hasMark(value)) return value;
    return `${isEntry ? ENTRY : value === 0 ? ZERO : EDGE}${count++}${EDGE}`;
  };
  const marked = paths.reduce<Json>((marked, path) => {
    const value = valueAt(marked, path);
    return value === undefined ? marked : (withValueAt(marked, path, mark(value, path.length === 0)) ?? null);
  }, values);
  return changedScalars(marked, [], (value, [name]) =>
    typeof value === "string" && !hasMark(value) && !JSON_ATTRIBUTES.has(String(name)) && hasCopy(value)
      ? `${COPY}${count++}${EDGE}`
      : value,
  ) as JsonObject;
}

/** Whether a value is or contains a mark. */
export const hasMark = (value: Json | undefined): boolean =>
  typeof value === "string" && value.includes(EDGE);

/** Why the spec cannot have a string with a mark, or with a copy. */
export const whySensitive = (text: Json | undefined, what: string): string =>
  hasMark(text) && !String(text).includes(COPY)
    ? `Terraform marks ${what} as sensitive`
    : `${what} contains a value that Terraform marks as sensitive, or that of a secret`;

export const isMarkOfEntry = (value: Json): boolean => typeof value === "string" && value.startsWith(ENTRY);

export const isMarkOfZero = (value: Json): boolean => typeof value === "string" && value.startsWith(ZERO);

interface Mark {
  readonly path: Path;
  readonly text: string;
}

export function sensitiveMarks(value: Json): readonly Mark[] {
  const marks: Mark[] = [];
  visitScalars(value, [], (scalar, path) => {
    if (typeof scalar === "string" && hasMark(scalar)) marks.push({ path, text: scalar });
  });
  return marks;
}

/** The value of a field of this type that is an expression with a variable. */
export function markOfExpression(variable: string, type: unknown): string {
  const convert = typeof type === "string" ? CONVERSIONS[type] : undefined;
  const value = `var.${variable}`;
  return `${EDGE}\${${convert === undefined ? value : `${convert}(${value})`}}${EDGE}`;
}

/** Sensitive variables are strings. */
const CONVERSIONS: Readonly<Record<string, string>> = { integer: "int", number: "double", boolean: "bool" };

/** The expression that a mark stands for. */
export function expressionOf(text: string): string | undefined {
  return text.startsWith(`${EDGE}\${`) ? text.slice(EDGE.length, -EDGE.length) : undefined;
}

export const variableIn = (expression: string): string => /var\.(\w+)/.exec(expression)?.[1] ?? "";
