// Which values of a resource come from sensitive ones. Reports those that would decide a name, a path, or a reference.

import { type Path, toDottedPath } from "../../core/pointer.ts";
import type { FieldSchema } from "../../resource/field-schema.ts";
import { tableSchema, visitValue } from "../../resource/walk.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { WrittenResource } from "../model/spec.ts";
import { hasSensitive, type MapNode, member, SHOWN_EVERYWHERE, type SpecNode } from "../model/tree.ts";
import { nodesIn } from "./field-walk.ts";

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
  return mentions !== undefined || fileUri === true ? "a path" : undefined;
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
