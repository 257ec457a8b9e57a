// Libraries of a job's cluster (contract B 2.2; types other than jar and maven: facts 4.8).

import { isObject, type Json } from "../../core/json.ts";
import type { Problem } from "../../resource/planning.ts";
import { fileAt } from "../clusters/fields.ts";
import { groupField, listField, required, textField } from "../kit/field-builders.ts";
import { problem } from "../kit/problems.ts";

const FORMS = ["jar", "egg", "whl", "pypi", "maven", "cran"] as const;

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

export const libraries = listField(
  groupField(
    {
      jar: file("a JAR"),
      egg: file("a Python egg"),
      whl: file("a Python wheel"),
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
    },
    { description: `One library: ${FORMS.join(", ")}.` },
  ),
  { list: "set", default: [], description: "Libraries installed on the cluster before a run." },
);

export function libraryFiles(
  value: Json | undefined,
): readonly { readonly kind: string; readonly name: string }[] {
  const all = Array.isArray(value) ? value.filter(isObject) : [];
  return all.flatMap(({ jar, egg, whl }) => [jar, egg, whl].flatMap(fileAt));
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
