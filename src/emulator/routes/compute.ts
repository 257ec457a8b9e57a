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

/** Families of node types of the clouds today: cores, and megabytes a core. Remote disks only, unless the family has local ones. */
type Family = readonly [
  name: (cores: number) => string,
  category: string,
  cores: readonly number[],
  mbPerCore: number,
  unusual?: Partial<NodeType>,
];

const GB = 1024;
const REMOTE = { local_disk: false };

const FAMILIES: Readonly<Record<"azure" | "aws" | "gcp", readonly Family[]>> = {
  azure: [
    [(n) => `Standard_D${n}s_v3`, GENERAL, [4, 8, 16, 32], 4 * GB],
    [(n) => `Standard_D${n}ds_v5`, GENERAL, [4, 8, 16, 32, 64], 4 * GB],
    [(n) => `Standard_D${n}ads_v5`, GENERAL, [4, 8, 16, 32], 4 * GB],
    [(n) => `Standard_E${n}ds_v5`, MEMORY, [4, 8, 16, 32, 64], 8 * GB],
    [(n) => `Standard_L${n}s_v3`, STORAGE, [8, 16, 32], 8 * GB],
    [(n) => `Standard_NC${n}as_T4_v3`, GPU, [4, 8, 16], 7 * GB, { num_gpus: 1 }],
  ],
  aws: [
    [(n) => `i3.${sizeOf(n)}`, STORAGE, [4, 8, 16, 32], 7808],
    [(n) => `m5d.${sizeOf(n)}`, GENERAL, [2, 4, 8, 16, 32], 4 * GB],
    [(n) => `m5.${sizeOf(n)}`, GENERAL, [2, 4, 8, 16], 4 * GB, REMOTE],
    [(n) => `r5d.${sizeOf(n)}`, MEMORY, [2, 4, 8, 16, 32], 8 * GB],
    [(n) => `c5d.${sizeOf(n)}`, COMPUTE, [4, 8, 16], 2 * GB],
    [(n) => `g5.${sizeOf(n)}`, GPU, [4, 8, 16], 4 * GB, { num_gpus: 1 }],
  ],
  gcp: [
    [(n) => `n1-standard-${n}`, GENERAL, [4, 8, 16, 32], 3840],
    [(n) => `n2-standard-${n}`, GENERAL, [4, 8, 16, 32], 4 * GB],
    [(n) => `n2-highmem-${n}`, MEMORY, [4, 8, 16, 32], 8 * GB],
    [(n) => `c2-standard-${n}`, COMPUTE, [4, 8, 16], 4 * GB, REMOTE],
  ],
};

/** Two cores are `large`, four are `xlarge`, and eight are `2xlarge`. */
function sizeOf(cores: number): string {
  if (cores === 2) return "large";
  return cores === 4 ? "xlarge" : `${cores / 4}xlarge`;
}

const nodeTypesOf = (families: readonly Family[]): readonly NodeType[] =>
  families.flatMap(([name, category, sizes, mbPerCore, unusual]) =>
    sizes.map((num_cores) => ({
      id: name(num_cores),
      memory_mb: num_cores * mbPerCore,
      num_cores,
      category,
      max_disks: Math.min(64, num_cores * 4),
      ...USUAL,
      ...unusual,
    })),
  );

const CLOUD_NODE_TYPES = {
  azure: nodeTypesOf(FAMILIES.azure),
  aws: nodeTypesOf(FAMILIES.aws),
  gcp: nodeTypesOf(FAMILIES.gcp),
};

const ADDED_NODE_TYPES: ReadonlyMap<string, NodeType> = new Map(
  Object.values(CLOUD_NODE_TYPES)
    .flat()
    .map((type) => [type.id, type]),
);

/** Node types of a cloud as the dialect lists them: with their local disks, and the contract's own. */
export function listCloudNodeTypes(cloud: keyof typeof CLOUD_NODE_TYPES): JsonObject[] {
  const ids = new Set(NODE_TYPES.keys());
  const all = [...NODE_TYPES.values(), ...CLOUD_NODE_TYPES[cloud].filter(({ id }) => !ids.has(id))];
  return all.map((type) => ({
    ...shownNodeType(type),
    is_hidden: false,
    is_io_cache_enabled: type.local_disk,
    photon_worker_capable: type.num_gpus === 0,
    photon_driver_capable: type.num_gpus === 0,
    support_cluster_tags: true,
    support_port_forwarding: true,
    node_instance_type: {
      instance_type_id: type.id,
      local_disks: type.local_disk ? 1 : 0,
      local_disk_size_gb: type.local_disk ? type.num_cores * 38 : 0,
    },
  }));
}

export function nodeType(id: string): NodeType {
  const type = NODE_TYPES.get(id) ?? ADDED_NODE_TYPES.get(id);
  if (type === undefined) throw invalidValue(`Invalid node type ${id}.`);
  return type;
}

const CORE_QUOTA = 350;

/** Whether a node type is deprecated; such types take no custom tags (contract B 2.4). */
export const isLegacy = (id: string): boolean => NODE_TYPES.get(id)?.deprecated === true;

const shownNodeType = (entry: NodeType): JsonObject => ({
  node_type_id: entry.id,
  memory_mb: entry.memory_mb,
  num_cores: entry.num_cores,
  description: entry.id,
  instance_type_id: entry.id,
  is_deprecated: entry.deprecated,
  category: entry.category,
  num_gpus: entry.num_gpus,
  node_info: { available_core_quota: CORE_QUOTA, total_core_quota: CORE_QUOTA },
});

export const listNodeTypes = (): JsonObject[] => [...NODE_TYPES.values()].map(shownNodeType);

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
  photon: "Photon",
};

const versionsOf = (releases: readonly RuntimeRow[], support: string): ReadonlyMap<string, string> =>
  new Map(
    releases.flatMap(([release, scala, spark, flavours]) =>
      flavours.map((flavour): [string, string] => [
        `${release}.x${flavour}-scala${scala}`,
        `${release}${support}${title(flavour)} (includes Apache Spark ${spark}, Scala ${scala})`,
      ]),
    ),
  );

const VERSIONS = versionsOf(RELEASES, "");

const TODAY = ["", "-photon", "-aarch64", "-cpu-ml", "-gpu-ml"] as const;

/** Releases with long-term support today, which the dialect lists in addition to those of the contract. */
const LTS_VERSIONS = versionsOf(
  [
    ["14.3", "2.12", "3.5.0", TODAY],
    ["15.4", "2.12", "3.5.0", TODAY],
    ["16.4", "2.12", "3.5.2", TODAY],
    ["16.4", "2.13", "3.5.2", TODAY],
    ["17.3", "2.13", "4.0.0", TODAY],
  ],
  " LTS",
);

function title(flavour: string): string {
  return flavour
    .split("-")
    .slice(1)
    .map((word) => ` ${TITLES[word] ?? word}`)
    .join("");
}

export function checkRuntime(key: string): void {
  if (!VERSIONS.has(key) && !LTS_VERSIONS.has(key)) throw invalidValue(`Invalid spark version ${key}.`);
}

const shownRuntimes = (versions: ReadonlyMap<string, string>): JsonObject[] =>
  [...versions].map(([key, name]) => ({ key, name }));

export const listRuntimes = (): JsonObject[] => shownRuntimes(VERSIONS);

export const listCurrentRuntimes = (): JsonObject[] => [
  ...shownRuntimes(LTS_VERSIONS),
  ...shownRuntimes(VERSIONS),
];

export type Tags = readonly { readonly key: string; readonly value: string }[];

type TagMap = Readonly<Record<string, string>>;

/** What a request may hold; openapi.yaml has checked the shape. */
export type GivenTags = Tags | TagMap;

const BAD_KEY = /[<>%*&+?\\/]|^(azure|microsoft|windows)/i;

/** The tags as a list. Throws INVALID_PARAMETER_VALUE for too many, for a key twice, and for what a tag cannot be. */
export function readTags(tagsInRequest: GivenTags | undefined, limit: number): Tags | undefined {
  if (tagsInRequest === undefined) return undefined;
  const tags = Array.isArray(tagsInRequest)
    ? tagsInRequest.map(({ key, value }) => ({ key, value }))
    : tagsOf(tagsInRequest as TagMap);
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
