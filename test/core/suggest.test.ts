import { expect, it } from "vitest";
import { didYouMean, suggester } from "../../src/core/suggest.ts";

const FIELDS = [
  "instance_pool_name",
  "node_type_id",
  "min_idle_instances",
  "max_capacity",
  "custom_tags",
  "autotermination_minutes",
];

it.each([
  ["max_capactiy", "max_capacity"],
  ["maxCapacity", "max_capacity"],
  ["max_size", "max_capacity"],
  ["node_type", "node_type_id"],
  ["tags", "custom_tags"],
  ["Node_Type_ID", "node_type_id"],
  ["completely_different", undefined],
  ["zz", undefined],
  ["x".repeat(1000), undefined],
])("%s is likely to mean %s", (word, meant) => {
  expect(suggester()(word, FIELDS, "words")).toBe(meant);
});

it.each([
  ["bob@example.com", "admin@example.com", undefined],
  ["rob@example.com", "bob@example.com", "bob@example.com"],
  ["Bob@example.com", "bob@example.com", "bob@example.com"],
  ["bob", "bob@example.com", undefined],
  ["Standard_NOPE", "Standard_F4s", undefined],
  ["Standard_F4", "Standard_F4s", "Standard_F4s"],
  ["etl_nihgtly", "etl_nightly", "etl_nightly"],
  ["prod", "prod-eu", undefined],
  ["shared_pool", "shared_cluster", undefined],
  ["pwsh", "bash", undefined],
  ["zhs", "zsh", "zsh"],
  ["ab", "cb", undefined],
])("the name %s and the object %s suggests %s", (word, name, meant) => {
  expect(suggester()(word, [name])).toBe(meant);
});

it("stops comparing when its budget is spent", () => {
  const suggest = suggester();
  const many = Array.from({ length: 250_000 }, (_, at) => `candidate-${at}`);
  expect(suggest("candidate-249999", many)).not.toBe("candidate-249999");
  expect(suggest("max_capactiy", FIELDS)).toBeUndefined();
});

it("makes hints in words", () => {
  expect(didYouMean("a")).toEqual({ hint: 'did you mean "a"?' });
  expect(didYouMean(undefined, "or else")).toEqual({ hint: "or else" });
  expect(didYouMean(undefined)).toEqual({});
});
