import { beforeEach, expect, test } from "vitest";
import { objectsOf } from "../../../../src/emulator/routes/workspace/objects.ts";
import { ROOT } from "../../../../src/emulator/world/entry-tree.ts";
import { base64, refusal, refused } from "../../contents.ts";
import { ADMIN, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
});

const note = (path: string, language = "PYTHON") =>
  w.post("workspace/import", { path, language, content: base64("x = 1\n") });
const status = async (path: string) => (await w.get("workspace/get-status", { path })).body;
const paths = async (path: string): Promise<string[]> =>
  ((await w.get("workspace/list", { path })).body.objects ?? []).map(
    (object: { path: string }) => object.path,
  );
/** No call makes a library; this puts one where a workspace may have it. */
const addLibrary = (name: string) =>
  w.store.transact(w.clock.now(), (world) =>
    objectsOf(world).add({ parent: ROOT, name, folder: false, object_type: "LIBRARY" }),
  );

// Status, list

test("A2.6 object_type, language, path: a folder is shown as DIRECTORY, with its path and a number as its id, and no language", async () => {
  const found = await status("/Shared");
  expect(found).toEqual({ object_type: "DIRECTORY", path: "/Shared", object_id: expect.any(Number) });
});

test.each(["SCALA", "PYTHON", "SQL", "R"])(
  "A2.6 object_type, language, A4.4 get-status: the ObjectInfo of a notebook in %s contains its language",
  async (language) => {
    await note("/n", language);
    expect(await status("/n")).toEqual({
      object_type: "NOTEBOOK",
      path: "/n",
      language,
      object_id: expect.any(Number),
    });
  },
);

test("A2.6 object_type: a library is shown as LIBRARY, without a language", async () => {
  addLibrary("lib");
  expect(await status("/lib")).toEqual({
    object_type: "LIBRARY",
    path: "/lib",
    object_id: expect.any(Number),
  });
});

test("A2.6 object_id: object ids are unique", async () => {
  await note("/a");
  await w.post("workspace/delete", { path: "/a" });
  const first = await status("/Shared");
  await note("/a");
  await note("/b");
  const ids = [first.object_id, (await status("/a")).object_id, (await status("/b")).object_id];
  expect(new Set(ids).size).toBe(3);
});

test("A4.4 new workspace: a new workspace holds /, /Shared, /Users and the administrator's own folder", async () => {
  expect((await status("/")).object_type).toBe("DIRECTORY");
  expect(await paths("/")).toEqual(["/Shared", "/Users"]);
  expect(await paths("/Users")).toEqual([`/Users/${ADMIN}`]);
});

test("A4.4 list: a folder gives its direct children by name, each as ObjectInfo", async () => {
  await w.post("workspace/mkdirs", { path: "/Shared/b/deep" });
  await note("/Shared/a", "R");
  const { body } = await w.get("workspace/list", { path: "/Shared" });
  expect(body).toEqual({
    objects: [
      { object_type: "NOTEBOOK", path: "/Shared/a", language: "R", object_id: expect.any(Number) },
      { object_type: "DIRECTORY", path: "/Shared/b", object_id: expect.any(Number) },
    ],
  });
});

test("A4.4 list: a path of another object gives the object itself", async () => {
  await note("/Shared/a");
  expect((await w.get("workspace/list", { path: "/Shared/a" })).body).toEqual({
    objects: [await status("/Shared/a")],
  });
});

test("A4.4 empty list: an empty folder gives an object without the key", async () => {
  expect((await w.get("workspace/list", { path: "/Shared" })).body).toEqual({});
});

test.each(["list", "get-status"])("A4.4 rule 4: %s of a missing path is refused", async (call) => {
  const answer = await w.get(`workspace/${call}`, { path: "/Shared/none" });
  expect(refusal(answer)).toEqual(refused(404, "RESOURCE_DOES_NOT_EXIST"));
  expect(answer.body.message).toBe("Path (/Shared/none) doesn't exist.");
});

test("A4.4 rule 4: a path through a notebook is missing", async () => {
  await note("/n");
  expect(refusal(await w.get("workspace/get-status", { path: "/n/x" }))).toEqual(
    refused(404, "RESOURCE_DOES_NOT_EXIST"),
  );
});

test("A conventions: a GET may carry the same fields: a call of the workspace takes its fields from a JSON body too", async () => {
  const answer = await w.request({
    method: "GET",
    path: "/api/2.0/workspace/get-status",
    headers: { authorization: "Bearer test-token", "content-type": "application/json" },
    body: JSON.stringify({ path: "/Shared" }),
  });
  expect(answer.body.path).toBe("/Shared");
});

test("A4.4 names: a slash at the end of a path is dropped", async () => {
  expect((await status("/Shared/")).path).toBe("/Shared");
});

test("A4.4 names: names of paths differ by case, and may contain any characters", async () => {
  const names = ["/Shared/A b", "/Shared/a b", "/Shared/é+&?#%", "/Shared/__proto__"];
  for (const path of names) await note(path);
  expect((await paths("/Shared")).sort()).toEqual([...names].sort());
});

const bad = ["", "Shared", "/a//b", "/a/../b", "/./a"];
test.each(["list", "get-status", "export"].flatMap((call) => bad.map((path) => [call, path] as const)))(
  "A4.4 %s, A2.6 path: the path %j, which is not absolute, is refused",
  async (call, path) => {
    expect(refusal(await w.get(`workspace/${call}`, { path }))).toEqual(
      refused(400, "INVALID_PARAMETER_VALUE"),
    );
  },
);

test.each(["delete", "mkdirs", "import"].flatMap((call) => bad.map((path) => [call, path] as const)))(
  "A4.4 %s, A2.6 path: the path %j, which is not absolute, is refused",
  async (call, path) => {
    const answer = await w.post(`workspace/${call}`, { path, language: "SQL", content: "" });
    expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  },
);

test.each(["list", "get-status", "export"])("A4.4 %s: path is required", async (call) => {
  const answer = await w.get(`workspace/${call}`);
  expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  expect(answer.body.message).toBe("Missing required field: path");
});

test.each(["delete", "mkdirs", "import"])("A4.4 %s: path is required", async (call) => {
  const answer = await w.post(`workspace/${call}`, { language: "SQL", content: "" });
  expect(answer.body.message).toBe("Missing required field: path");
});

test.each(["delete", "mkdirs", "import"])("A4.4 %s: a path that is not a string is refused", async (call) => {
  expect(refusal(await w.post(`workspace/${call}`, { path: 1 }))).toEqual(refused(400, "MALFORMED_REQUEST"));
});

test.each([
  ["delete", { path: "/n", recursive: "true" }],
  ["import", { path: "/n", language: "SQL", content: "", overwrite: 1 }],
])("A4.4 %s: an invalid BOOL is refused", async (call, body) => {
  await note("/n");
  expect(refusal(await w.post(`workspace/${call}`, body))).toEqual(refused(400, "MALFORMED_REQUEST"));
});

// Mkdirs

test("A4.4 rule 5, mkdirs: mkdirs creates missing parents and answers an empty object", async () => {
  expect(await w.post("workspace/mkdirs", { path: "/x/y/z" })).toMatchObject({ status: 200, body: {} });
  expect((await status("/x/y")).object_type).toBe("DIRECTORY");
  expect(await paths("/x/y")).toEqual(["/x/y/z"]);
});

test("A4.4 rule 5: mkdirs of a folder that exists does nothing", async () => {
  await w.post("workspace/mkdirs", { path: "/x/y" });
  const before = await status("/x/y");
  expect((await w.post("workspace/mkdirs", { path: "/x/y" })).status).toBe(200);
  expect((await w.post("workspace/mkdirs", { path: "/" })).status).toBe(200);
  expect(await status("/x/y")).toEqual(before);
});

test("A4.4 rule 5: mkdirs over a notebook is refused", async () => {
  await note("/n");
  const answer = await w.post("workspace/mkdirs", { path: "/n" });
  expect(refusal(answer)).toEqual(refused(400, "RESOURCE_ALREADY_EXISTS"));
  expect(answer.body.message).toBe("n already exists and it is not a folder");
});

test("A4.4 rule 5: mkdirs through a notebook is refused and makes nothing", async () => {
  await note("/n");
  expect(refusal(await w.post("workspace/mkdirs", { path: "/n/x/y" }))).toEqual(
    refused(400, "RESOURCE_ALREADY_EXISTS"),
  );
  expect((await status("/n")).object_type).toBe("NOTEBOOK");
});

// Delete

test("A4.4 rule 1, delete: delete takes a notebook away and answers an empty object", async () => {
  await note("/Shared/n");
  expect(await w.post("workspace/delete", { path: "/Shared/n" })).toMatchObject({ status: 200, body: {} });
  expect(await paths("/Shared")).toEqual([]);
});

test("A4.4 rule 1: delete of a missing path is refused", async () => {
  const answer = await w.post("workspace/delete", { path: "/none" });
  expect(refusal(answer)).toEqual(refused(404, "RESOURCE_DOES_NOT_EXIST"));
});

test.each([undefined, false])(
  "A4.4 rule 1: with recursive %s, a folder that holds something stays",
  async (recursive) => {
    await note("/Shared/n");
    await w.post("workspace/mkdirs", { path: "/x/y" });
    const answer = await w.post("workspace/delete", {
      path: "/x",
      ...(recursive === undefined ? {} : { recursive }),
    });
    expect(refusal(answer)).toEqual(refused(400, "DIRECTORY_NOT_EMPTY"));
    expect(answer.body.message).toBe("Folder (/x) is not empty");
    expect(await paths("/x")).toEqual(["/x/y"]);
  },
);

test("A4.4 rule 1: an empty folder can be deleted without recursive", async () => {
  await w.post("workspace/mkdirs", { path: "/x" });
  expect((await w.post("workspace/delete", { path: "/x" })).status).toBe(200);
});

test("A4.4 rule 1: a recursive delete takes all that is in a folder, and its contents", async () => {
  await w.post("workspace/mkdirs", { path: "/x/y/z" });
  await note("/x/y/n");
  await note("/x/m");
  expect((await w.post("workspace/delete", { path: "/x", recursive: true })).status).toBe(200);
  expect(await paths("/")).toEqual(["/Shared", "/Users"]);
  expect(w.store.dump().$blobs).toBeUndefined();
  await w.post("workspace/mkdirs", { path: "/x" });
  expect(await paths("/x")).toEqual([]);
});

test("A4.4 rule 1: a library can be deleted", async () => {
  addLibrary("lib");
  expect((await w.post("workspace/delete", { path: "/lib" })).status).toBe(200);
  expect(await paths("/")).toEqual(["/Shared", "/Users"]);
});

test.each(["/", "/Shared", "/Users", `/Users/${ADMIN}`])(
  "A4.4 new workspace: %s, which every workspace has, cannot be deleted",
  async (path) => {
    const answer = await w.post("workspace/delete", { path, recursive: true });
    expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
    expect((await status(path)).path).toBe(path);
  },
);

// Others

test("A5 rule 7: users without administrator rights may use workspace objects", async () => {
  const as = await w.user("bo@example.com");
  expect((await w.post("workspace/mkdirs", { path: "/Shared/bo" }, { as })).status).toBe(200);
  expect((await w.get("workspace/list", { path: "/Shared" }, { as })).status).toBe(200);
});

test("A4.4 size, A8 limit: a request of the workspace calls is at most 10 MB", async () => {
  const path = `/${"x".repeat(10 * 1024 * 1024)}`;
  expect(refusal(await w.post("workspace/mkdirs", { path }))).toEqual(refused(413, "REQUEST_TOO_LARGE"));
});

test("A4.4 list: a folder's children are found without reading the rest of a large workspace", async () => {
  w.store.transact(w.clock.now(), (world) => {
    const tree = objectsOf(world);
    for (let i = 0; i < 20_000; i++)
      tree.add({ parent: ROOT, name: `d${i}`, folder: true, object_type: "DIRECTORY" });
  });
  let reads = 0;
  const { world } = w.store;
  const counted = new Proxy(world, {
    get: (target, key) =>
      key !== "collection"
        ? Reflect.get(target, key)
        : (name: string) => {
            const table = target.collection<unknown>(name);
            return {
              get: (id: string) => {
                reads++;
                return table.get(id);
              },
              *values() {
                for (const value of table.values()) {
                  reads++;
                  yield value;
                }
              },
            };
          },
  });
  const shared = objectsOf(counted).find(["Shared"]);
  expect(objectsOf(counted).children(shared?.id ?? "")).toEqual([]);
  expect(reads).toBeLessThan(10);
});
