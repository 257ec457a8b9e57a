// Notebooks (contract A 2.6 and contract A 4.4), compared by their cells.

import type { Reader } from "../api/contract/reader.ts";
import { type RemoteId, remoteId } from "../core/address.ts";
import { error, Failure } from "../core/diagnostic.ts";
import { defined, type Json, type JsonObject } from "../core/json.ts";
import type { Values } from "../resource/field-schema.ts";
import type { LiveObject } from "../resource/live.ts";
import type { OperationWriter, Task } from "../resource/operations.ts";
import type { Problem } from "../resource/planning.ts";
import { choiceField, defineProvider, sourceFields, textField } from "./kit/field-builders.ts";
import { aliasProblems, PATH_IDENTITY, pathProblems } from "./kit/names.ts";
import {
  contentDigest,
  contentText,
  isReadable,
  SOURCE_FORMATS,
  sourceFormat,
} from "./kit/notebook-cells.ts";
import { contentBytes, liveIfPresent, objectTypeOf } from "./kit/responses.ts";
import {
  exportedBytes,
  exportedDigest,
  foldersOf,
  importInto,
  removeFromTree,
  treeObject,
  treeObjects,
} from "./kit/tree-objects.ts";

const fields = {
  ...sourceFields("notebook"),
  format: choiceField(SOURCE_FORMATS, {
    severity: "other",
    writeOnly: true,
    requestOption: true,
    default: "SOURCE",
    description: "Format of the file; inferred from the extension .py .scala .sql .r .ipynb .html .dbc.",
  }),
  language: choiceField(["SCALA", "PYTHON", "SQL", "R"], {
    severity: "other",
    serverDefault: true,
    description: "Language of a SOURCE notebook; inferred from the extension. Other formats contain it.",
  }),
  content: textField({
    severity: "other",
    whenAbsent: "unmanaged",
    description: "Digest of the notebook's cells, the same in every format.",
  }),
  imported: textField({
    severity: "other",
    writeOnly: true,
    witness: "exported",
    description:
      "Digest of an HTML or DBC file as imported. The service does not return such a file unchanged, so changes are detected in its cells.",
  }),
};

const isNotebook = (entry: JsonObject): boolean => objectTypeOf(entry) === "NOTEBOOK";

const toLive = (entry: JsonObject): LiveObject | undefined =>
  treeObject(entry, "NOTEBOOK", fields, defined({ language: entry.language }));

function check(values: Values, name: string): readonly Problem[] {
  const format = sourceFormat(values.format);
  const problems: Problem[] = [...pathProblems(name, "notebook")];
  if (format === "SOURCE" && values.language === undefined)
    problems.push({ path: [], code: "SPEC_MISSING_FIELD", message: "a SOURCE notebook requires a language" });
  if (format !== "SOURCE" && values.language !== undefined)
    problems.push({
      path: ["language"],
      code: "SPEC_COMBINATION",
      message: `a ${format} file contains its language`,
      hint: "remove language",
    });
  return problems;
}

/** The cells of an archive cannot be read, so its digest is compared with the digest of the import. */
function normalize(values: Values): Values {
  if (values.format === undefined || isReadable(sourceFormat(values.format)) || values.content === undefined)
    return values;
  const { content, ...rest } = values;
  return { ...rest, imported: content };
}

/** The cells of the live notebook, by its export as SOURCE: whatever is wanted, so that every look gives the same. */
async function hydrate(api: Reader, live: LiveObject): Promise<LiveObject> {
  const digestOf = (bytes: Uint8Array): string => contentDigest(bytes, "SOURCE", live.values.language);
  const content = await exportedDigest(api, live.name, digestOf);
  return { ...live, values: { ...live.values, content }, facts: { ...live.facts, exported: content } };
}

type Body = { readonly [field: string]: Json | Uint8Array };

function body(task: Task, overwrite: boolean): Body {
  const format = sourceFormat(task.values.format);
  const language: Body =
    format === "SOURCE" && task.values.language !== undefined ? { language: task.values.language } : {};
  return { path: task.name, format, ...language, content: contentBytes(task), overwrite };
}

async function create(api: OperationWriter, task: Task): Promise<RemoteId> {
  await importInto(api, task.name, body(task, false));
  if (sourceFormat(task.values.format) === "DBC") await mustBeNotebook(api, task);
  return remoteId(task.name);
}

async function mustBeNotebook(api: OperationWriter, task: Task): Promise<void> {
  const entry = await api.read("workspace/get-status", { path: task.name });
  if (isNotebook(entry)) return;
  throw new Failure(
    error("APPLY_VERIFY", `the archive of ${task.address} contains more than one notebook`, {
      address: task.address,
      hint: "import each notebook separately, and delete the folder that this import created",
    }),
  );
}

export const notebooks = defineProvider({
  kind: "notebooks",
  singular: "notebook",
  description: "Notebooks in the workspace, imported from files in the spec's folder.",
  fields,
  severity: "availability",
  ...PATH_IDENTITY,
  tree: { root: "workspace", folders: false },

  planning: {
    validate: check,
    validateIn: { databricks: (_values, name) => aliasProblems(name) },
    dependencies: foldersOf,
    normalize,
    placeOf: (path) => ({ place: path[0] === "imported" ? ["content"] : path }),
    steps: (_diffs, _live, after) =>
      sourceFormat(after.format) === "DBC"
        ? [{ operation: "delete" }, { operation: "import" }]
        : [{ operation: "import" }],
    consequences: (change) =>
      change.steps.some((step) => step.operation === "delete")
        ? ["an archive cannot overwrite a notebook, so the notebook is deleted and imported again"]
        : [],
    content: {
      digest: (bytes, values) => contentDigest(bytes, sourceFormat(values.format), values.language),
      text: (bytes, values) => contentText(bytes, sourceFormat(values.format), values.language),
    },
  },

  operations: {
    list: (api, scope) => treeObjects(api, scope, toLive),
    readDetails: hydrate,
    async *readContent(api, live) {
      yield await exportedBytes(api, live.name);
    },
    read: (api, id) => liveIfPresent(() => api.read("workspace/get-status", { path: id }), toLive),
    create,
    async update(api, task) {
      if (sourceFormat(task.values.format) !== "DBC") return importInto(api, task.name, body(task, true));
      const request = body(task, false);
      await removeFromTree(api, task.id);
      await importInto(api, task.name, request);
    },
    async delete(api, { id }) {
      await removeFromTree(api, id);
    },
  },
});
