import { expect, test } from "vitest";
import { authorization } from "../../../src/api/retry/connection.ts";

test("the credential is the bearer form, or Basic with the user token", () => {
  expect(authorization("abc", "bearer")).toBe("Bearer abc");
  expect(authorization("abc", "basic")).toBe(`Basic ${btoa("token:abc")}`);
});

test("a token that no header can carry is refused without repeating it", () => {
  for (const token of ["a\nb", "a b", "é", "a\0"])
    expect(() => authorization(token, "bearer")).toThrow(/API_UNAUTHENTICATED: the token contains/);
  expect(() => authorization("", "bearer")).toThrow("API_UNAUTHENTICATED: no token is set");
});
