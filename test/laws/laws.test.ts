// The laws in the contract's dialect.

import { expect, test } from "vitest";
import { registry } from "../../src/providers/index.ts";
import { databricksSamples } from "./databricks-samples.ts";
import { testLaws } from "./laws.ts";
import { samples } from "./samples.ts";

test("every kind has a sample", () => {
  const sampled = new Set([...samples, ...databricksSamples].map((sample) => sample.kind));
  expect(registry.kinds.map((provider) => provider.kind).filter((kind) => !sampled.has(kind))).toEqual([]);
});

testLaws();
