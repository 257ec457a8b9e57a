// Objects whose names are paths: what is deleted before a creation, which folders stay, and which creations are errors.

import { describe, expect, test } from "vitest";
import { type Address, kindOf, nameOf } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import { occupiedFolders, takenPaths, withPathsFreedFirst } from "../../../src/planner/decide/paths.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { type Kind, registryOf } from "../../../src/resource/kind.ts";
import type { Live } from "../../../src/resource/live.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import { providerOf } from "../../flat-kind.ts";
import { context, live, object, plan, record, resource, spec, state } from "../build.ts";
import { create, one, remove } from "../changes.ts";
import { registry as kinds } from "../kinds.ts";

const never = (): never => {
  throw new Error("planning calls no verb");
};
const kindWith = (kind: string, tree: Kind["tree"]) =>
  providerOf({
    kind,
    singular: kind,
    description: "A kind whose names are paths.",
    nameField: undefined,
    unique: true,
    idAttribute: "path",
    creationRecovery: "client-named",
    replaceStrategy: "delete-first",
    fields: {},
    ...(tree === undefined ? {} : { tree }),
    ...{ list: never, read: never, create: never, update: never, delete: never },
  });

const registry = registryOf([
  ...kinds.kinds.map(({ kind }) => kinds.get(kind)),
  kindWith("folders", { root: "workspace", folders: true }),
  kindWith("pages", { root: "workspace", folders: false }),
  kindWith("blobs", { root: "files", folders: false }),
]);

function declared(text: string): Resource {
  const address = text as Address;
  return {
    ...resource("boxes.any"),
    address,
    kind: kindOf(address),
    key: nameOf(address),
    name: nameOf(address),
  };
}

describe("a folder is occupied", () => {
  const occupied = (resources: readonly string[], destroy = false) =>
    Object.fromEntries(
      occupiedFolders({ ...context({ registry }).input, spec: spec(resources.map(declared)), destroy }),
    );

  test("while the spec declares something of its tree in it, near or far", () => {
    expect(occupied(["pages./a/b/page"])).toEqual({
      "folders./a": "pages./a/b/page",
      "folders./a/b": "pages./a/b/page",
    });
    expect(occupied(["folders./a/b"])).toEqual({ "folders./a": "folders./a/b" });
  });

  test("by the first of several resources, in any order of the spec", () => {
    const both = { "folders./a": "pages./a/1" };
    expect(occupied(["pages./a/1", "pages./a/2"])).toEqual(both);
    expect(occupied(["pages./a/2", "pages./a/1"])).toEqual(both);
  });

  test("neither by another tree, nor by a name that is not a path, nor when everything is destroyed", () => {
    expect(occupied(["blobs./a/b", "boxes./a/b", "pages./page"])).toEqual({});
    expect(occupied(["pages./a/page"], true)).toEqual({});
  });
});

describe("a creation at a path", () => {
  const waits = (...changes: readonly Change[]): Record<string, readonly string[]> =>
    Object.fromEntries(
      withPathsFreedFirst(context({ registry }), changes).map((change) => [
        `${change.action} ${change.address}`,
        change.dependsOn,
      ]),
    );
  const first = (...changes: readonly Change[]) => waits(...changes)[`create ${changes[0]?.address}`];

  test("depends on the deletions at its path and above it", () => {
    expect(first(create("pages./a"), remove("folders./a"))).toEqual(["folders./a"]);
    expect(first(create("folders./a"), remove("pages./a"))).toEqual(["pages./a"]);
    expect(first(create("pages./a/b/c"), remove("pages./a"))).toEqual(["pages./a"]);
  });

  test("depends on the deletions below it, unless it is a folder", () => {
    expect(first(create("pages./a"), remove("pages./a/b/c"))).toEqual(["pages./a/b/c"]);
    expect(first(create("folders./a"), remove("pages./a/b/c"))).toEqual([]);
  });

  test("depends on no deletion at another path, of another tree, of a replaced object, or without a path", () => {
    const old = remove("pages./a", { deposed: true });
    expect(
      first(create("pages./a"), remove("pages./ab"), remove("blobs./a"), old, remove("boxes./a")),
    ).toEqual([]);
    expect(first(create("boxes./a"), remove("pages./a"))).toEqual([]);
  });

  test("keeps what it depends on already: each once, in order", () => {
    const page = create("pages./a", { dependsOn: ["pages./a/c", "boxes.z"] });
    expect(first(page, remove("pages./a/c"), remove("folders./a"))).toEqual([
      "boxes.z",
      "folders./a",
      "pages./a/c",
    ]);
  });

  test.each(["update", "adopt", "replace", "forget", "noop", "report"] as const)(
    "excludes other changes: %s depends on no deletion",
    (action) => {
      expect(waits(one("pages./a")[action], remove("folders./a"))).toEqual({
        [`${action} pages./a`]: [],
        "delete folders./a": [],
      });
    },
  );

  test("does not wait for the users of what is deleted, unless they are deleted too", () => {
    const needs = { dependsOn: ["tasks.moves", "tasks.goes"] };
    const goes = remove("tasks.goes", { dependsOn: ["tasks.moves", "tasks.far"] });
    const far = remove("tasks.far", { dependsOn: ["tasks.moves"] });
    expect(waits(create("pages./a"), remove("folders./a", needs), goes, far)).toEqual({
      "create pages./a": ["folders./a"],
      "delete folders./a": ["tasks.goes"],
      "delete tasks.goes": ["tasks.far"],
      "delete tasks.far": [],
    });
  });

  test("without a deletion at its path keeps its dependencies in their order", () => {
    const page = create("pages./a", { dependsOn: ["boxes.z", "boxes.b"] });
    expect(first(page, remove("pages./b"))).toEqual(["boxes.z", "boxes.b"]);
  });

  test("changes no deletion that it does not depend on", () => {
    const needs = { dependsOn: ["tasks.moves"] };
    const old = remove("folders./a", { ...needs, deposed: true });
    const changes = [
      create("pages./a"),
      remove("folders./a"),
      old,
      remove("pages./b", needs),
      remove("boxes.b", needs),
    ];
    expect(withPathsFreedFirst(context({ registry }), changes).slice(2)).toEqual(changes.slice(2));
  });
});

describe("a creation at the path of another object", () => {
  const at = { file: "workspace.yaml", line: 7, column: 3 };
  const found = (path: string, type: string): Live => {
    const pages = { readable: true, objects: [], unreadableParents: new Map() } as const;
    return new Map([...live(), ["pages", { ...pages, others: new Map([["/a/b", { path, type }]]) }]]);
  };
  const errors = (changes: readonly Change[], world: Live = found("/a/b", "folder")) =>
    takenPaths(context({ registry, live: world, spec: spec([{ ...declared("pages./a/b"), at }]) }), changes);

  test.each([
    ["/a/b", "folder", " and everything in it"],
    ["/a", "blob", ""],
  ])("is an error with its place and what to do: %s is a %s", (path, type, contents) => {
    expect(errors([create("pages./b"), create("pages./a/b")], found(path, type))).toEqual([
      error("PLAN_ALREADY_EXISTS", `pages./a/b cannot be created: ${path} is a ${type}`, {
        address: "pages./a/b" as Address,
        at,
        hint: `choose another path, or delete the ${type} ${path}${contents}, then plan again`,
      }),
    ]);
  });

  test("is PLAN_UNMANAGEABLE when a content of another kind is at the path itself", () => {
    const hint = "choose another path, or delete the blob /a/b, then plan again";
    const [diagnostic, ...more] = errors([create("pages./a/b")], found("/a/b", "blob"));
    expect(more).toEqual([]);
    expect(diagnostic).toEqual(
      error("PLAN_UNMANAGEABLE", "pages./a/b cannot manage /a/b: it is a blob, not a pages", {
        address: "pages./a/b" as Address,
        at,
        hint,
      }),
    );
  });

  test("is accepted when the plan deletes that object", () => {
    const page = create("pages./a/b");
    expect(errors([page, remove("folders./a/b")])).toEqual([]);
    expect(errors([page, remove("folders./a/b/c")])).toHaveLength(1);
    expect(errors([page, remove("folders./a/b", { deposed: true })])).toHaveLength(1);
    expect(errors([page, remove("folders./a")])).toHaveLength(1);
  });

  test("is accepted when nothing is created there, or when the kind has no paths or was not read", () => {
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    expect(errors([one("pages./a/b").update])).toEqual([]);
    expect(errors([create("boxes./a/b")])).toEqual([]);
    expect(errors([create("pages./a/b")], new Map([["pages", unread]]))).toEqual([]);
    expect(errors([create("pages./a/b")], new Map())).toEqual([]);
  });
});

describe("a folder that the spec no longer declares", () => {
  const folders = (objects: readonly string[], policy = {}, recorded: readonly string[] = objects) => {
    const found = objects.map((path) => object(path, path));
    return plan({
      registry,
      live: new Map([
        ...live({}),
        ["folders", { readable: true, objects: found, unreadableParents: new Map() }],
      ]),
      state: state(recorded.map((path) => record(`folders.${path}`, path))),
      spec: spec([declared("pages./a/b/page")], policy),
    }).changes.map(({ action, address, reasons }) => `${action} ${address}: ${reasons.join("; ")}`);
  };

  test("is only removed from the state while something declared is in it", () => {
    expect(folders(["/a", "/c"])).toEqual([
      "delete folders./c: it is no longer in the spec",
      "forget folders./a: pages./a/b/page is in it and stays in the spec",
    ]);
  });

  test("and was never managed is kept by an authoritative policy while something declared is in it", () => {
    expect(folders(["/a", "/a/b", "/c"], { authoritative: ["folders"] }, [])).toEqual([
      "delete folders./c: the policy makes folders authoritative, and the spec does not declare it",
    ]);
  });

  test("keeps no object of another kind that happens to have its name", () => {
    const box = object("b", "/a", { box_name: "/a" });
    const changes = plan({
      registry,
      live: live({ boxes: [box] }),
      spec: spec([declared("pages./a/b")], { authoritative: ["boxes"] }),
    }).changes;
    expect(changes.map(({ action, address }) => `${action} ${address}`)).toEqual(["delete boxes./a"]);
  });
});
