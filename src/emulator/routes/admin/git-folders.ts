// Git folders: an entry in the tree with a remote and a branch. The contract has none of these calls; a dialect has.

import { type JsonObject, objectIn } from "../../../core/json.ts";
import { pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { alreadyExists, invalidValue, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";
import {
  addObject,
  objectsOf,
  removeObjects,
  unmountedPath,
  type WorkspaceNode,
} from "../workspace/objects.ts";

interface GitFolder {
  readonly url: string;
  readonly provider: string;
  readonly branch?: string;
  readonly head_commit_id: string;
  readonly sparse_checkout?: JsonObject;
}

const foldersOf = (world: World): Collection<GitFolder> => world.collection("git-folders");

export const gitFolderOperations: Operations = {
  "repos/create": ({ input, caller }, world) => {
    const { url, provider, sparse_checkout } = input;
    const name =
      String(url)
        .split("/")
        .at(-1)
        ?.replace(/\.git$/, "") ?? "repo";
    const segments = segmentsOf(unmountedPath(String(input.path ?? `/Repos/${caller.userName}/${name}`)));
    const { node: parent, rest } = objectsOf(world).deepest(segments.slice(0, -1));
    if (rest.length > 0)
      throw notFound(`Parent directory ${pathOfSegments(segments.slice(0, -1))} does not exist.`);
    const own = segments.at(-1) ?? "";
    if (objectsOf(world).child(parent.id, own) !== undefined)
      throw alreadyExists(`Repo with path ${pathOfSegments(segments)} already exists.`);
    const entry = { parent: parent.id, name: own, folder: true, object_type: "REPO" } as const;
    const { id } = addObject(world, entry);
    const sparse = sparse_checkout !== undefined && { sparse_checkout: objectIn(sparse_checkout) };
    const folder = {
      url: String(url),
      provider: String(provider),
      branch: "main",
      head_commit_id: world.hex(40),
    };
    foldersOf(world).set(id, { ...folder, ...sparse });
    return { json: shown(world, id) };
  },
  "repos/update": ({ input, params }, world) => {
    const id = existing(world, params);
    const { branch, tag, sparse_checkout } = input;
    if (branch !== undefined && tag !== undefined)
      throw invalidValue("Only one of branch and tag can be given.");
    const { branch: before, ...folder } = foldersOf(world).get(id) as GitFolder;
    if (sparse_checkout !== undefined && folder.sparse_checkout === undefined)
      throw invalidValue("Sparse checkout is not enabled for this repo.");
    const checkedOut = tag === undefined ? { branch: String(branch ?? before) } : {};
    const sparse = sparse_checkout !== undefined && { sparse_checkout: objectIn(sparse_checkout) };
    foldersOf(world).set(id, { ...folder, ...checkedOut, ...sparse, head_commit_id: world.hex(40) });
    return { json: shown(world, id) };
  },
  "repos/delete": ({ params }, world) => {
    const id = existing(world, params);
    removeObjects(world, objectsOf(world).node(id));
    foldersOf(world).delete(id);
  },
  "repos/get": ({ params }, world) => ({ json: shown(world, existing(world, params)) }),
  "repos/list": ({ input }, world) => {
    const prefix = unmountedPath(String(input.path_prefix ?? "/Repos"));
    const repos = [...foldersOf(world).keys()]
      .filter((id) => objectsOf(world).byId(id) !== undefined)
      .map((id) => shown(world, id))
      .filter(({ path }) => String(path).startsWith(prefix === "/" ? "/Repos" : prefix));
    return { json: repos.length === 0 ? {} : { repos } };
  },
};

function existing(world: World, { id = "" }: Call["params"]): string {
  if (!foldersOf(world).has(id) || objectsOf(world).byId(id) === undefined)
    throw notFound(`Repo ${id.slice(0, 100)} could not be found.`);
  return id;
}

function shown(world: World, id: string): JsonObject {
  const node = objectsOf(world).node(id) as WorkspaceNode;
  const above = objectsOf(world).above(node).slice(0, -1);
  const names = [...above.map(({ entry }) => entry.name).reverse(), node.entry.name];
  return {
    id: Number(id),
    path: pathOfSegments(names),
    ...(foldersOf(world).get(id) as unknown as JsonObject),
  };
}
