// A file that a resource names as its source: found from the file that names it, inside the spec's folder.

import type { Findings } from "../model/findings.ts";
import { isTemplate } from "../model/template.ts";
import { type Node, textOf } from "../model/tree.ts";
import type { Written } from "../resolve/flatten.ts";
import { refusedWords } from "./includes.ts";
import { besides, type Opened } from "./spec-folder.ts";

/** The path in the tree that a node names, or undefined after reporting why there is none. */
export function namedPath(written: Written, node: Node, findings: Findings): string | undefined {
  const text = textOf(node);
  const { address } = written;
  if (text === undefined || text === "") return undefined;
  if (isTemplate(text)) {
    findings.error("SPEC_REFERENCE", `${address}: the path of a file cannot hold a reference`, node, {
      address,
    });
    return undefined;
  }
  const path = besides(node.source.path, text);
  if (path !== undefined) return path;
  findings.error("SPEC_OUTSIDE", `${address}: ${JSON.stringify(text)} lies outside the spec's folder`, node, {
    address,
    hint: "only files below the folder of the spec are read; write a path relative to the file that names it",
  });
  return undefined;
}

/** What was read, or undefined after reporting why it could not be. */
export function opened<T>(
  written: Written,
  path: string,
  node: Node,
  result: Opened<T>,
  findings: Findings,
): T | undefined {
  if (result.ok) return result.value;
  const { code, words } = refusedWords(result);
  findings.error(code, `${written.address}: ${path} ${words}`, node, { address: written.address });
  return undefined;
}
