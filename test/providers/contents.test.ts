// Directories, notebooks and files: found by folder, compared by content, written so that nothing half-done is seen.

import { describe, expect, test } from "vitest";
import { digest } from "../../src/core/digest.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { directories } from "../../src/providers/directories.ts";
import { files } from "../../src/providers/files.ts";
import { contentDigest } from "../../src/providers/kit/notebook-cells.ts";
import { notebooks } from "../../src/providers/notebooks.ts";
import type { Values } from "../../src/resource/field-schema.ts";
import { type Provider, sizeAndDigest } from "../../src/resource/kind.ts";
import type { OperationWriter, Payload } from "../../src/resource/operations.ts";
import { journalFolder, stateFile } from "../../src/state/backends/workspace-file/files.ts";
import { lockFile } from "../../src/state/lock/claim-file.ts";
import {
  create,
  diffs,
  diffsAfter,
  liveObject,
  lookAt,
  planned,
  refused,
  remove,
  scripted,
  startWorkspace,
  type update,
} from "./workspace.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const payloadOf = (bytes: Uint8Array): Payload => ({ digest: digest(bytes), bytes: () => bytes });

/** The values and the payload as the spec makes them of a file. */
function declared(provider: Provider, bytes: Uint8Array, said: Values = {}) {
  const content =
    provider.planning.content?.digest?.(bytes, said) ?? sizeAndDigest(bytes.length, digest(bytes));
  return { values: { ...said, content }, payload: payloadOf(bytes) };
}

/** The planner's view of one object: found in the list, then read with the desired values. */
async function observed(provider: Provider, api: OperationWriter, name: string, desired: Values) {
  const all = await provider.operations.list(api, { parents: [], names: new Set([name]) });
  const live = all.find((one) => one.name === name);
  return live === undefined
    ? undefined
    : ((await provider.operations.readDetails?.(api, live, desired)) ?? live);
}

const writes = (sent: readonly { readonly operation: string }[]) => sent.map((one) => one.operation);

describe("directories", () => {
  test("a directory is made, found by its folder, and made again without harm", async () => {
    const { api } = await startWorkspace();
    await create(directories, api, "/Shared/etl", {});
    await create(directories, api, "/Shared/etl", {});
    const live = await observed(directories, api, "/Shared/etl", {});
    expect(live === undefined ? undefined : diffs(directories, live, "/Shared/etl", {})).toEqual([]);
    expect((await directories.operations.read(api, live?.id ?? liveObject("", {}).id))?.name).toBe(
      "/Shared/etl",
    );
  });

  test("each folder with known objects is read once, and no other", async () => {
    const { api, reads } = scripted({ "workspace/list": {} });
    const names = new Set(["/Shared/a", "/Shared/b", "/Shared/a/c", "/x"]);
    await directories.operations.list(api, { parents: [], names });
    expect(reads.map((one) => one.input.path)).toEqual(["/", "/Shared", "/Shared/a"]);
  });

  test("a folder that is not there holds nothing", async () => {
    const { api } = await startWorkspace();
    expect(await observed(directories, api, "/no/where", {})).toBeUndefined();
    expect(await directories.operations.read(api, liveObject("/no/where", {}).id)).toBeUndefined();
  });

  test("without known names the whole tree is read", async () => {
    const { api } = await startWorkspace();
    await create(directories, api, "/Shared/a/b", {});
    const found = await directories.operations.list(api, { parents: [], names: new Set() });
    expect(found.map((one) => one.name)).toEqual(
      expect.arrayContaining(["/Shared", "/Shared/a", "/Shared/a/b"]),
    );
  });

  test("a directory with unmanaged objects is neither planned for deletion nor deleted", async () => {
    const { world, api } = await startWorkspace();
    await create(directories, api, "/Shared/etl", {});
    await world.post("workspace/import", {
      path: "/Shared/etl/theirs",
      language: "PYTHON",
      content: btoa("1"),
    });
    const listed = await directories.operations.list(api, { parents: [], names: new Set(["/Shared/etl"]) });
    const live = listed.find((one) => one.name === "/Shared/etl") ?? liveObject("", {});
    const going = (await directories.operations.readDetails?.(api, live, undefined)) ?? live;
    const change = planned(directories, "delete", going);
    expect(directories.planning.objections?.(change, lookAt({}))?.[0]?.message).toMatch(
      /contains objects that this plan does not delete: theirs$/,
    );
    expect(
      directories.planning.objections?.(change, lookAt({ goes: ["notebooks./Shared/etl/theirs"] })),
    ).toEqual([]);
    await expect(remove(directories, api, going)).rejects.toMatchObject({ code: "DIRECTORY_NOT_EMPTY" });
    await world.post("workspace/delete", { path: "/Shared/etl/theirs" });
    await remove(directories, api, going);
    await remove(directories, api, going);
    expect(await directories.operations.read(api, going.id)).toBeUndefined();
  });

  test("folders that the plan empties, and empty ones, are deleted with their directory", async () => {
    const { world, api } = await startWorkspace();
    await create(directories, api, "/Shared/etl", {});
    await world.post("workspace/mkdirs", { path: "/Shared/etl/deep/er" });
    const content = { path: "/Shared/etl/deep/er/ours", language: "PYTHON", content: btoa("1") };
    await world.post("workspace/import", content);
    const live = liveObject("/Shared/etl", {});
    const going = (await directories.operations.readDetails?.(api, live, undefined)) ?? live;
    const ours = lookAt({ goes: ["notebooks./Shared/etl/deep/er/ours"] });
    expect(directories.planning.objections?.(planned(directories, "delete", going), ours)).toEqual([]);
    expect(directories.planning.objections?.(planned(directories, "delete", going), lookAt({}))).toHaveLength(
      1,
    );
    expect(directories.planning.consequences?.(planned(directories, "delete", going), ours)).toEqual([]);
    await world.post("workspace/mkdirs", { path: "/Shared/etl/empty" });
    const both = (await directories.operations.readDetails?.(api, live, undefined)) ?? live;
    const change = planned(directories, "delete", both);
    expect(directories.planning.objections?.(change, ours)).toEqual([]);
    expect(directories.planning.consequences?.(change, ours)).toEqual([
      "empty folders in it are deleted too: /Shared/etl/empty",
    ]);
    await world.post("workspace/delete", { path: content.path });
    await expect(remove(directories, api, going)).rejects.toMatchObject({ code: "DIRECTORY_NOT_EMPTY" });
    await remove(directories, api, both);
    expect(await directories.operations.read(api, going.id)).toBeUndefined();
  });

  test("paths are checked, and folders above are needed", () => {
    expect(directories.planning.validate?.({}, "/Shared/etl")).toEqual([]);
    for (const path of ["Shared", "/a//b", "/a/", "/a/../b", "/./a", "/"])
      expect(directories.planning.validate?.({}, path), path).toHaveLength(1);
    expect(directories.planning.dependencies?.("/a/b/c", {})).toEqual([
      { kind: "directories", name: "/a/b" },
      { kind: "directories", name: "/a" },
    ]);
  });
});

const SOURCE = "print(1)\r\n\r\n# COMMAND ----------\r\n\r\n# MAGIC %md hello\r\n\r\n\r\n";
const JUPYTER = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 2,
  metadata: { kernelspec: { language: "python", name: "python3", display_name: "x" } },
  cells: [
    {
      cell_type: "code",
      source: ["print(1)\n", "print(2)\n"],
      outputs: [{ text: "x" }],
      execution_count: 3,
      metadata: {},
    },
    { cell_type: "markdown", source: "# Hi", metadata: {} },
  ],
});

describe("notebooks", () => {
  const cases = async (): Promise<readonly (readonly [string, Values, Uint8Array])[]> => {
    const { world, api } = await startWorkspace();
    await create(notebooks, api, "/Shared/n", { language: "PYTHON" }, payloadOf(bytesOf("print(1)")));
    const exported = async (format: string) => {
      const { body } = await world.get("workspace/export", { path: "/Shared/n", format });
      return Uint8Array.from(atob(body.content), (letter) => letter.charCodeAt(0));
    };
    return [
      ["SOURCE", { language: "PYTHON", format: "SOURCE" }, bytesOf(SOURCE)],
      ["JUPYTER", { format: "JUPYTER" }, bytesOf(JUPYTER)],
      ["HTML", { format: "HTML" }, await exported("HTML")],
      ["DBC", { format: "DBC" }, await exported("DBC")],
    ];
  };

  test("an import followed by a plan is empty for each format, and a change by others is seen", async () => {
    for (const [format, said, bytes] of await cases()) {
      const { world, api } = await startWorkspace();
      const name = "/Shared/nightly";
      const { values, payload } = declared(notebooks, bytes, said);
      await create(notebooks, api, name, values, payload);
      const live = await observed(notebooks, api, name, values);
      if (live === undefined) throw new Error(`${format} is not there`);
      const recorded = { applied: values, seen: { ...live.values, ...live.facts } };
      expect(diffsAfter(notebooks, live, name, values, recorded), format).toEqual([]);
      await world.post("workspace/delete", { path: name });
      await world.post("workspace/import", { path: name, language: "PYTHON", content: btoa("print(666)") });
      const moved = await observed(notebooks, api, name, values);
      if (moved === undefined) throw new Error(`${format} is not there`);
      const found = diffsAfter(notebooks, moved, name, values, recorded);
      expect(
        found.map((diff) => [diff.path.join("."), diff.cause]),
        format,
      ).toEqual([[format === "SOURCE" || format === "JUPYTER" ? "content" : "imported", "drift"]]);
      await updated(api, name, values, moved, payload);
      const back = await observed(notebooks, api, name, values);
      expect(
        back === undefined ? undefined : diffsAfter(notebooks, back, name, values, recorded),
        format,
      ).toEqual([]);
    }
  });

  const updated = (
    api: OperationWriter,
    name: string,
    values: Values,
    live: Parameters<typeof update>[2],
    payload: Payload,
  ) =>
    notebooks.operations.update(api, {
      address: "notebooks.x" as never,
      id: live.id,
      name,
      values: notebooks.planning.normalize?.(values) ?? values,
      before: live.values,
      live,
      token: "t",
      steps: [],
      payload,
    });

  test("a changed source in the spec is seen by each format", async () => {
    for (const [format, said, bytes] of await cases()) {
      const { api } = await startWorkspace();
      const name = "/Shared/nightly";
      const old = declared(notebooks, bytes, said);
      await create(notebooks, api, name, old.values, old.payload);
      const live = await observed(notebooks, api, name, old.values);
      const fresh = declared(
        notebooks,
        bytesOf(format === "JUPYTER" ? JUPYTER.replace("(1)", "(9)") : "x"),
        said,
      );
      const seen = { ...live?.values, ...live?.facts };
      if (live === undefined) throw new Error(`${format} is not there`);
      const found = diffsAfter(notebooks, live, name, fresh.values, { applied: old.values, seen });
      expect(
        found.map((diff) => diff.cause),
        format,
      ).toEqual(["spec"]);
    }
  });

  const source = (text: string, language = "PYTHON") => contentDigest(bytesOf(text), "SOURCE", language);
  const jupyter = (cells: readonly JsonObject[]) =>
    contentDigest(bytesOf(JSON.stringify({ nbformat: 4, metadata: {}, cells })), "JUPYTER", undefined);

  test("a source that another header, line ending or blank line says is the same", () => {
    expect(source("# Databricks notebook source\nprint(1)\n")).toBe(source("print(1)"));
    expect(source("-- Workspace notebook source\n\nselect 1\n\n", "SQL")).toBe(source("select 1", "SQL"));
    expect(source("// NOTEBOOK SOURCE\r\nval a = 1\r\n", "SCALA")).toBe(source("val a = 1", "SCALA"));
    expect(source("\uFEFFprint(1)")).toBe(source("print(1)"));
    expect(source("a\n# COMMAND ----------\nb")).toBe(source("a\n\n# COMMAND ----------\n\nb\n"));
    expect(source("\n\n")).toBe(source(""));
    expect(source("# MAGIC %md # hi\n# MAGIC you")).toBe(source("# MAGIC %md\n# MAGIC # hi\n# MAGIC you"));
  });

  test("a Jupyter file is the same as the source that says the same, without its outputs", () => {
    const cells: readonly JsonObject[] = [
      {
        cell_type: "code",
        source: ["a\n", "b\n"],
        outputs: ["x"],
        execution_count: 9,
        id: "z",
        metadata: {},
      },
      { cell_type: "markdown", source: "# hi\n\nyou", metadata: { title: "Hello" } },
      { cell_type: "code", source: "%sql\nselect 1" },
    ];
    const same =
      "a\nb\n# COMMAND ----------\n# DBTITLE 1,Hello\n# MAGIC %md\n# MAGIC # hi\n# MAGIC\n# MAGIC you\n# COMMAND ----------\n# MAGIC %sql\n# MAGIC select 1";
    expect(jupyter(cells)).toBe(source(same));
    expect(jupyter([{ cell_type: "code", source: [] }])).toBe(source(""));
  });

  test("what a notebook says differs when its text, its cells or their order differ", () => {
    const texts = [
      "a",
      "b",
      "a\n# COMMAND ----------\nb",
      "b\n# COMMAND ----------\na",
      "  a",
      "a\n\nb",
      "a\nb",
      "# MAGIC %md a",
      "# DBTITLE 1,x\na",
    ];
    expect(new Set(texts.map((text) => source(text))).size).toBe(texts.length);
    for (const text of ["no json", "[]"])
      expect(contentDigest(bytesOf(text), "JUPYTER", undefined)).toBe(digest(text));
  });

  test("a notebook that is too large to export differs, and hides no other", async () => {
    const entry = { object_type: "NOTEBOOK", path: "/n", language: "SQL" };
    const { api } = scripted({
      "workspace/list": { objects: [entry] },
      "workspace/export": refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED"),
    });
    const { values } = declared(notebooks, bytesOf("1"), { language: "SQL" });
    const live = await observed(notebooks, api, "/n", values);
    expect(live === undefined ? undefined : diffs(notebooks, live, "/n", values)).toHaveLength(1);
  });

  test("an import creates a missing unmanaged folder after it is refused", async () => {
    const { api, sent } = await startWorkspace();
    const { values, payload } = declared(notebooks, bytesOf("1"), { language: "PYTHON" });
    await create(notebooks, api, "/team/n", values, payload);
    expect(writes(sent)).toEqual(["workspace/import", "workspace/mkdirs", "workspace/import"]);
  });

  test("a new notebook never overwrites one that appeared meanwhile", async () => {
    const { api } = await startWorkspace();
    const { values, payload } = declared(notebooks, bytesOf("1"), { language: "PYTHON" });
    await create(notebooks, api, "/Shared/n", values, payload);
    await expect(create(notebooks, api, "/Shared/n", values, payload)).rejects.toMatchObject({
      code: "RESOURCE_ALREADY_EXISTS",
    });
  });

  test("an archive of several notebooks is reported as an archive", async () => {
    const { world, api } = await startWorkspace();
    await create(directories, api, "/Shared/d", {});
    for (const name of ["a", "b"])
      await world.post("workspace/import", {
        path: `/Shared/d/${name}`,
        language: "SQL",
        content: btoa("1"),
      });
    const { body } = await world.get("workspace/export", { path: "/Shared/d", format: "DBC" });
    const bytes = Uint8Array.from(atob(body.content), (letter) => letter.charCodeAt(0));
    const { values, payload } = declared(notebooks, bytes, { format: "DBC" });
    await expect(create(notebooks, api, "/Shared/e", values, payload)).rejects.toThrow(
      "more than one notebook",
    );
  });

  test("language and format fit together", () => {
    const codes = (values: Values) => notebooks.planning.validate?.(values, "/n").map((one) => one.code);
    expect(codes({ format: "SOURCE", language: "SQL" })).toEqual([]);
    expect(codes({ language: "SQL" })).toEqual([]);
    expect(codes({ format: "SOURCE" })).toEqual(["SPEC_MISSING_FIELD"]);
    expect(codes({ format: "JUPYTER" })).toEqual([]);
    expect(codes({ format: "DBC", language: "SQL" })).toEqual(["SPEC_COMBINATION"]);
  });

  test("the plan says that an archive is replaced", () => {
    const live = liveObject("/n", {});
    const change = { ...planned(notebooks, "update", live, { format: "DBC", content: "d" }) };
    expect(change.steps.map((step) => step.operation)).toEqual(["delete", "import"]);
    expect(notebooks.planning.consequences?.(change, lookAt({}))).toHaveLength(1);
  });

  test("a notebook that goes is deleted, and twice is fine", async () => {
    const { api } = await startWorkspace();
    const { values, payload } = declared(notebooks, bytesOf("1"), { language: "R" });
    await create(notebooks, api, "/Shared/n", values, payload);
    const live = await observed(notebooks, api, "/Shared/n", values);
    if (live === undefined) throw new Error("it does not exist");
    await remove(notebooks, api, live);
    await remove(notebooks, api, live);
    expect(await notebooks.operations.read(api, live.id)).toBeUndefined();
  });
});

describe("files", () => {
  const MEGABYTE = 1024 * 1024;
  const large = Uint8Array.from({ length: 2.5 * MEGABYTE }, (_, at) => (at * 31 + (at >> 8)) % 256);

  test("a file of any size reads back as written, and a change of one byte is detected", async () => {
    for (const bytes of [bytesOf(""), bytesOf("#!/bin/sh\n"), large.subarray(0, MEGABYTE), large]) {
      const { world, api } = await startWorkspace();
      const { values, payload } = declared(files, bytes);
      await create(files, api, "/init/a", values, payload);
      const live = await observed(files, api, "/init/a", values);
      expect(live === undefined ? undefined : diffs(files, live, "/init/a", values)).toEqual([]);
      if (bytes.length === 0 || bytes.length > MEGABYTE) continue;
      const other = Uint8Array.from(bytes);
      other[0] = (other[0] ?? 0) ^ 1;
      const contents = Buffer.from(other).toString("base64");
      await world.post("fs/put", { path: "/init/a", contents, overwrite: true });
      const moved = await observed(files, api, "/init/a", values);
      expect(moved === undefined ? undefined : diffs(files, moved, "/init/a", values)).toHaveLength(1);
    }
  });

  test("a file of more than a megabyte is written to a temporary path in blocks, verified, then moved", async () => {
    const { api, sent } = await startWorkspace();
    const old = declared(files, bytesOf("old"));
    await create(files, api, "/init/a", old.values, old.payload);
    sent.length = 0;
    const { values, payload } = declared(files, large);
    const live = await observed(files, api, "/init/a", values);
    if (live === undefined) throw new Error("it does not exist");
    await files.operations.update(api, {
      address: "files./init/a" as never,
      id: live.id,
      name: "/init/a",
      values,
      before: live.values,
      live,
      token: "tok",
      steps: [],
      payload,
    });
    expect(writes(sent)).toEqual([
      "fs/create",
      "fs/add-block",
      "fs/add-block",
      "fs/add-block",
      "fs/close",
      "fs/delete",
      "fs/move",
    ]);
    expect(sent[0]?.input.path).toBe("/init/a.tok.part");
    const after = await observed(files, api, "/init/a", values);
    expect(after === undefined ? undefined : diffs(files, after, "/init/a", values)).toEqual([]);
    expect(
      (await files.operations.list(api, { parents: [], names: new Set(["/init/a"]) })).map((one) => one.name),
    ).toEqual(["/init/a"]);
  });

  test("a block that is lost fails the upload, and the file that was there stays", async () => {
    const { world, api } = await startWorkspace();
    await world.post("fs/put", { path: "/init/a", contents: btoa("old") });
    let blocks = 0;
    const lossy: OperationWriter = {
      ...api,
      write: (operation, input) => {
        if (operation === "fs/add-block" && ++blocks === 2) return Promise.resolve({});
        return api.write(operation, input);
      },
    };
    const { values, payload } = declared(files, large);
    const task = { address: "files./init/a" as never, name: "/init/a", values, token: "tok", payload };
    const live = liveObject("/init/a", {});
    await expect(
      files.operations.update(lossy, { ...task, id: live.id, live, before: {}, steps: [] }),
    ).rejects.toThrow("does not match the file");
    const { body } = await world.get("fs/list", { path: "/init" });
    expect(body.files.map((one: JsonObject) => [one.path, one.file_size])).toEqual([["/init/a", 3]]);
  });

  test("a block that arrives with another content fails the upload, and the file that was there stays", async () => {
    const { world, api } = await startWorkspace();
    await world.post("fs/put", { path: "/init/a", contents: btoa("old") });
    let blocks = 0;
    const garbling: OperationWriter = {
      ...api,
      write: (operation, input) => {
        if (operation !== "fs/add-block" || ++blocks !== 2) return api.write(operation, input);
        const data = Uint8Array.from(input.data as Uint8Array);
        data[data.length - 1] = (data.at(-1) ?? 0) ^ 1;
        return api.write(operation, { ...input, data });
      },
    };
    const { values, payload } = declared(files, large);
    const task = { address: "files./init/a" as never, name: "/init/a", values, token: "tok", payload };
    const live = liveObject("/init/a", {});
    await expect(
      files.operations.update(garbling, { ...task, id: live.id, live, before: {}, steps: [] }),
    ).rejects.toThrow("the uploaded content of /init/a does not match the file");
    const { body } = await world.get("fs/list", { path: "/init" });
    expect(body.files.map((one: JsonObject) => [one.path, one.file_size])).toEqual([["/init/a", 3]]);
  });

  test("parts of other uploads are not changed; the kind knows the path of its part", async () => {
    const { world, api } = await startWorkspace();
    await world.post("fs/put", { path: "/init/a.other.part", contents: btoa("x") });
    const { values, payload } = declared(files, large);
    await create(files, api, "/init/a", values, payload);
    const { body } = await world.get("fs/list", { path: "/init" });
    expect(body.files.map((one: JsonObject) => one.path)).toEqual(["/init/a", "/init/a.other.part"]);
    expect(files.planning.content?.partialUploadName?.("/init/a", "tok")).toBe("/init/a.tok.part");
  });

  test("a new file never overwrites one that appeared meanwhile, small or large", async () => {
    for (const bytes of [bytesOf("x"), large]) {
      const { world, api } = await startWorkspace();
      await world.post("fs/put", { path: "/init/a", contents: btoa("theirs") });
      const { values, payload } = declared(files, bytes);
      await expect(create(files, api, "/init/a", values, payload)).rejects.toMatchObject({
        code: "RESOURCE_ALREADY_EXISTS",
      });
      const listed = await world.get("fs/list", { path: "/init" });
      expect(listed.body.files).toHaveLength(1);
    }
  });

  test("paths with a scheme, folders next to files, and a file that ends early", async () => {
    const entries = [
      { path: "fs:/a", is_dir: false, file_size: 2 },
      { path: "fs:/d", is_dir: true, file_size: 0 },
    ];
    const { api } = scripted({
      "fs/list": { files: entries },
      "fs/read": { bytes_read: 0, data: "" },
      "fs/get-status": refused(404, "RESOURCE_DOES_NOT_EXIST"),
    });
    const { values } = declared(files, bytesOf("ab"));
    expect(
      (await files.operations.list(api, { parents: [], names: new Set(["/a"]) })).map((one) => one.name),
    ).toEqual(["/a"]);
    await expect(observed(files, api, "/a", values)).rejects.toThrow("ended at 0 of 2 bytes");
    expect(await files.operations.read(api, liveObject("/a", {}).id)).toBeUndefined();
  });

  test("a range of which the service answers a part is read on where that part ends", async () => {
    const text = "abcdef";
    const { api, reads } = scripted({
      "fs/list": { files: [{ path: "/a", is_dir: false, file_size: text.length }] },
      "fs/read": ({ offset }) => {
        const part = text.slice(Number(offset), Number(offset) + 4);
        return { bytes_read: part.length, data: btoa(part) };
      },
    });
    const { values } = declared(files, bytesOf(text));
    expect((await observed(files, api, "/a", values))?.values).toEqual(values);
    const ranges = reads.filter(({ operation }) => operation === "fs/read");
    expect(ranges.map(({ input }) => [input.offset, input.length])).toEqual([
      [0, 6],
      [4, 2],
    ]);
  });

  test("deleting a file twice is fine", async () => {
    const { api } = await startWorkspace();
    const { values, payload } = declared(files, bytesOf("x"));
    await create(files, api, "/init/a", values, payload);
    const live = await observed(files, api, "/init/a", values);
    if (live === undefined) throw new Error("it does not exist");
    await remove(files, api, live);
    await remove(files, api, live);
    expect(await observed(files, api, "/init/a", values)).toBeUndefined();
  });
});

test("of the folder of a state, exports and plans contain only the files that the spec or the state names", async () => {
  const { api, world } = await startWorkspace();
  const base = { serial: 1, fence: 2 };
  const put = (path: string) => world.post("fs/put", { path, contents: "" });
  const states = [
    ["/a", stateFile(base)],
    ["/b", `${journalFolder({ fence: 1, epoch: 2, base })}/0`],
  ] as const;
  for (const [folder, file] of states) {
    await put(`${folder}/state.txt`);
    await put(`${folder}/${file}`);
    await put(`${folder}/${lockFile(1)}`);
  }
  await put(`/c/${lockFile(1)}`);
  const all = await files.operations.list(api, { parents: [], names: new Set() });
  expect(all.map(({ name }) => name)).toEqual(["/c/lock.1"]);
  const declared = await files.operations.list(api, {
    parents: [],
    names: new Set(["/a/state.txt", "/a/new"]),
  });
  expect(declared.map(({ name }) => name)).toEqual(["/a/state.txt"]);
});
