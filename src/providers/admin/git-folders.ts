// Git folders in the Databricks dialect: clones of repositories in the workspace tree.

import { allPages, type ReadPage } from "../../api/contract/pages.ts";
import type { Reader } from "../../api/contract/reader.ts";
import { remoteId } from "../../core/address.ts";
import { defined, type JsonObject, omit } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { folderOf, plainTreePath } from "../../resource/names.ts";
import type { ListScope } from "../../resource/operations.ts";
import type { Problem } from "../../resource/planning.ts";
import { defineProvider, groupField, listField, required, textField } from "../kit/field-builders.ts";
import { aliasProblems, PATH_IDENTITY, pathProblems, withUnlisted } from "../kit/names.ts";
import { losesId, problem } from "../kit/problems.ts";
import { createdId, ignoreMissing, keyIn, liveIfPresent } from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";

const fields = {
  url: required(
    textField({ onChange: "replace", minLength: 1, description: "HTTPS address of the repository." }),
  ),
  provider: required(
    textField({
      onChange: "replace",
      ignoreCase: true,
      minLength: 1,
      description: "Git provider, such as gitHub, gitLab, or azureDevOpsServices.",
    }),
  ),
  branch: textField({
    serverDefault: true,
    minLength: 1,
    description: "Branch that is checked out. A change also pulls. New commits alone are never pulled.",
  }),
  tag: textField({
    writeOnly: true,
    minLength: 1,
    description: "Tag that is checked out, in the place of a branch. The service never returns it.",
  }),
  sparse_checkout: groupField(
    {
      patterns: listField(textField({ minLength: 1, description: "A pattern of a folder." }), {
        onChange: "update",
        description: "Folders of the repository to check out. They can be changed in place.",
      }),
    },
    {
      onChange: "replace",
      description: "Part of the repository to check out, instead of all of it.",
    },
  ),
};

const READ_ONLY = new Set(["id", "path", "head_commit_id"]);

function toLive(answer: JsonObject): LiveObject {
  const name = plainTreePath(keyIn(answer, "path"));
  const live = { id: remoteId(keyIn(answer, "id")), name, values: normalizeLive(fields, answer), facts: {} };
  return withUnknownFields(live, fields, answer, READ_ONLY);
}

const below = async (api: Reader, path_prefix: string): Promise<readonly LiveObject[]> => {
  const page: ReadPage = ({ page_token: next_page_token }) =>
    api.read("repos/list", defined({ path_prefix, next_page_token }));
  const repos = { operation: "repos/list", member: "repos", last: "no token", page } as const;
  return (await allPages(repos, "id")).map(toLive);
};

/** Those below `/Repos`, and those in the folders of known names. */
async function list(api: Reader, scope: ListScope): Promise<readonly LiveObject[]> {
  const folders = [...scope.names].map(folderOf).filter((folder) => !/^\/Repos(\/|$)/.test(folder));
  const lists = await Promise.all([...new Set(["/Repos", ...folders])].map((folder) => below(api, folder)));
  const all = new Map(lists.flat().map((live) => [live.id, live]));
  return withUnlisted([...all.values()], scope, (id) => read(api, id));
}

const read = (api: Reader, id: string): Promise<LiveObject | undefined> =>
  liveIfPresent(() => api.read("repos/get", { id }), toLive);

function check(values: Values, name: string): readonly Problem[] {
  if (values.branch !== undefined && values.tag !== undefined)
    return [problem("SPEC_COMBINATION", ["tag"], "branch and tag cannot be used together")];
  return [...pathProblems(name, "Git folder"), ...aliasProblems(name)];
}

export const repos = defineProvider({
  kind: "repos",
  dialect: "databricks",
  singular: "Git folder",
  description: "Git folders: repositories that are cloned into the workspace tree.",
  fields,
  severity: "availability",
  ...PATH_IDENTITY,
  idAttribute: "id",
  numbered: true,
  tree: { root: "workspace", folders: false },

  planning: {
    validate: check,
    dependencies: (name) => [{ kind: "directories", name: folderOf(name) }],
    consequences(change) {
      if (change.action === "update" || change.action === "create") return [];
      return [
        "changes in the Git folder that are not committed and pushed are lost",
        ...losesId(change, "Git folder"),
      ];
    },
  },

  operations: {
    list,
    read,
    async create(api, { name, values }) {
      const { branch, tag, ...head } = values;
      await api.write("workspace/mkdirs", { path: folderOf(name) });
      const id = createdId(await api.write("repos/create", { path: name, ...head }), "id");
      if (branch === undefined && tag === undefined) return id;
      await api.created(id);
      await api.write("repos/update", defined({ id, branch, tag }));
      return id;
    },
    async update(api, { id, values, before }) {
      const { branch, tag, sparse_checkout } = omit(values, ["url", "provider"]);
      const present = tag === undefined ? (branch ?? before.branch) : undefined;
      await api.write("repos/update", defined({ id, branch: present, tag, sparse_checkout }));
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("repos/delete", { id })),
  },
});
