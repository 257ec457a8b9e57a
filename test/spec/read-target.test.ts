import { join } from "node:path";
import { expect, it } from "vitest";
import { readTargets } from "../../src/spec/variables/targets.ts";
import { folderWith, load } from "./folder.ts";

it("the target is read without the YAML of included files that cannot have targets", () => {
  const folder = folderWith({
    "workspace.yaml": "include: [pools.yaml, targets.yaml]",
    "pools.yaml": "pools: { broken",
    "targets.yaml": "targets: { prod: { state: states/prod } }",
  });
  const { names, settings } = readTargets({ file: join(folder, "workspace.yaml") })("prod");
  expect(names).toEqual(["prod"]);
  expect(settings?.state).toBe("states/prod");
});

it("a spec reports the bytes of its files before it reads the YAML of each", async () => {
  const files = {
    "workspace.yaml": "include: [a.yaml, b.yaml]",
    "a.yaml": "users: { a: {} }",
    "b.yaml": "users: { b: {} }",
  };
  const sizes: number[] = [];
  await load(files, { onYaml: (bytes) => sizes.push(bytes) });
  expect(sizes).toEqual([25, 41, 57]);
});
