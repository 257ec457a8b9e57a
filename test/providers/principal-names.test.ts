// How names of principals compare in kinds whose keys contain them: access lists of scopes, and workspace assignments.

import { expect, test } from "vitest";
import { assignments } from "../../src/providers/access/assignments.ts";
import { acls } from "../../src/providers/acls.ts";
import { isSameName } from "../../src/resource/names.ts";

const ID = "0a1b2c3d-0000-4000-8000-00000000000a";

test.each([
  ["s/ada@example.com", "s/Ada@Example.com", true],
  [`s/${ID}`, `s/${ID.toUpperCase()}`, true],
  ["s/data-eng", "s/Data-Eng", false],
  ["s/data-eng", "S/data-eng", false],
])("an ACL %s is that of %s: %s", (a, b, same) => {
  expect(isSameName(acls, a, b)).toBe(same);
});

test.each([
  ["ada@example.com", "Ada@Example.com", true],
  ["user:ada", "user:Ada", true],
  [`sp:${ID}`, `sp:${ID.toUpperCase()}`, true],
  ["data-eng", "Data-Eng", false],
  ["group:ops@example.com", "group:Ops@example.com", false],
])("an assignment of %s is that of %s: %s", (a, b, same) => {
  expect(isSameName(assignments, a, b)).toBe(same);
});
