// One difference inside a sentence: the live value and the one that is wanted, short, and masked where nobody may see it.

import { stringifyJson } from "../core/exact-json.ts";
import type { Json } from "../core/json.ts";
import { toText } from "../core/pointer.ts";
import type { FieldTable } from "../resource/fields.ts";
import type { FieldDiff } from "../resource/provider.ts";

const LONGEST = 120;

/** `node_type_id: "Standard_DS3_v2" → "Standard_DS4_v2"`. */
export function movedText(fields: FieldTable, { path, before, after }: FieldDiff): string {
  const isHidden = fields[String(path[0])]?.sensitive === true;
  const text = (value: Json | undefined): string => (isHidden ? "(sensitive)" : valueText(value));
  return `${toText(path)}: ${text(before)} → ${text(after)}`;
}

function valueText(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = stringifyJson(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
