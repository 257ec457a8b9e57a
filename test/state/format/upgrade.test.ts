import { expect, test } from "vitest";
import { upgraded } from "../../../src/state/format/snapshot.ts";

const STEPS = {
  1: (old: object) => ({ ...old, two: true }),
  2: (old: object) => ({ ...old, three: true }),
};

test("old data goes through the step of each version", () => {
  expect(upgraded({ a: 1 }, 1, "f", STEPS, 3)).toEqual({ a: 1, two: true, three: true });
  expect(upgraded({ a: 1 }, 2, "f", STEPS, 3)).toEqual({ a: 1, three: true });
});

test("data of the current version is not changed", () => {
  expect(upgraded({ a: 1 }, 3, "f", STEPS, 3)).toEqual({ a: 1 });
});

test("data of a newer version is refused with the way out", () => {
  expect(() => upgraded({}, 4, "state.json", STEPS, 3)).toThrow("STATE_FORMAT: state.json has format 4");
});

test("a format without a step to the next one is a mistake of the program", () => {
  expect(() => upgraded({}, 0, "state.json", STEPS, 3)).toThrow(
    "no upgrade from format 0: each released format has one",
  );
});
