// The runtime versions that clusters can run: what `clusters/spark-versions` answers
// (contract B 4.3, contract B 9; grammar: facts 4.7).

import type { JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";

type Row = readonly [release: string, scala: string, spark: string, flavours: readonly string[]];

const RELEASES: readonly Row[] = [
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
