// What pools and clusters share: node types and runtime versions, as their lists answer them, and tags (contract B 2.1, contract B 2.4, contract B 4.3, contract B 9; grammar: facts 4.7).

import type { JsonObject } from "../../core/json.ts";
import { invalidValue } from "../world/errors.ts";
import { TAGS } from "../world/limits.ts";

interface NodeType {
  readonly id: string;
  readonly memory_mb: number;
  readonly num_cores: number;
  readonly category: string;
  readonly num_gpus: number;
  readonly local_disk: boolean;
  /** Remote disks that can be attached to one instance. */
  readonly max_disks: number;
  readonly deprecated: boolean;
}

const GENERAL = "General Purpose";
const MEMORY = "Memory Optimized";
const COMPUTE = "Compute Optimized";
const STORAGE = "Storage Optimized";
const GPU = "GPU Accelerated";

type NodeTypeRow = readonly [
  id: string,
  memory_mb: number,
  num_cores: number,
  category: string,
  max_disks: number,
  unusual?: Partial<NodeType>,
];

const NODE_TYPE_ROWS: readonly NodeTypeRow[] = [
  ["Standard_DS3_v2", 14_336, 4, GENERAL, 16],
  ["Standard_DS4_v2", 28_672, 8, GENERAL, 32],
  ["Standard_DS5_v2", 57_344, 16, GENERAL, 64],
  ["Standard_D3_v2", 14_336, 4, GENERAL, 16],
  ["Standard_D8s_v3", 32_768, 8, GENERAL, 16],
  ["Standard_D16s_v3", 65_536, 16, GENERAL, 32],
  ["Standard_DS12_v2", 28_672, 4, MEMORY, 16],
  ["Standard_DS13_v2", 57_344, 8, MEMORY, 32],
  ["Standard_DS14_v2", 114_688, 16, MEMORY, 64],
  ["Standard_E8s_v3", 65_536, 8, MEMORY, 16],
  ["Standard_E16s_v3", 131_072, 16, MEMORY, 32],
  ["Standard_F4s", 8_192, 4, COMPUTE, 16],
  ["Standard_F8s", 16_384, 8, COMPUTE, 32],
  ["Standard_F16s", 32_768, 16, COMPUTE, 64],
  ["Standard_L4s", 32_768, 4, STORAGE, 16],
  ["Standard_L8s_v2", 65_536, 8, STORAGE, 16],
  ["Standard_D4s_v4", 16_384, 4, GENERAL, 8, { local_disk: false }],
  ["Standard_E4s_v4", 32_768, 4, MEMORY, 8, { local_disk: false }],
  ["Standard_NC6s_v3", 114_688, 6, GPU, 12, { num_gpus: 1 }],
  ["Standard_NC12s_v3", 229_376, 12, GPU, 24, { num_gpus: 2 }],
  ["Standard_D3", 14_336, 4, GENERAL, 8, { deprecated: true }],
];

const USUAL = { num_gpus: 0, local_disk: true, deprecated: false };

const NODE_TYPES: ReadonlyMap<string, NodeType> = new Map(
  NODE_TYPE_ROWS.map(([id, memory_mb, num_cores, category, max_disks, unusual]) => [
    id,
    { id, memory_mb, num_cores, category, max_disks, ...USUAL, ...unusual },
  ]),
);

export function nodeType(id: string): NodeType {
  const found = NODE_TYPES.get(id);
  if (found === undefined) throw invalidValue(`Invalid node type ${id}.`);
  return found;
}

const CORE_QUOTA = 350;

/** Whether a node type is deprecated; such types take no custom tags (contract B 2.4). */
export const isLegacy = (id: string): boolean => NODE_TYPES.get(id)?.deprecated === true;

export function listNodeTypes(): JsonObject[] {
  return [...NODE_TYPES.values()].map((entry) => ({
    node_type_id: entry.id,
    memory_mb: entry.memory_mb,
    num_cores: entry.num_cores,
    description: entry.id,
    instance_type_id: entry.id,
    is_deprecated: entry.deprecated,
    category: entry.category,
    num_gpus: entry.num_gpus,
    node_info: { available_core_quota: CORE_QUOTA, total_core_quota: CORE_QUOTA },
  }));
}

type RuntimeRow = readonly [release: string, scala: string, spark: string, flavours: readonly string[]];

const RELEASES: readonly RuntimeRow[] = [
  ["5.5", "2.11", "2.4.3", ["", "-cpu-ml", "-gpu-ml", "-gpu"]],
  ["6.0", "2.11", "2.4.3", ["", "-cpu-ml", "-gpu-ml"]],
  ["6.1", "2.11", "2.4.4", ["", "-cpu-ml", "-gpu-ml"]],
  ["6.2", "2.11", "2.4.4", ["", "-cpu-ml", "-gpu-ml"]],
  ["6.3", "2.11", "2.4.4", ["", "-cpu-ml", "-gpu-ml"]],
  ["6.4", "2.11", "2.4.5", ["", "-cpu-ml", "-gpu-ml", "-hls", "-conda"]],
  ["6.5", "2.11", "2.4.5", ["", "-cpu-ml", "-gpu-ml"]],
  ["6.6", "2.11", "2.4.5", ["", "-cpu-ml", "-gpu-ml"]],
  ["7.0", "2.12", "3.0.0", ["", "-cpu-ml", "-gpu-ml"]],
  ["7.3", "2.12", "3.0.1", ["", "-cpu-ml", "-gpu-ml", "-hls"]],
];

const TITLES: Readonly<Record<string, string>> = {
  cpu: "CPU",
  gpu: "GPU",
  ml: "ML",
  hls: "HLS",
  conda: "Conda",
};

const VERSIONS: ReadonlyMap<string, string> = new Map(
  RELEASES.flatMap(([release, scala, spark, flavours]) =>
    flavours.map((flavour): [string, string] => [
      `${release}.x${flavour}-scala${scala}`,
      `${release}${title(flavour)} (includes Apache Spark ${spark}, Scala ${scala})`,
    ]),
  ),
);

function title(flavour: string): string {
  return flavour
    .split("-")
    .slice(1)
    .map((word) => ` ${TITLES[word] ?? word}`)
    .join("");
}

export function checkRuntime(key: string): void {
  if (!VERSIONS.has(key)) throw invalidValue(`Invalid spark version ${key}.`);
}

export function listRuntimes(): JsonObject[] {
  return [...VERSIONS].map(([key, name]) => ({ key, name }));
}

export type Tags = readonly { readonly key: string; readonly value: string }[];

type TagMap = Readonly<Record<string, string>>;

/** What a request may hold; openapi.yaml has checked the shape. */
export type GivenTags = Tags | TagMap;

const BAD_KEY = /[<>%*&+?\\/]|^(azure|microsoft|windows)/i;

/** The tags as a list. Throws INVALID_PARAMETER_VALUE for too many, for a key twice, and for what a tag cannot be. */
export function readTags(given: GivenTags | undefined, limit: number): Tags | undefined {
  if (given === undefined) return undefined;
  const tags = Array.isArray(given)
    ? given.map(({ key, value }) => ({ key, value }))
    : tagsOf(given as TagMap);
  if (tags.length > limit)
    throw invalidValue(`At most ${limit} custom tags are allowed. Found: ${tags.length}.`);
  for (const { key, value } of tags) checkTag(key, value);
  if (new Set(tags.map(({ key }) => key)).size < tags.length)
    throw invalidValue("custom_tags contains a duplicate key.");
  return tags;
}

export function tagsOf(map: TagMap): Tags {
  return Object.entries(map).map(([key, value]) => ({ key, value }));
}

function checkTag(key: string, value: string): void {
  if (key.length < 1 || key.length > TAGS.key_length || BAD_KEY.test(key))
    throw invalidValue(
      `Invalid tag key "${key.slice(0, 100)}": it needs 1 to ${TAGS.key_length} characters, none of <>%*&+?\\/, and may not begin with azure, microsoft or windows.`,
    );
  if (value.length > TAGS.value_length)
    throw invalidValue(`The value of tag ${key} is longer than ${TAGS.value_length} characters.`);
}
