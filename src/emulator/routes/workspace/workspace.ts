// Workspace objects: notebooks and folders, their status, listing, import, export and deletion (contract A 4.4).

import { administratorName } from "../../world/directory.ts";
import { childPath, pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { ApiError, invalidValue } from "../../world/errors.ts";
import type { Area, Operations } from "../../world/operation.ts";
import { exportObject } from "./export.ts";
import { importObject } from "./import.ts";
import { existingObject, makeFolders, objectInfo, objectsOf, removeObjects } from "./objects.ts";

const operations: Operations = {
  "workspace/import": importObject,
  "workspace/export": exportObject,

  "workspace/delete": ({ input }, world) => {
    const segments = segmentsOf(String(input.path));
    const path = pathOfSegments(segments);
    const node = existingObject(world, segments);
    if (node.entry.object_type === "DIRECTORY" && node.entry.fixed)
      throw invalidValue(`Folder (${path}) is protected and cannot be deleted.`);
    if (input.recursive !== true && objectsOf(world).hasChildren(node.id))
      throw new ApiError("DIRECTORY_NOT_EMPTY", `Folder (${path}) is not empty`);
    removeObjects(world, node);
  },

  "workspace/get-status": ({ input }, world) => {
    const segments = segmentsOf(String(input.path));
    return { json: objectInfo(world, pathOfSegments(segments), existingObject(world, segments)) };
  },

  "workspace/list": ({ input }, world) => {
    const segments = segmentsOf(String(input.path));
    const path = pathOfSegments(segments);
    const node = existingObject(world, segments);
    if (!node.entry.folder) return { json: { objects: [objectInfo(world, path, node)] } };
    const children = objectsOf(world).children(node.id);
    const objects = children.map((child) => objectInfo(world, childPath(path, child.entry.name), child));
    return { json: objects.length === 0 ? {} : { objects } };
  },

  "workspace/mkdirs": ({ input }, world) => {
    makeFolders(world, segmentsOf(String(input.path)));
  },
};

export const workspaceArea: Area = {
  operations,
  seed: (world) => {
    const root = { parent: "", name: "", folder: true, object_type: "DIRECTORY", fixed: true } as const;
    objectsOf(world).plant(root);
    makeFolders(world, ["Shared"], true);
    makeFolders(world, ["Users", administratorName(world)], true);
  },
};
