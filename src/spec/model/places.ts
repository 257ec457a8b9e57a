// Where the values of a resource are written. Their nodes take four times the memory, and nothing else needs them once the spec is read.

import { sharedIfSame } from "../../core/json.ts";
import { type Path, toPointer } from "../../core/pointer.ts";
import type { MapNode, SpecNode, ValueSpan } from "./tree.ts";

export interface ValuePlaces {
  /** Of every value in a resource. */
  readonly pointers: readonly string[];
  /** The place of each. */
  readonly spans: readonly ValueSpan[];
}

/** `before`: those of another resource; most neighbors have the same fields, so they share one list of pointers. */
export function placesOf(fields: MapNode, before: ValuePlaces | undefined): ValuePlaces {
  const pointers: string[] = [];
  const spans: ValueSpan[] = [];
  const visit = (node: SpecNode, pointer: string): void => {
    const { source, start, end, written } = node;
    pointers.push(pointer);
    spans.push(written === undefined ? { source, start, end } : { source, start, end, written });
    visitInside(node, pointer);
  };
  const visitInside = (node: SpecNode, pointer: string): void => {
    if (node.kind === "map")
      for (const [key, { value }] of node.members) visit(value, pointer + toPointer([key]));
    else if (node.kind === "list")
      for (const [at, item] of node.items.entries()) visit(item, `${pointer}/${at}`);
  };
  visitInside(fields, "");
  return { pointers: sharedIfSame(before?.pointers, pointers), spans: [...spans] };
}

/** The place of the value at a path, or of the nearest value around it; undefined if the resource does not have its field. */
export function placeAt({ pointers, spans }: ValuePlaces, path: Path): ValueSpan | undefined {
  for (let length = path.length; length > 0; length--) {
    const at = pointers.indexOf(toPointer(path.slice(0, length)));
    if (at >= 0) return spans[at];
  }
  return undefined;
}
