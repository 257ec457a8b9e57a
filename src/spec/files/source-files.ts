// Locates the source file of a resource: relative to the file that names it, inside the spec's folder.

import type { Findings } from "../model/findings.ts";
import { isTemplate } from "../model/template.ts";
import { type SpecNode, scalarText } from "../model/tree.ts";
import type { WrittenResource } from "../model/written-resource.ts";
import { refusedWords } from "./includes.ts";
import { type OpenedFile, pathBeside } from "./spec-folder.ts";

/** The path in the tree that a node names; undefined after reporting an error. */
export function namedPath(written: WrittenResource, node: SpecNode, findings: Findings): string | undefined {
  const text = scalarText(node);
  const { address } = written;
  if (text === undefined || text === "") return undefined;
  if (isTemplate(text)) {
    findings.error("SPEC_REFERENCE", `${address}: the path of a file cannot contain a reference`, node, {
      address,
    });
    return undefined;
  }
  const path = pathBeside(node.source.path, text);
  if (path !== undefined) return path;
  findings.error("SPEC_OUTSIDE", `${address}: ${JSON.stringify(text)} is outside the spec's folder`, node, {
    address,
    hint: "use a file below the folder of the spec; paths are relative to the file that contains them",
  });
  return undefined;
}

export function openSourceFile<T>(
  written: WrittenResource,
  path: string,
  node: SpecNode,
  result: OpenedFile<T>,
  findings: Findings,
): T | undefined {
  if (result.ok) return result.value;
  const { code, words } = refusedWords(result);
  findings.error(code, `${written.address}: ${path} ${words}`, node, { address: written.address });
  return undefined;
}
