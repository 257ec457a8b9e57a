import fc from "fast-check";
import { expect, test } from "vitest";
import { sampleOf } from "../../../sample-size.ts";
import { base64, text } from "../../contents.ts";
import { startWorld, type TestWorld } from "../../harness.ts";

/** The file system as a plain map: a path to its contents, or to `null` for a directory. */
type Model = Map<string, string | null>;

const above = (path: string): string[] =>
  path
    .split("/")
    .slice(1, -1)
    .map((_, index, all) => `/${all.slice(0, index + 1).join("/")}`);
const isBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
const below = (model: Model, folder: string) => [...model.keys()].filter((path) => isBelow(path, folder));
const blocked = (model: Model, path: string) =>
  above(path).some((prefix) => typeof model.get(prefix) === "string");
const makeParents = (model: Model, path: string) => {
  for (const prefix of above(path)) model.set(prefix, null);
};

type Step = { verb: "put" | "mkdirs" | "delete" | "move"; path: string; other: string; flag: boolean };

/** Does the step on the model, and tells the error code that the contract names for it. */
function expected(model: Model, { verb, path, other, flag }: Step): string | undefined {
  switch (verb) {
    case "put":
      if (blocked(model, path) || model.get(path) === null || (model.has(path) && !flag))
        return "RESOURCE_ALREADY_EXISTS";
      makeParents(model, path);
      model.set(path, `${path} ${flag}`);
      return undefined;
    case "mkdirs":
      if (blocked(model, path) || typeof model.get(path) === "string") return "RESOURCE_ALREADY_EXISTS";
      makeParents(model, path);
      model.set(path, null);
      return undefined;
    case "delete":
      if (!flag && below(model, path).length > 1) return "IO_ERROR";
      for (const gone of below(model, path)) model.delete(gone);
      return undefined;
    case "move": {
      if (!model.has(path)) return "RESOURCE_DOES_NOT_EXIST";
      if (typeof model.get(other) === "string") return "RESOURCE_ALREADY_EXISTS";
      if (model.get(path) === null && isBelow(other, path)) return "INVALID_PARAMETER_VALUE";
      if (model.has(other) || blocked(model, other)) return "RESOURCE_ALREADY_EXISTS";
      const moved = below(model, path).map((from) => [from, model.get(from) ?? null] as const);
      for (const [from] of moved) model.delete(from);
      makeParents(model, other);
      for (const [from, content] of moved) model.set(other + from.slice(path.length), content);
      return undefined;
    }
  }
  return verb satisfies never;
}

function act(w: TestWorld, { verb, path, other, flag }: Step) {
  switch (verb) {
    case "put":
      return w.post("fs/put", { path, contents: base64(`${path} ${flag}`), overwrite: flag });
    case "mkdirs":
      return w.post("fs/mkdirs", { path });
    case "delete":
      return w.post("fs/delete", { path, recursive: flag });
    case "move":
      return w.post("fs/move", { source_path: path, destination_path: other });
  }
  return verb satisfies never;
}

async function everything(w: TestWorld, folder = "/"): Promise<Model> {
  const found: Model = new Map();
  const { files = [] } = (await w.get("fs/list", { path: folder })).body;
  for (const { path, is_dir } of files) {
    found.set(path, is_dir ? null : text((await w.get("fs/read", { path })).body.data));
    if (is_dir) for (const [inner, content] of await everything(w, path)) found.set(inner, content);
  }
  return found;
}

const name = fc.constantFrom("a", "b");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/${names.join("/")}`);
const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom("put", "mkdirs", "delete", "move"),
  path,
  other: path,
  flag: fc.boolean(),
});

test("A4.5 put, create, move, delete: any sequence of calls leaves the files that a plain map would hold, and each call its error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const w = await startWorld();
      const model: Model = new Map();
      for (const one of steps) {
        const answer = await act(w, one);
        expect([one, answer.body.error_code]).toEqual([one, expected(model, one)]);
      }
      const found = await everything(w);
      expect(new Map([...found].sort())).toEqual(new Map([...model].sort()));
      const files = [...model.values()].filter((content) => content !== null);
      expect(Object.keys(w.store.dump().$blobs ?? {})).toHaveLength(files.length);
    }),
    { numRuns: sampleOf(150) },
  );
});
