// `--only` picks addresses by globs in which a star matches any text.

import { expect, test } from "vitest";
import { parseAddress } from "../../../src/core/address.ts";
import { addressFilter, restrictionOf } from "../../../src/workflow/plan/address-filter.ts";
import { thrownDiagnostics } from "../../failures.ts";

const known = [
  "pools.shared",
  "pools.spare",
  "jobs.nightly-dev",
  "notebooks./Shared/etl/a b",
  "secrets.etl/db-password",
  "users.a[1]@example.com",
].flatMap((text) => parseAddress(text) ?? []);
const picked = (...globs: string[]) => known.filter((address) => addressFilter(globs, known)?.(address));

test("a star goes through slashes and dots", () => {
  expect(picked("pools.*")).toEqual(["pools.shared", "pools.spare"]);
  expect(picked("notebooks.*")).toEqual(["notebooks./Shared/etl/a b"]);
  expect(picked("*etl*")).toEqual(["notebooks./Shared/etl/a b", "secrets.etl/db-password"]);
});

test("an address that is written out matches itself, whatever it holds", () => {
  expect(picked("users.a[1]@example.com", "pools.spare")).toEqual(["pools.spare", "users.a[1]@example.com"]);
});

test("a glob without a match is an error that suggests an address", () => {
  expect(() => addressFilter(["pools.shard"], known)).toThrow("CLI_UNKNOWN_ADDRESS");
});

test("an exclusion without a match names its option", () => {
  expect(thrownDiagnostics(() => addressFilter(["pools.shard"], known, "--exclude"))).toMatchObject([
    { code: "CLI_UNKNOWN_ADDRESS", message: "--exclude pools.shard matches no resource" },
  ]);
});

test("a kind is not needed if all of it is excluded, or if no glob can name it", () => {
  const needs = (only: readonly string[], exclude: readonly string[]) =>
    ["pools", "jobs"].filter((kind) => restrictionOf(only, exclude)?.mayName(kind));
  expect(needs([], ["jobs.*"])).toEqual(["pools"]);
  expect(needs([], ["jobs.nightly-*"])).toEqual(["pools", "jobs"]);
  expect(needs(["jobs.*"], ["pools.spare"])).toEqual(["jobs"]);
  expect(restrictionOf([], [])).toBeUndefined();
  const both = known.filter((address) => restrictionOf(["pools.*"], ["pools.spare"])?.only(address));
  expect(both).toEqual(["pools.shared"]);
});

test("the address of a module is an error that shows the glob of its resources", () => {
  expect(thrownDiagnostics(() => addressFilter(["modules.team/ads"], known))).toMatchObject([
    { hint: "for the resources of a module, write '*.team/ads/*'" },
  ]);
});

test("without globs everything is meant", () => {
  expect(addressFilter([], known)).toBeUndefined();
});
