import { expect, test } from "vitest";
import { parseHost } from "../../../src/api/auth/endpoints.ts";

test.each([
  ["https://ws.example.com", "https://ws.example.com", ""],
  ["ws.example.com", "https://ws.example.com", ""],
  ["ws.example.com:8443", "https://ws.example.com:8443", ""],
  ["https://ws.example.com/", "https://ws.example.com", ""],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080", ""],
  ["https://gw.example.com/team/ws/", "https://gw.example.com", "/team/ws"],
])("%s is a host", (text, origin, base) => {
  expect(parseHost(text)).toEqual({ origin, base });
});

test.each([
  "",
  "ftp://ws.example.com",
  "file:///etc/passwd",
  "https://",
  "https://a b",
  "https://ws.example.com?x=1",
  "https://ws.example.com/#x",
])("%s is not", (text) => {
  expect(() => parseHost(text)).toThrow("API_UNREACHABLE");
});

test("a host that carries a password is refused without repeating it", () => {
  expect(() => parseHost("https://me:hunter2@ws.example.com")).toThrow(
    /^(?!.*hunter2).*contains a user name or password/,
  );
});
