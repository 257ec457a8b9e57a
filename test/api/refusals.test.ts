import { expect, test } from "vitest";
import type { HttpResponse } from "../../src/api/http/transport.ts";
import { isConflict, isMissing } from "../../src/core/request-failure.ts";
import { apiError, json, raw, reset, scimError, thrown } from "./answers.ts";
import { scripted } from "./scripted.ts";

const refusalOf = (answer: HttpResponse) => thrown(scripted([answer]).client.reader.read("clusters/get", {}));

test.each([
  ["a missing scope or path", apiError(404, "RESOURCE_DOES_NOT_EXIST", "Scope a does not exist!")],
  ["a missing object told with 400", apiError(400, "RESOURCE_DOES_NOT_EXIST")],
  ["a missing cluster", apiError(400, "INVALID_PARAMETER_VALUE", "Cluster 1 does not exist")],
  ["a missing job", apiError(400, "INVALID_PARAMETER_VALUE", "Job 9 does not exist.")],
  [
    "a missing run, in later words",
    apiError(400, "INVALID_PARAMETER_VALUE", "Run: 1 in job: 2 doesn't exist"),
  ],
  [
    "a purged cluster",
    apiError(
      400,
      "INVALID_STATE",
      "Cannot access cluster 1 that was terminated or unpinned more than 30 days ago.",
    ),
  ],
  ["a missing user", scimError(404, "User with id 7 not found.")],
  ["a missing user without a word", scimError(404, "null")],
])("%s is missing", async (_claim, answer) => {
  expect(isMissing(await refusalOf(answer))).toBe(true);
});

test.each([
  ["an unknown route", apiError(404, "ENDPOINT_NOT_FOUND", "No API found for 'GET /x'")],
  ["a proxy's page", raw(404, "<html>Not Found</html>")],
  ["another API", json({ error: "Bad Target: /api/2.2/x" }, 404)],
  ["an empty 404", raw(404, "")],
  ["a wrong parameter", apiError(400, "INVALID_PARAMETER_VALUE", "Invalid spark version 1")],
  ["a cluster in another state", apiError(400, "INVALID_STATE", "Cluster 1 is in unexpected state Pending.")],
  ["a missing right", apiError(403, "PERMISSION_DENIED", "User u does not exist here")],
  ["a missing credential", apiError(401, 401, "does not exist")],
])("%s is not missing", async (_claim, answer) => {
  expect(isMissing(await refusalOf(answer))).toBe(false);
});

test("no answer is not missing, nor is an error of our own", async () => {
  const lost = await thrown(scripted([reset()]).client.writer.write("jobs/create", {}));
  expect(isMissing(lost)).toBe(false);
  expect(isMissing(new Error("does not exist"))).toBe(false);
});

test("a taken name is a conflict, whatever the words", async () => {
  expect(isConflict(await refusalOf(apiError(400, "RESOURCE_ALREADY_EXISTS", "?")))).toBe(true);
  expect(isConflict(await refusalOf(scimError(409, "?", "uniqueness")))).toBe(true);
  expect(isConflict(await refusalOf(scimError(409, "?")))).toBe(true);
  expect(isConflict(await refusalOf(apiError(400, "INVALID_PARAMETER_VALUE", "it already exists")))).toBe(
    false,
  );
});
