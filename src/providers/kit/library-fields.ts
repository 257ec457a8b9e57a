// The forms of a library: as clusters, tasks, and cluster policies list them.

import { isObject, type Json } from "../../core/json.ts";
import { plainTreePath } from "../../resource/names.ts";
import type { Problem } from "../../resource/planning.ts";
import { groupField, listField, required, textField } from "./field-builders.ts";
import { problem } from "./problems.ts";

interface NamedFile {
  readonly kind: string;
  readonly name: string;
}

/** `fs:/init/install.sh` names the file `/init/install.sh`; a path without a scheme names a workspace file, too, with or without `/Workspace`. */
export function fileAt(uri: Json | undefined): readonly NamedFile[] {
  const [, scheme, path] = (typeof uri === "string" && /^(?:([a-z]+):)?(\/.+)$/.exec(uri)) || [];
  if (path === undefined) return [];
  const inFiles = { kind: "files", name: path };
  return scheme === undefined ? [inFiles, ...workspaceFileAt(path)] : [inFiles];
}

export const workspaceFileAt = (path: Json | undefined): readonly NamedFile[] =>
  typeof path === "string" ? [{ kind: "workspace_files", name: plainTreePath(path) }] : [];

const file = (what: string) => textField({ minLength: 1, fileUri: true, description: `URI of ${what}.` });

const repo = textField({
  minLength: 1,
  description: "Repository to install it from (default: the public one).",
});

const packaged = (what: string) =>
  groupField(
    {
      package: required(
        textField({ minLength: 1, description: "Name of the package, optionally with a version." }),
      ),
      repo,
    },
    { description: `A package of ${what}.` },
  );

const forms = {
  jar: file("a JAR"),
  egg: file("a Python egg"),
  whl: file("a Python wheel"),
  requirements: textField({
    dialect: "databricks",
    minLength: 1,
    description: "Path of a requirements.txt among the workspace files or in a volume.",
  }),
  pypi: packaged("PyPI"),
  maven: groupField(
    {
      coordinates: required(
        textField({
          minLength: 1,
          pattern: "^[^:\\s]+(:[^:\\s]+)+$",
          description: "group:artifact:version",
        }),
      ),
      repo,
      exclusions: listField(textField({ minLength: 1, description: "group:artifact" }), {
        list: "set",
        default: [],
        description: "Dependencies to exclude.",
      }),
    },
    { description: "An artifact of a Maven repository." },
  ),
  cran: packaged("CRAN"),
};

const FORMS = Object.keys(forms);

export const library = groupField(forms, { description: "One library, with exactly one of these fields." });

export const libraries = listField(library, {
  list: "set",
  default: [],
  description: "Libraries installed on the cluster before a run.",
});

export function libraryFiles(value: Json | undefined): readonly NamedFile[] {
  const all = Array.isArray(value) ? value.filter(isObject) : [];
  return all.flatMap(({ jar, egg, whl, requirements }) => [jar, egg, whl, requirements].flatMap(fileAt));
}

export function libraryProblems(value: Json | undefined): readonly Problem[] {
  if (!Array.isArray(value)) return [];
  const message = `a library is one of ${FORMS.join(", ")}`;
  return value.flatMap((library: Json, at): Problem[] =>
    isObject(library) && Object.keys(library).length !== 1
      ? [problem("SPEC_COMBINATION", ["libraries", at], message)]
      : [],
  );
}
