import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/core/json.ts";
import { base64, postForm, refusal, refused, text } from "../../contents.ts";
import { START, startWorld, type TestWorld } from "../../harness.ts";

const MB = 1024 * 1024;

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
});

const put = (path: string, contents = "hello", fields: object = {}) =>
  w.post("fs/put", { path, contents: base64(contents), ...fields });
const read = async (path: string, range: Readonly<Record<string, number>> = {}) =>
  text((await w.get("fs/read", { path, ...range })).body.data);
const status = async (path: string) => (await w.get("fs/get-status", { path })).body;
const paths = async (path: string): Promise<string[]> =>
  ((await w.get("fs/list", { path })).body.files ?? []).map((file: { path: string }) => file.path);
const missing = refused(404, "RESOURCE_DOES_NOT_EXIST");
const exists = refused(400, "RESOURCE_ALREADY_EXISTS");
const invalid = refused(400, "INVALID_PARAMETER_VALUE");

// Status and list

test("A2.8 file_size, path, is_dir, A4.5 modification_time: a file has its path, its length in bytes, and the time of its last write", async () => {
  await put("/a/f", "héllo");
  expect(await status("/a/f")).toEqual({
    path: "/a/f",
    is_dir: false,
    file_size: 6,
    modification_time: START,
  });
});

test("A2.8 file_size, is_dir: a directory has the length zero", async () => {
  await put("/a/f");
  expect(await status("/a")).toMatchObject({ path: "/a", is_dir: true, file_size: 0 });
});

test("A4.5 get-status: the root is a directory", async () => {
  expect(await status("/")).toMatchObject({ path: "/", is_dir: true });
});

test("A4.5 list: a directory gives its direct children by name, each as FileInfo", async () => {
  await put("/a/z");
  await put("/a/b/c", "x");
  const { body } = await w.get("fs/list", { path: "/a" });
  expect(body.files).toEqual([await status("/a/b"), await status("/a/z")]);
});

test("A4.5 list: a file gives itself", async () => {
  await put("/f");
  expect((await w.get("fs/list", { path: "/f" })).body).toEqual({ files: [await status("/f")] });
});

test("A4.5 empty list: an empty directory gives an object without the key", async () => {
  expect((await w.get("fs/list", { path: "/" })).body).toEqual({});
});

test.each(["list", "get-status"])("A4.5 rule 6: %s of a missing path is refused", async (call) => {
  const answer = await w.get(`fs/${call}`, { path: "/none" });
  expect(refusal(answer)).toEqual(missing);
  expect(answer.body.message).toBe("No file or directory exists on path /none.");
});

test("A4.5 rule 6: a path through a file is missing", async () => {
  await put("/f");
  expect(refusal(await w.get("fs/get-status", { path: "/f/x" }))).toEqual(missing);
});

test("A4.5 scheme: paths may be written with fs: before them, and are answered without", async () => {
  await put("fs:/a/f");
  expect((await status("fs:/a/f")).path).toBe("/a/f");
  expect(await paths("fs:/a/")).toEqual(["/a/f"]);
});

const bad = ["", "a", "fs:a", "s3://a", "/a//b", "/a/../b", "/./a"];
test.each(["list", "get-status", "read"].flatMap((call) => bad.map((path) => [call, path] as const)))(
  "A2.8 path, A4.5 %s: the path %j, which is not absolute, is refused",
  async (call, path) => {
    expect(refusal(await w.get(`fs/${call}`, { path }))).toEqual(invalid);
  },
);

test.each(["create", "delete", "mkdirs", "put"].flatMap((call) => bad.map((path) => [call, path] as const)))(
  "A2.8 path, A4.5 %s: the path %j, which is not absolute, is refused",
  async (call, path) => {
    expect(refusal(await w.post(`fs/${call}`, { path, contents: "" }))).toEqual(invalid);
  },
);

test.each([
  ["get-status", "GET", "path"],
  ["list", "GET", "path"],
  ["read", "GET", "path"],
  ["add-block", "POST", "handle"],
  ["close", "POST", "handle"],
  ["create", "POST", "path"],
  ["delete", "POST", "path"],
  ["mkdirs", "POST", "path"],
  ["move", "POST", "source_path"],
  ["put", "POST", "path"],
])("A4.5 %s: a %s requires %s", async (call, method, field) => {
  const answer = method === "GET" ? await w.get(`fs/${call}`) : await w.post(`fs/${call}`);
  expect(refusal(answer)).toEqual(invalid);
  expect(answer.body.message).toBe(`Missing required field: ${field}`);
});

test.each([
  ["add-block", { handle: 1 }, "data"],
  ["move", { source_path: "/a" }, "destination_path"],
])("A4.5 %s: requires its second field too", async (call, body, field) => {
  expect((await w.post(`fs/${call}`, body)).body.message).toBe(`Missing required field: ${field}`);
});

test.each([
  ["add-block", { handle: "x", data: "" }],
  ["add-block", { handle: 1.5, data: "" }],
  ["add-block", { handle: 1, data: 7 }],
  ["add-block", { handle: 1, data: "%%%" }],
  ["close", { handle: "1" }],
  ["create", { path: 1 }],
  ["create", { path: "/a", overwrite: "yes" }],
  ["delete", { path: "/a", recursive: 1 }],
  ["mkdirs", { path: ["/a"] }],
  ["move", { source_path: "/a", destination_path: 1 }],
  ["put", { path: "/a", contents: 7 }],
  ["put", { path: "/a", contents: "a" }],
  ["put", { path: "/a", contents: "", overwrite: "true" }],
])("A4.5 %s: %j, which has a wrong type, is refused", async (call, body) => {
  expect(refusal(await w.post(`fs/${call}`, body))).toEqual(refused(400, "MALFORMED_REQUEST"));
});

test.each([{ offset: "x" }, { length: "1.5" }] as JsonObject[])(
  "A4.5 read: %j, which is not an INT64, is refused",
  async (range) => {
    await put("/f");
    expect(refusal(await w.get("fs/read", { path: "/f", ...range }))).toEqual(
      refused(400, "MALFORMED_REQUEST"),
    );
  },
);

// Put

test("A4.5 put, rule 2: a file is written from base64 in a JSON body and an empty object is answered", async () => {
  expect(await put("/a/b/f")).toMatchObject({ status: 200, body: {} });
  expect(await read("/a/b/f")).toBe("hello");
  expect(await paths("/")).toEqual(["/a"]);
});

test("A4.5 put: a file may be empty", async () => {
  await put("/f", "");
  expect((await w.get("fs/read", { path: "/f" })).body).toEqual({ bytes_read: 0, data: "" });
});

test("A4.5 put: neither contents nor a posted file is refused", async () => {
  const answer = await w.post("fs/put", { path: "/f" });
  expect(refusal(answer)).toEqual(invalid);
  expect(answer.body.message).toBe("Missing required field: contents");
});

test("A4.5 rule 2, put: put takes a multipart form with a file", async () => {
  const content = Uint8Array.from({ length: 256 }, (_, index) => index);
  const answer = await postForm(
    w,
    "fs/put",
    { path: "/f", overwrite: "true" },
    { contents: { name: "f", content } },
  );
  expect(answer).toMatchObject({ status: 200, body: {} });
  expect((await w.get("fs/read", { path: "/f" })).body.data).toBe(base64(content));
});

test("A4.5 rule 2: put takes a form field that holds base64", async () => {
  expect((await postForm(w, "fs/put", { path: "/f", contents: base64("form") })).status).toBe(200);
  expect(await read("/f")).toBe("form");
});

test("A4.5 rule 2: a form's fields are checked as those of a JSON body", async () => {
  expect(refusal(await postForm(w, "fs/put", { path: "/f", contents: "", overwrite: "yes" }))).toEqual(
    refused(400, "MALFORMED_REQUEST"),
  );
  expect(refusal(await postForm(w, "fs/put", { contents: "" }))).toEqual(invalid);
});

test.each([undefined, false])(
  "A7 RESOURCE_ALREADY_EXISTS: put with overwrite %s over a file",
  async (overwrite) => {
    await put("/f");
    const answer = await put("/f", "new", overwrite === undefined ? {} : { overwrite });
    expect(refusal(answer)).toEqual(exists);
    expect(answer.body.message).toBe("A file or directory already exists at the input path fs:/f");
    expect(await read("/f")).toBe("hello");
  },
);

test("A4.5 put: overwrite replaces a file, its time and its length", async () => {
  await put("/f");
  await w.advance(5000);
  expect((await put("/f", "new", { overwrite: true })).status).toBe(200);
  expect(await status("/f")).toMatchObject({ file_size: 3, modification_time: START + 5000 });
  expect(await read("/f")).toBe("new");
  expect(Object.keys(w.store.dump().$blobs ?? {})).toHaveLength(1);
});

test("A4.5 put: a directory is never overwritten", async () => {
  await put("/d/f");
  for (const path of ["/d", "/"]) expect(refusal(await put(path, "x", { overwrite: true }))).toEqual(exists);
  expect(await read("/d/f")).toBe("hello");
});

test("A4.5 put: a path through a file is refused", async () => {
  await put("/f");
  expect(refusal(await put("/f/g"))).toEqual(exists);
});

test("A4.5 rule 3, A8 limit: put takes exactly 1 MB and refuses one byte more", async () => {
  expect((await put("/f", "x".repeat(MB))).status).toBe(200);
  const answer = await put("/g", "x".repeat(MB + 1));
  expect(refusal(answer)).toEqual(refused(400, "MAX_BLOCK_SIZE_EXCEEDED"));
  expect(answer.body.message).toBe(
    "The 'contents' data cannot exceed 1048576 bytes. Found: 1048577 bytes. You might want to use streaming upload instead.",
  );
  expect(refusal(await w.get("fs/get-status", { path: "/g" }))).toEqual(missing);
});

test("A4.5 rule 3: a posted file above 1 MB is refused", async () => {
  const contents = { name: "f", content: new Uint8Array(MB + 1) };
  expect(refusal(await postForm(w, "fs/put", { path: "/f" }, { contents }))).toEqual(
    refused(400, "MAX_BLOCK_SIZE_EXCEEDED"),
  );
});

// Mkdirs

test("A4.5 rule 7, mkdirs: mkdirs creates missing parents", async () => {
  expect(await w.post("fs/mkdirs", { path: "/a/b/c" })).toMatchObject({ status: 200, body: {} });
  expect(await status("/a/b/c")).toMatchObject({ is_dir: true });
});

test("A4.5 rule 7: mkdirs of a directory that exists does nothing", async () => {
  await put("/a/f");
  for (const path of ["/a", "/"]) expect((await w.post("fs/mkdirs", { path })).status).toBe(200);
  expect(await paths("/a")).toEqual(["/a/f"]);
});

test.each(["/f", "/f/a", "/f/a/b"])("A4.5 rule 7: a file at a prefix of %s is refused", async (path) => {
  await put("/f");
  expect(refusal(await w.post("fs/mkdirs", { path }))).toEqual(exists);
  expect(await read("/f")).toBe("hello");
});

// Delete

test("A4.5 delete: a file goes, with its contents", async () => {
  await put("/a/f");
  expect(await w.post("fs/delete", { path: "/a/f" })).toMatchObject({ status: 200, body: {} });
  expect(await paths("/a")).toEqual([]);
  expect(w.store.dump().$blobs).toBeUndefined();
});

test.each([undefined, false])(
  "A4.5 rule 5: with recursive %s, a directory that holds something stays",
  async (recursive) => {
    await put("/a/f");
    const answer = await w.post("fs/delete", {
      path: "/a",
      ...(recursive === undefined ? {} : { recursive }),
    });
    expect(refusal(answer)).toEqual(refused(400, "IO_ERROR"));
    expect(await read("/a/f")).toBe("hello");
  },
);

test("A4.5 rule 5: an empty directory can be deleted without recursive", async () => {
  await w.post("fs/mkdirs", { path: "/a" });
  expect((await w.post("fs/delete", { path: "/a" })).status).toBe(200);
  expect(refusal(await w.get("fs/get-status", { path: "/a" }))).toEqual(missing);
});

test("A4.5 rule 5: a recursive delete takes all that is in a directory", async () => {
  await put("/a/b/f");
  await put("/a/g");
  expect((await w.post("fs/delete", { path: "/a", recursive: true })).status).toBe(200);
  expect(await paths("/")).toEqual([]);
  expect(w.store.dump().$blobs).toBeUndefined();
});

test("A4.5 missing path: a missing path is accepted", async () => {
  expect(await w.post("fs/delete", { path: "/none" })).toMatchObject({ status: 200, body: {} });
});

test("A4.5 root: the root cannot be deleted", async () => {
  await put("/f");
  expect(refusal(await w.post("fs/delete", { path: "/", recursive: true }))).toEqual(
    refused(400, "IO_ERROR"),
  );
  expect(await read("/f")).toBe("hello");
});

// Move

const move = (source_path: string, destination_path: string) =>
  w.post("fs/move", { source_path, destination_path });

test("A4.5 move: a file has its new path, its old contents and its old time", async () => {
  await put("/a/f");
  await w.advance(1000);
  expect(await move("/a/f", "/b/c/g")).toMatchObject({ status: 200, body: {} });
  expect(await status("/b/c/g")).toEqual({
    path: "/b/c/g",
    is_dir: false,
    file_size: 5,
    modification_time: START,
  });
  expect(await read("/b/c/g")).toBe("hello");
  expect(await paths("/a")).toEqual([]);
});

test("A4.5 rule 8: a directory is moved with all that is in it", async () => {
  await put("/a/b/f");
  await put("/a/g");
  expect((await move("/a", "/z")).status).toBe(200);
  expect(await paths("/")).toEqual(["/z"]);
  expect(await paths("/z")).toEqual(["/z/b", "/z/g"]);
  expect(await read("/z/b/f")).toBe("hello");
});

test("A4.5 rule 8: a missing source is refused", async () => {
  expect(refusal(await move("/none", "/b"))).toEqual(missing);
});

test.each(["/f", "/a/f"])("A4.5 rule 8: a file at the destination is refused (%s)", async (source) => {
  await put("/f");
  await put("/a/f");
  await put("/b", "kept");
  expect(refusal(await move(source, "/b"))).toEqual(exists);
  expect(await read("/b")).toBe("kept");
  expect(await read(source)).toBe("hello");
});

test("A7 RESOURCE_ALREADY_EXISTS, A4.5 move target: a directory as the move target", async () => {
  await put("/f");
  await put("/d/x");
  expect(refusal(await move("/f", "/d"))).toEqual(exists);
  expect(refusal(await move("/d", "/"))).toEqual(exists);
});

test("A4.5 rule 8: a destination through a file is refused", async () => {
  await put("/f");
  await put("/g");
  expect(refusal(await move("/f", "/g/x"))).toEqual(exists);
});

test.each(["/a", "/a/b/c", "/a/x"])(
  "A4.5 move target: a directory into itself (%s) is refused",
  async (destination) => {
    await put("/a/b/f");
    expect(refusal(await move("/a", destination))).toEqual(invalid);
    expect(await read("/a/b/f")).toBe("hello");
  },
);

test("A4.5 root: the root cannot be moved", async () => {
  expect(refusal(await move("/", "/a"))).toEqual(invalid);
});

test("A4.5 move: a path that only begins with the same name is not inside", async () => {
  await put("/a/f");
  expect((await move("/a", "/ab")).status).toBe(200);
  expect(await read("/ab/f")).toBe("hello");
});

// Read

test("A4.5 read: bytes_read counts the bytes before encoding", async () => {
  await put("/f", "hello");
  expect((await w.get("fs/read", { path: "/f" })).body).toEqual({ bytes_read: 5, data: "aGVsbG8=" });
});

test("A4.5 read: a range starts at offset and has length bytes", async () => {
  await put("/f", "0123456789");
  expect(await read("/f", { offset: 3, length: 4 })).toBe("3456");
  expect(await read("/f", { offset: 7 })).toBe("789");
  expect(await read("/f", { length: 0 })).toBe("");
});

test("A4.5 rule 9: a range that passes the end is read to the end", async () => {
  await put("/f", "0123456789");
  expect((await w.get("fs/read", { path: "/f", offset: 8, length: 100 })).body).toEqual({
    bytes_read: 2,
    data: base64("89"),
  });
});

test("A4.5 offset at the end: an offset at the end reads nothing, one behind it is refused", async () => {
  await put("/f", "0123456789");
  expect((await w.get("fs/read", { path: "/f", offset: 10 })).body).toEqual({ bytes_read: 0, data: "" });
  const answer = await w.get("fs/read", { path: "/f", offset: 11 });
  expect(refusal(answer)).toEqual(invalid);
  expect(answer.body.message).toBe("Cannot read when offset is greater than file size. Found offset = 11");
  expect(refusal(await w.get("fs/read", { path: "/f", offset: "9223372036854775807" }))).toEqual(invalid);
});

test("A4.5 rule 9: a missing file is refused", async () => {
  expect(refusal(await w.get("fs/read", { path: "/none" }))).toEqual(missing);
});

test("A4.5 rule 9: a directory is refused", async () => {
  await put("/d/f");
  for (const path of ["/d", "/"]) expect(refusal(await w.get("fs/read", { path }))).toEqual(invalid);
});

test.each([{ offset: -1 }, { length: -1 }] as JsonObject[])(
  "A4.5 rule 9: a negative value is refused: %j",
  async (range) => {
    await put("/f");
    expect(refusal(await w.get("fs/read", { path: "/f", ...range }))).toEqual(invalid);
  },
);

test("A4.5 read, A8 limit: a read is half a megabyte unless said otherwise", async () => {
  await put("/f", "x".repeat(MB));
  expect((await w.get("fs/read", { path: "/f" })).body.bytes_read).toBe(MB / 2);
});

test("A4.5 rule 9, A8 limit: a read of exactly 1 MB is answered, one byte more is refused", async () => {
  await put("/f", "x".repeat(MB));
  expect((await w.get("fs/read", { path: "/f", length: MB })).body.bytes_read).toBe(MB);
  const answer = await w.get("fs/read", { path: "/f", length: MB + 1 });
  expect(refusal(answer)).toEqual(refused(400, "MAX_READ_SIZE_EXCEEDED"));
  expect(answer.body.message).toBe(
    "Cannot read more than 1048576 bytes in one read, please paginate your request. Request: 1048577 bytes.",
  );
});

// Others

test("A5 rule 7: users without administrator rights may use the file system", async () => {
  const as = await w.user("bo@example.com");
  expect((await w.post("fs/put", { path: "/f", contents: "" }, { as })).status).toBe(200);
  expect((await w.get("fs/read", { path: "/f" }, { as })).status).toBe(200);
});

test("files are there after a restart, with their contents", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "workspace-files-"));
  try {
    w = await startWorld({ dataDir });
    await put("/a/f");
    await move("/a", "/b");
    w.close();
    w = await startWorld({ dataDir });
    expect(await paths("/b")).toEqual(["/b/f"]);
    expect(await read("/b/f")).toBe("hello");
    w.close();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
