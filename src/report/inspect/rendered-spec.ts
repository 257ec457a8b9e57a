// The resolved spec of a target as YAML or JSON, with the origin of each value.

import { type Location, placeText } from "../../core/diagnostic.ts";
import { compareKeys, isObject, type Json, type JsonObject, type YamlMember } from "../../core/json.ts";
import { toPointer } from "../../core/pointer.ts";
import { jsonDocument } from "../text/printable.ts";
import { yamlText } from "../text/yaml.ts";

export interface RenderedOrigin {
  readonly at: Location;
  readonly module?: string;
  readonly usedAt: readonly Location[];
}

export interface RenderedView {
  readonly document: JsonObject;
  readonly origins: ReadonlyMap<string, RenderedOrigin>;
}

/** `origins`: each value has a comment with its place. */
export function renderedYaml(
  { document, origins }: RenderedView,
  head: readonly string[],
  withOrigins: boolean,
): string {
  const sections = Object.entries(document).map(([key, value]) => sectionOf(key, value));
  if (!withOrigins) return yamlText(sections, head);
  return yamlText(sections, head, (path) => {
    const origin = origins.get(toPointer(path));
    return origin === undefined ? "default" : originText(origin);
  });
}

/** Resources of a kind each have a line or more. */
function sectionOf(key: string, value: Json): YamlMember {
  if (!isObject(value)) return { key, value };
  return { key, members: Object.entries(value).map(([name, member]) => ({ key: name, value: member })) };
}

function originText({ at, module, usedAt }: RenderedOrigin): string {
  if (module === undefined) return placeText(at);
  return `${placeText(at)} in ${module}, used at ${usedAt.map(placeText).join(", ")}`;
}

export function renderedJson({ document, origins }: RenderedView): string {
  const places = Object.fromEntries(
    [...origins]
      .toSorted(compareKeys)
      .map(([pointer, { at, module, usedAt }]) => [
        pointer,
        { ...at, ...(module !== undefined && { module, used_at: usedAt }) },
      ]),
  );
  return jsonDocument({ spec: document, origins: places }, 2);
}
