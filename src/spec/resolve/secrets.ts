// Reads secrets from environment variables and files into payloads that cannot be printed, and finds the values of a resource that come from sensitive ones.

import type { KeyedDigest } from "../../core/digest.ts";
import { type Path, toDottedPath } from "../../core/pointer.ts";
import { Sensitive } from "../../core/sensitive/texts.ts";
import { utf8Text } from "../../core/utf8.ts";
import { isEvaluated, isTemplate, templateParts } from "../../expressions/template.ts";
import type { FieldSchema, Values } from "../../resource/field-schema.ts";
import { SECRET_BYTES } from "../../resource/kind.ts";
import type { Payload } from "../../resource/operations.ts";
import { tableSchema, visitValue } from "../../resource/walk.ts";
import { namedPath, openSourceFile } from "../files/contents.ts";
import type { SpecFolder } from "../files/spec-folder.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import type { WrittenResource } from "../model/spec.ts";
import {
  hasSensitive,
  type MapNode,
  member,
  SHOWN_EVERYWHERE,
  type SpecNode,
  scalarText,
} from "../model/tree.ts";
import { nodesIn } from "./field-walk.ts";

/** The sources of secrets, and the function that digests a value. Without `keyed`, a value is only hidden, and may be missing. */
export interface SecretSources {
  readonly tree: SpecFolder;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly keyed: KeyedDigest | undefined;
  /** Files are not accessed. */
  readonly unseen?: boolean;
  /**
   * A variable without a value leaves the secret as if it was not read, with a warning: an apply decides whether it is written. Without
   * `keyed`, a file need not exist.
   */
  readonly mayLack?: boolean;
  /** Values of variables that were read, by name: many secrets may share one. */
  readonly read: Map<string, SecretBytes>;
}

/** A value, and its keyed digest, which leaves the run only with a salt. */
interface SecretBytes {
  readonly secret: Sensitive;
  readonly code: string;
}

/** The value of a secret as the spec form has it: a keyed digest. If it was not read, `unread` is its source in place of `payload`. */
interface ReadSecret {
  readonly values: Values;
  readonly payload?: Payload;
  readonly unread?: string;
}

/** Field names that users commonly choose for a literal secret. */
const LITERALS = ["value", "string_value", "bytes_value"];

const SOURCES: ReadonlySet<string> = new Set(["env", "file"]);

const HINT = "remove it, change the secret, and set its source: { env: NAME } or { file: path }";

/** True if the spec contains the value; it is reported, and no frame shows it. A misspelled field can contain it, too. */
export function holdsLiteral(written: WrittenResource, findings: Findings): boolean {
  let hasLiteral = false;
  for (const [name, { value }] of written.fields.members)
    if (value.kind !== "scalar" || !SOURCES.has(name)) value.source.mask(value);
  for (const name of LITERALS) {
    const node = member(written.fields, name);
    if (node === undefined) continue;
    hasLiteral = true;
    const { address } = written;
    const message = `the spec contains the secret value of ${address}`;
    findings.error("SPEC_SECRET_LITERAL", message, node, { address, hint: HINT });
  }
  return hasLiteral;
}

/** Reports each credential of a kind that does not come from a sensitive variable. `sensitive`: the paths of values that do. */
export function reportLiterals(
  { address, provider, fields: written }: WrittenResource,
  fields: MapNode,
  sensitive: readonly Path[],
  findings: Findings,
): void {
  const covered = new Set(sensitive.map(([name]) => name));
  for (const [name, field] of Object.entries(provider.fields)) {
    const node = field.secret === true && !covered.has(name) ? member(fields, name) : undefined;
    if (node === undefined || lacksValue(member(written, name))) continue;
    node.source.mask(node);
    const message = `the spec contains the secret value of ${name} of ${address}`;
    const hint = `remove it, change the secret, and set ${name} to a sensitive variable: "\${var.NAME}"`;
    findings.error("SPEC_SECRET_LITERAL", message, node, { address, hint });
  }
}

/** Whether an expression has no value, which was reported. */
function lacksValue(written: SpecNode | undefined): boolean {
  const parts = templateParts(scalarText(written) ?? "") ?? [];
  return parts.some(isEvaluated);
}

/** Undefined after reporting a problem. */
export function secretOf(
  written: WrittenResource,
  field: string,
  sources: SecretSources,
  findings: Findings,
): ReadSecret | undefined {
  const { address } = written;
  const env = member(written.fields, "env");
  const file = member(written.fields, "file");
  const asked = { written, field, sources, findings };
  const hint = "write { env: NAME } or { file: path }";
  if (env === undefined) {
    if (file !== undefined) return fromFile({ ...asked, node: file });
    findings.error("SPEC_MISSING_FIELD", `${address} has no source`, written.at, { address, hint });
    return undefined;
  }
  if (file === undefined) return fromVariable({ ...asked, node: env });
  findings.error("SPEC_COMBINATION", `${address} has two sources`, file, { address, hint });
  return undefined;
}

/** A secret, and the node of its source, which is a string because it passed its schema. */
interface Asked {
  readonly written: WrittenResource;
  readonly field: string;
  readonly node: SpecNode;
  readonly sources: SecretSources;
  readonly findings: Findings;
}

function fromVariable(asked: Asked): ReadSecret | undefined {
  const { written, field, node, sources, findings } = asked;
  const { address } = written;
  const name = String(scalarText(node));
  const encoding = member(written.fields, "encoding");
  const misplaced = `${address}: encoding can be used only with file, not with env`;
  if (encoding !== undefined) findings.error("SPEC_COMBINATION", misplaced, encoding, { address });
  if (CREDENTIALS.has(name)) {
    const message = `${address} would publish a credential of this run: ${name}`;
    const hint =
      "who can read the secret can then act as this run; use another variable and another credential";
    findings.warning("SPEC_SECRET_CREDENTIAL", message, node, { address, hint });
  }
  const earlier = sources.read.get(name);
  if (earlier !== undefined && sources.keyed !== undefined) return readSecret(asked, sources.keyed, earlier);
  if (isTemplate(name)) {
    const message = `${address}: the name of an environment variable cannot contain a reference`;
    findings.error("SPEC_REFERENCE", message, node, { address });
    return undefined;
  }
  const value = Object.hasOwn(sources.env, name) ? sources.env[name] : undefined;
  const bytes = utf8.encode(value ?? "");
  // The workspace can contain the value elsewhere, such as in a notebook.
  findings.sensitive.addBytes(bytes);
  if (sources.keyed === undefined) return notRead(field, `env ${name}`);
  const what = `the environment variable ${name}`;
  const empty = value === undefined ? "is not set" : "is empty";
  // CI services set the variable of an unavailable secret to an empty string.
  if (sources.mayLack === true && bytes.length === 0) {
    const message = `the value of ${address} is unknown: ${what} ${empty}`;
    const hint = `set ${name} where apply runs; apply writes the secret if it differs`;
    findings.warning("SPEC_SECRET_UNSET", message, node, { address, hint });
    return notRead(field, `env ${name}`);
  }
  const valid = validBytes(asked, sources.keyed, bytes, { what, empty, hint: SET });
  if (valid === undefined) return undefined;
  sources.read.set(name, valid);
  return readSecret(asked, sources.keyed, valid);
}

/** Variables that runs sign in with, or open their state with. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  "WORKSPACE_TOKEN",
  "WORKSPACE_CLIENT_SECRET",
  "WORKSPACE_STATE",
  "WORKSPACE_STATE_KEY",
  "WORKSPACE_STATE_KEY_OLD",
  "WORKSPACE_WEBHOOK_SECRET",
  "DATABRICKS_TOKEN",
  "DATABRICKS_PASSWORD",
  "DATABRICKS_CLIENT_SECRET",
  "DATABRICKS_OIDC_TOKEN",
  "ARM_CLIENT_SECRET",
  "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
  "GOOGLE_CREDENTIALS",
  "PGPASSWORD",
]);

const notRead = (field: string, source: string): ReadSecret => ({ values: { [field]: "" }, unread: source });

function fromFile(asked: Asked): ReadSecret | undefined {
  const { written, field, node, sources, findings } = asked;
  const path = namedPath(written, node, findings);
  if (path === undefined) return undefined;
  if (sources.unseen === true) return notRead(field, `file ${path}`);
  const content = sources.tree.read(path, LIMITS.secretFileBytes);
  if (content.ok) findings.sensitive.addBytes(withoutLastLineBreak(content.value));
  if (sources.keyed === undefined) {
    if (sources.mayLack !== true) openSourceFile(written, path, node, sources.tree.size(path), findings);
    return notRead(field, `file ${path}`);
  }
  const bytes = openSourceFile(written, path, node, content, findings);
  if (bytes === undefined) return undefined;
  const source = { what: path, empty: "is empty", hint: FILL };
  const isBinary = scalarText(member(written.fields, "encoding")) === "bytes";
  if (!isBinary && utf8Text(bytes) === undefined) {
    findings.error("SPEC_SECRET_SOURCE", `${written.address}: ${path} is not UTF-8 text`, node, {
      address: written.address,
      hint: "to use the file as bytes, set encoding: bytes",
    });
    return undefined;
  }
  const valid = validBytes(asked, sources.keyed, isBinary ? bytes : withoutLastLineBreak(bytes), source);
  return valid && readSecret(asked, sources.keyed, valid);
}

/** A source, and what to say and do where it has no value. */
interface Source {
  readonly what: string;
  readonly empty: string;
  readonly hint: string;
}

const SET = "set it where apply runs; validate, plan, and drift work without it";
const FILL =
  "write the value to the file before plan and apply; validate and drift do not need secret values";

type Keyed = NonNullable<SecretSources["keyed"]>;

/** The value, if it is not empty and the service takes it (contract A 8). */
function validBytes(
  { written, node, findings }: Asked,
  keyed: Keyed,
  bytes: Uint8Array,
  { what, empty, hint }: Source,
): SecretBytes | undefined {
  const { address } = written;
  if (bytes.length === 0) {
    findings.error("SPEC_SECRET_SOURCE", `${address}: ${what} ${empty}`, node, { address, hint });
    return undefined;
  }
  if (bytes.length > SECRET_BYTES) {
    const size = `${address}: ${what} contains ${bytes.length} bytes; the limit for a secret is ${SECRET_BYTES}`;
    findings.error("SPEC_LIMIT", size, node, { address, hint: "split it into several secrets" });
    return undefined;
  }
  return { secret: new Sensitive(bytes), code: keyed(bytes) };
}

/** Salted with the address: secrets with equal values have different digests, so guesses of one cannot be tested with another. */
function readSecret(
  { written: { address }, field }: Asked,
  keyed: Keyed,
  { secret, code }: SecretBytes,
): ReadSecret {
  const digest = keyed(`secret\n${address}\n${code}`);
  const payload = { digest, bytes: () => new Uint8Array(), secret };
  return { values: { [field]: digest }, payload };
}

const utf8 = new TextEncoder();

/** Editors end a file with a line break that does not belong to the password. */
function withoutLastLineBreak(bytes: Uint8Array): Uint8Array {
  const length = bytes.length;
  if (bytes[length - 1] !== 10) return bytes;
  return bytes.subarray(0, bytes[length - 2] === 13 ? length - 2 : length - 1);
}

/** The paths of the sensitive values, without those of lists and maps around them. */
export function sensitivePaths(
  written: WrittenResource,
  fields: MapNode,
  findings: Findings,
): readonly Path[] {
  const { address, provider, lifecycle } = written;
  const paths: Path[] = [];
  const refuse = (at: Span, subject: string): void =>
    findings.error("SPEC_SENSITIVE", `${address}: ${subject} a sensitive value`, at, {
      address,
      hint: SHOWN_EVERYWHERE,
    });
  const visit = (schema: FieldSchema, node: SpecNode, path: Path): boolean => {
    if (!hasSensitive(node)) return false;
    const isName = path.length === 1 && path[0] === provider.nameField;
    const decides = isName ? "a name" : roleOfSensitive(schema);
    if (decides !== undefined) {
      refuse(node, `${toDottedPath(path)} is ${decides} and cannot be`);
      return false;
    }
    if (node.kind === "scalar") paths.push(path);
    if (node.kind === "map" && node.sensitive === true)
      refuse(node, `keys of ${toDottedPath(path)} cannot come from`);
    return true;
  };
  visitValue(tableSchema(provider.fields), fields, visit, nodesIn);
  if (lifecycle !== undefined && hasSensitive(lifecycle)) refuse(lifecycle, "lifecycle cannot contain");
  return paths;
}

/** What else the value of a field decides, if anything: such a value cannot be sensitive. */
export function roleOfSensitive(schema: FieldSchema): string | undefined {
  const { source, names, identifies, isKey, refersTo, mentions, fileUri } = schema;
  if (identifies === true) return "a name";
  if (isKey === true) return "a key";
  if (source === true) return "the source of a value";
  if (names !== undefined) return "the name of another object";
  if (refersTo !== undefined) return "a reference";
  if (mentions !== undefined) return "the name or path of another object";
  return fileUri === true ? "a path" : undefined;
}

/** Sections other than resources that decide names and addresses. */
const SECTIONS = ["policy", "moved", "removed", "import"] as const;

export function refuseSensitiveSections(root: MapNode, findings: Findings): void {
  for (const section of SECTIONS) {
    const node = member(root, section);
    if (node !== undefined && hasSensitive(node))
      findings.error("SPEC_SENSITIVE", `${section} cannot contain a sensitive value`, node, {
        hint: SHOWN_EVERYWHERE,
      });
  }
}
