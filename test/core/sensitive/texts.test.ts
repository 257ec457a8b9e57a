// A sensitive value shows itself nowhere.

import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { Sensitive, SensitiveTexts } from "../../../src/core/sensitive/texts.ts";
import { shortened } from "../../../src/core/sentences.ts";

const canary = "canary-7f3a";
const secret = new Sensitive(new TextEncoder().encode(canary));

test("no way of printing a sensitive value shows it", () => {
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ deep: [secret] }, { depth: 9, showHidden: true }),
    Object.values(secret).join(),
  ];
  for (const text of shown) expect(text).not.toContain(canary);
  expect(shown[0]).toBe("(sensitive)");
});

test("the bytes come out where they are asked for", () => {
  expect(new TextDecoder().decode(secret.reveal())).toBe(canary);
});

test.each([
  ["hex", (text: string) => Buffer.from(text).toString("hex")],
  ["upper-case hex", (text: string) => Buffer.from(text).toString("hex").toUpperCase()],
  ["base64", (text: string) => Buffer.from(text).toString("base64")],
  ["base64url", (text: string) => Buffer.from(text).toString("base64url")],
  ["URL encoding", encodeURIComponent],
  ["JSON", (text: string) => JSON.stringify(text)],
])("a sentence that repeats a sensitive string as %s does not show it", (_, encode) => {
  const text = 'S3nsi&tive/Va=lue+>?"x';
  const texts = new SensitiveTexts();
  texts.add(text);
  const sentence = `bad value ${encode(text)} in the request`;
  expect(texts.masked(sentence)).toMatch(/^bad value "?\(sensitive\)"? in the request$/);
  expect(texts.maskedDeep({ cause: [sentence] }).cause[0]).toBe(texts.masked(sentence));
});

test.each([
  ["trimmed", "  blank ends  ", "blank ends"],
  ["trimmed, although the rest is short", "abcdef\n", "abcdef"],
  ["in one line, as in an HTML page", "two  blanks\tand\n a line", "two blanks and a line"],
])("a sensitive string is hidden %s", (_, text, shown) => {
  const texts = new SensitiveTexts();
  texts.add(text);
  for (const form of [
    shown,
    JSON.stringify(shown),
    encodeURIComponent(shown),
    Buffer.from(shown).toString("hex"),
  ])
    expect(texts.masked(`bad value ${form} here`)).toMatch(/^bad value "?\(sensitive\)"? here$/);
  expect(texts.masked(shown)).toBe("(sensitive)");
  expect(texts.maskedMessages(`starts with ${shown.slice(0, 6)}…`)).toBe("starts with (sensitive)…");
});

test("a sensitive string is hidden where its form in JSON or HTML is in one line", () => {
  const texts = new SensitiveTexts();
  texts.add('two  "spaces"\tand  <more>');
  const html = "two &quot;spaces&quot; and &lt;more&gt;";
  for (const form of ['two \\"spaces\\"\\tand <more>', html])
    expect(texts.masked(`bad value ${form} here`)).toBe("bad value (sensitive) here");
});

test("a sensitive string with spaces at its ends hides a short rest only as a complete value", () => {
  const texts = new SensitiveTexts();
  texts.add(" a\n");
  expect([texts.masked("a"), texts.masked("a bad value"), texts.masked('"a"')]).toEqual([
    "(sensitive)",
    "a bad value",
    '"(sensitive)"',
  ]);
});

const URL_TEXT = "pä ss/w(ö)rd*1+~!'x";
const MARKED = `pä"ß</w>&'ö\\x😀`;
const unicode = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
const strict = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
const lowerHex = (text: string): string => text.replace(/%../g, (code) => code.toLowerCase());

test.each([
  ["a form", URL_TEXT, String(new URLSearchParams({ v: URL_TEXT })).slice(2)],
  [
    "a form with lower-case digits",
    URL_TEXT,
    lowerHex(String(new URLSearchParams({ v: URL_TEXT })).slice(2)),
  ],
  ["an address with each special character encoded", URL_TEXT, strict(URL_TEXT)],
  ["an address with lower-case digits", URL_TEXT, lowerHex(encodeURIComponent(URL_TEXT))],
  ["a path of an address", URL_TEXT, strict(URL_TEXT).replaceAll("%2F", "/")],
  ["JSON without characters outside of ASCII", MARKED, unicode(MARKED).slice(1, -1)],
  ["JSON in JSON", MARKED, JSON.stringify(JSON.stringify(MARKED)).slice(3, -3)],
  ["ASCII JSON in JSON", MARKED, JSON.stringify(unicode(MARKED)).slice(3, -3)],
  ["JSON with escaped slashes", MARKED, JSON.stringify(MARKED).slice(1, -1).replaceAll("/", "\\/")],
  [
    "HTML",
    MARKED,
    MARKED.replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&#39;"),
  ],
])("a sensitive string is hidden in %s", (_, value, form) => {
  const texts = new SensitiveTexts();
  texts.add(value);
  expect(texts.masked(`got ${form} here`)).toBe("got (sensitive) here");
});

test.each([0, 1, 2])(
  "a request that a sentence repeats as base64 does not show a sensitive string after %i bytes",
  (before) => {
    const text = "canary-0123456789";
    const texts = new SensitiveTexts();
    texts.add(text);
    const encoded = Buffer.from(`${"x".repeat(before + 3)}${text}yyyy`).toString("base64");
    const shown = texts.masked(`bad request ${encoded}`);
    expect(shown).toContain("(sensitive)");
    expect(Buffer.from(shown.slice("bad request ".length).replace("(sensitive)", "")).length).toBeLessThan(
      20,
    );
  },
);

describe("an output", () => {
  const textsOf = (...all: readonly string[]): SensitiveTexts => {
    const texts = new SensitiveTexts();
    for (const text of all) texts.add(text);
    return texts;
  };

  test("shows no line of a sensitive text of several lines", () => {
    const texts = textsOf("first-line-77\n  second-line-88\r\n}\n");
    expect(texts.masked("+ second-line-88")).toBe("+ (sensitive)");
    expect(texts.masked("+ }")).toBe("+ }");
  });

  test.each(["NFC", "NFD"])("hides a sensitive string in each Unicode form, given in %s", (form) => {
    const texts = textsOf("Kennwört-Näher".normalize(form));
    for (const other of ["NFC", "NFD"])
      expect(texts.masked(`a ${"Kennwört-Näher".normalize(other)} b`)).toBe("a (sensitive) b");
  });

  test.each([64, 76])("shows no line of base64 that is broken after %i characters", (length) => {
    const value = "canary-".repeat(30);
    const lines =
      Buffer.from(value)
        .toString("base64")
        .match(new RegExp(`.{1,${length}}`, "g")) ?? [];
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(textsOf(value).masked(`# ${line}`)).toBe("# (sensitive)");
  });

  describe("of a sensitive text that is JSON", () => {
    const key =
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n";
    const email = "etl@project.iam.gserviceaccount.com";
    const file = {
      type: "service_account",
      private_key: key,
      client_email: email,
      token_uri: "https://oauth2.googleapis.com/token",
      universe_domain: "googleapis.com",
      databases: [{ dsn: "postgres://etl:pw-77@db.example.com/etl", clientId: "0123456789" }],
      hook: "https://hooks.example.com/x?key=abc",
    };

    test.each([JSON.stringify(file), JSON.stringify(file, undefined, 2)])(
      "shows no string of it: %#",
      (text) => {
        const texts = textsOf(text);
        for (const part of [key, file.databases[0]?.dsn ?? "", file.hook, "MIIEvQIBADANBgkq"])
          expect(texts.masked(`# ${part}.`)).toBe("# (sensitive).");
        expect(texts.masked(`# ${Buffer.from(key).toString("base64")}`)).toBe("# (sensitive)");
      },
    );

    test("shows what says whose key it is", () => {
      const open = `service_account ${email} googleapis.com 0123456789 https://oauth2.googleapis.com/token`;
      expect(textsOf(JSON.stringify(file)).masked(open)).toBe(open);
    });

    test.each([
      ["secret_id", "7d3f1a2b-aaaa-bbbb-cccc-0123456789ab"],
      ["session_id", "s.0123456789abcdef"],
      ["webhook_url", "https://hooks.example.com/services/T0001/B0002/abcdefgh12345678"],
      ["token_type_name", "not-a-public-name"],
    ])("shows no %s, whose name looks public", (name, value) => {
      expect(textsOf(JSON.stringify({ auth: { [name]: value } })).masked(`# ${value}`)).toBe("# (sensitive)");
    });

    test.each([
      JSON.stringify({ dsn: "postgres://etl:pw%2F77-88@db.example.com/etl" }),
      "postgres://etl:pw%2F77-88@db.example.com/etl",
      "mongodb://etl:pw%2F77-88@a.example.com:27017,b.example.com:27017/etl?replicaSet=r",
      "postgresql://etl:pw%2F77-88@/etl?host=/var/run/postgresql",
      "jdbc:postgresql://etl:pw%2F77-88@db.example.com:5432/etl",
      "redis://:pw%2F77-88@cache.example.com",
    ])("shows no password of an address: %s", (text) => {
      for (const password of ["pw%2F77-88", "pw/77-88"])
        expect(textsOf(text).masked(`# ${password}`)).toBe("# (sensitive)");
    });

    test.each(["[".repeat(100_000), "{not JSON", '{"a":', "[1, 2]"])("hides %.9s as a whole only", (text) => {
      expect(textsOf(text).masked("# a")).toBe("# a");
      expect(textsOf(text).masked(`# ${text}.`)).toBe("# (sensitive).");
    });
  });

  test("shows no bytes that are not text, in hex and base64", () => {
    const bytes = Buffer.from("ff00fe01fd02fc03fb04", "hex");
    const texts = new SensitiveTexts();
    texts.addBytes(bytes);
    for (const form of ["hex", "base64", "base64url"] as const)
      expect(texts.masked(`key ${bytes.toString(form)}.`)).toBe("key (sensitive).");
  });

  test("shows no sensitive text of 128 KB", () => {
    const value = "0123456789abcdef".repeat(8192);
    expect(textsOf(value).masked(`a ${value} b`)).toBe("a (sensitive) b");
  });

  test.each([
    ["canary-0123…", "(sensitive)…"],
    ['is {"a":"canary-0…', 'is {"a":"(sensitive)…'],
    ["Y2FuYXJ5LTAx…", "(sensitive)…"],
    ["can…", "can…"],
    ["from canar… to x", "from (sensitive)… to x"],
  ])("shows no beginning of a sensitive value in a shortened message: %s", (text, shown) => {
    expect(textsOf("canary-0123456789").maskedMessages([text])).toEqual([shown]);
  });

  test("shows no beginning of a sensitive value that is shortened inside of a character, and quoted", () => {
    const value = `canary${"😀".repeat(9)}`;
    const messages = [6, 7, 8, 9].map((length) => JSON.stringify(shortened(value, length)));
    expect(textsOf(value).maskedMessages(messages)).toEqual(Array(4).fill('"(sensitive)…"'));
  });

  test("shows beginnings that are in the workspace, because hiding them would confirm guesses", () => {
    expect(textsOf("canary-0123456789").masked("canary-0123…")).toBe("canary-0123…");
  });

  test("hides the beginning of the longer of two sensitive values", () => {
    expect(textsOf("canary", "canary-0123456789").maskedMessages("canary-01…")).toBe("(sensitive)…");
  });

  test("has the mark in place of a sensitive text that begins with a quote", () => {
    expect(textsOf('"abcd').masked('is "abcd')).toBe("is (sensitive)");
  });

  test("has the mark between the quotes of a sensitive text of less than 4 characters", () => {
    const texts = textsOf("ab", "abcdef");
    expect(texts.masked('"ab" is not ab or "abc"')).toBe('"(sensitive)" is not ab or "abc"');
    expect(texts.masked("xabcdefab")).toBe("x(sensitive)ab");
  });

  test("has one mark for the longest sensitive text, also if it was added last", () => {
    const texts = textsOf("abcd");
    expect(texts.masked("abcdefgh")).toBe("(sensitive)efgh");
    texts.add("abcdefgh");
    expect(texts.masked("abcdefgh!")).toBe("(sensitive)!");
  });
});

test("a number is hidden where messages write it, and not as a part of another number, an ID, or a digest", () => {
  const texts = new SensitiveTexts();
  for (const value of [14133, 999, true]) texts.addValue(value);
  const masked = (text: string): string => texts.masked(text);
  expect(masked("Found: 14133. At most 14,133")).toBe("Found: (sensitive). At most (sensitive)");
  expect(texts.maskedMessages("[14133, 14…")).toBe("[(sensitive), 14…");
  for (const text of ["141330", "114133", "a14133f", "0101-114133-x", "999", "true"])
    expect(masked(text)).toBe(text);
  const other = new SensitiveTexts();
  other.addAll(texts);
  expect([other.isIn("14133"), other.isIn("999")]).toEqual([true, false]);
  texts.add("14133");
  expect(masked("a14133f")).toBe("a(sensitive)f");
  texts.addValue(14133);
  expect(masked("a14133f")).toBe("a(sensitive)f");
});

test("a possible value of a spec is hidden nowhere else, and numbers and other strings stay hidden when it becomes known", () => {
  const texts = new SensitiveTexts();
  for (const value of [14133, "production", "other-text"]) texts.addValue(value);
  expect(texts.masked("production 14133 other-text")).toBe("(sensitive) (sensitive) (sensitive)");
  texts.addPossibleValue("production");
  expect(texts.masked("production 14133 other-text")).toBe("production (sensitive) (sensitive)");
  const other = new SensitiveTexts();
  other.add("production");
  other.addAll(texts);
  other.add("production");
  expect(other.masked("production 14133 other-text")).toBe("production (sensitive) (sensitive)");
});
