import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { folderWith, load, loadFrom } from "../folder.ts";
import { withPoolFields } from "../kinds.ts";

const CANARY = "hunter2-canary";
const secret = (source: string): string => `scopes: { etl: { secrets: { password: ${source} } } }`;
const DECODER = new TextDecoder();

function revealed(resource: { readonly payload?: { readonly secret?: { reveal(): Uint8Array } } }): string {
  return DECODER.decode(resource.payload?.secret?.reveal());
}

/** The digest is the length of what it is made of. */
const digestOf = (value: string): string =>
  `keyed:${`secret\nsecrets.etl/password\nkeyed:${value.length}`.length}`;

describe("a source", () => {
  it("is an environment variable, whose value is in the payload and nowhere else", async () => {
    const loaded = await load(secret("{ env: DB }"), { env: { DB: CANARY } });
    const resource = loaded.resource("secrets.etl/password");
    const digest = digestOf(CANARY);
    expect(resource.values).toEqual({ value: digest });
    expect(resource.payload).toMatchObject({ digest });
    expect(resource.payload?.bytes()).toEqual(new Uint8Array());
    expect(revealed(resource)).toBe(CANARY);
    expect(JSON.stringify(loaded.spec?.resources.get(resource.address))).not.toContain(CANARY);
    expect(inspect(loaded.spec, { depth: 9 })).not.toContain(CANARY);
  });

  it("is a file, without its last line break, or byte by byte", async () => {
    const files = {
      "a.txt": `${CANARY}\n`,
      "b.txt": `${CANARY}\r\n`,
      "c.bin": new Uint8Array([0xff, 0, 10]),
    };
    const text = await load({ "workspace.yaml": secret("{ file: a.txt }"), ...files });
    expect(revealed(text.resource("secrets.etl/password"))).toBe(CANARY);
    const windows = await load({ "workspace.yaml": secret("{ file: b.txt }"), ...files });
    expect(revealed(windows.resource("secrets.etl/password"))).toBe(CANARY);
    const kept = await load({ "workspace.yaml": secret("{ file: a.txt, encoding: bytes }"), ...files });
    expect(revealed(kept.resource("secrets.etl/password"))).toBe(`${CANARY}\n`);
    const bytes = await load({ "workspace.yaml": secret("{ file: c.bin, encoding: bytes }"), ...files });
    expect(bytes.resource("secrets.etl/password").payload?.secret?.reveal()).toEqual(
      new Uint8Array([0xff, 0, 10]),
    );
  });

  it("is a file relative to the file that names it", async () => {
    const { resource } = await load({
      "workspace.yaml": "include: team/a.yaml",
      "team/a.yaml": secret("{ file: ../keys/k }"),
      "keys/k": "x",
    });
    expect(revealed(resource("secrets.etl/password"))).toBe("x");
  });

  it.each([
    ["resolve", "DATABRICKS_CLIENT_SECRET"],
    ["skip", "WORKSPACE_TOKEN"],
  ] as const)(
    "%s: warns of a variable with a credential of the run, for each secret",
    async (secrets, name) => {
      const loaded = await load(
        `scopes: { etl: { secrets: { a: { env: ${name} }, b: { env: ${name} } } } }`,
        {
          secrets,
          env: { [name]: CANARY },
        },
      );
      expect(loaded.told).toEqual([
        expect.stringContaining(`secrets.etl/a would publish a credential of this run: ${name}`),
        expect.stringContaining(`secrets.etl/b would publish a credential of this run: ${name}`),
      ]);
      expect(JSON.stringify(loaded.told)).not.toContain(CANARY);
      expect(loaded.diagnostics[0]).toMatchObject({
        code: "SPEC_SECRET_CREDENTIAL",
        severity: "warning",
        address: "secrets.etl/a",
        hint: "who can read the secret can then act as this run; use another variable and another credential",
      });
    },
  );

  it("is not read when secrets are skipped", async () => {
    const loaded = await load(
      { "workspace.yaml": secret("{ env: DB }"), k: "x" },
      { secrets: "skip", env: {} },
    );
    expect(loaded.told).toEqual([]);
    expect(loaded.resource("secrets.etl/password").values).toEqual({ value: "" });
    expect(loaded.resource("secrets.etl/password").payload).toBeUndefined();
    expect(loaded.resource("secrets.etl/password").unread).toBe("env DB");
    const file = await load(
      { "workspace.yaml": secret("{ file: k }"), k: "x" },
      { secrets: "skip", keyed: () => "read!" },
    );
    expect(file.resource("secrets.etl/password").values).toEqual({ value: "" });
    expect(file.resource("secrets.etl/password").unread).toBe("file k");
  });

  it.each(["", "\n", new Uint8Array([0xff]), "x".repeat(131_073)])(
    "is not checked when secrets are skipped: file %#",
    async (k) => {
      const loaded = await load({ "workspace.yaml": secret("{ file: k }"), k }, { secrets: "skip" });
      expect(loaded.told).toEqual([]);
      expect(loaded.resource("secrets.etl/password").values).toEqual({ value: "" });
    },
  );

  it.each(["skip", "resolve"] as const)("outside the folder is refused (secrets: %s)", async (secrets) => {
    const outside = folderWith({ k: CANARY });
    const folder = folderWith({
      "workspace.yaml":
        "scopes:\n  a: { secrets: { a: { file: link }, b: { file: ../k } } }\n  c: { secrets: { c: { file: none } } }\n",
    });
    symlinkSync(join(outside, "k"), join(folder, "link"));
    const { told } = await loadFrom(folder, { secrets });
    expect(told).toEqual([
      "SPEC_OUTSIDE 2:30 secrets.a/a: link is outside the spec's folder",
      'SPEC_OUTSIDE 2:49 secrets.a/b: "../k" is outside the spec\'s folder',
      "SPEC_NOT_FOUND 3:30 secrets.c/c: none does not exist",
    ]);
  });
});

describe("a value that was read", () => {
  it.each(["skip", "resolve"] as const)(
    "is hidden wherever else it occurs (secrets: %s)",
    async (secrets) => {
      const { spec } = await load(
        {
          "workspace.yaml": "scopes: { etl: { secrets: { a: { env: DB }, b: { file: k } } } }",
          k: "file-canary\n",
        },
        { secrets, env: { DB: CANARY } },
      );
      expect(spec?.sensitive?.masked(`${CANARY} file-canary`)).toBe("(sensitive) (sensitive)");
    },
  );

  it("from a file is not read from an untrusted spec", async () => {
    const { resource, told } = await load(secret("{ file: none }"), { untrusted: true, secrets: "skip" });
    expect(told).toEqual([]);
    expect(resource("secrets.etl/password").unread).toBe("file none");
  });
});

describe("a variable that may lack its value", () => {
  const lacking = (source: string, env: Record<string, string>, more: object = {}) =>
    load(secret(source), { env, mayLackSecrets: true, ...more });

  it.each([
    ["is not set", {}],
    ["is empty", { DB: "" }],
  ])("is a warning, and leaves the secret unread, where it %s", async (state, env) => {
    const { resource, diagnostics } = await lacking("{ env: DB }", env);
    expect(diagnostics).toMatchObject([
      {
        severity: "warning",
        code: "SPEC_SECRET_UNSET",
        message: `the value of secrets.etl/password is unknown: the environment variable DB ${state}`,
        address: "secrets.etl/password",
        hint: "set DB where apply runs; apply writes the secret if it differs",
      },
    ]);
    expect(resource("secrets.etl/password")).toMatchObject({ values: { value: "" }, unread: "env DB" });
    expect(resource("secrets.etl/password").payload).toBeUndefined();
  });

  it("is read where it has one", async () => {
    const { resource, told } = await lacking("{ env: DB }", { DB: CANARY });
    expect(told).toEqual([]);
    expect(revealed(resource("secrets.etl/password"))).toBe(CANARY);
  });

  it("lets a file be absent where values are skipped", async () => {
    expect((await lacking("{ file: none }", {}, { secrets: "skip" })).told).toEqual([]);
    expect((await lacking("{ file: none }", {}, { secrets: "resolve" })).told).toHaveLength(1);
  });
});

describe("a credential in another kind", () => {
  const registry = withPoolFields({
    token: { type: "string", secret: true },
    other: { type: "string", secret: true },
  });
  const key = 'variables: { key: { sensitive: true, default: "from-a-variable" }, open: plain, none: }\n';

  it.each<[string, readonly string[]]>([
    ["", []],
    ['token: "${var.key}"', []],
    ['token: "x-${var.key}"', []],
    ['token: "${var.key}", other: "${var.key}"', []],
    [`token: ${CANARY}`, ["token"]],
    [`token: "\${var.key}", other: ${CANARY}`, ["other"]],
    ['token: "${pools.q.node_type_id}"', ["token"]],
    [`token: "$\${${CANARY}}"`, ["token"]],
  ])("comes from a sensitive variable, and else is refused and not shown: %s", async (fields, names) => {
    const { diagnostics } = await load(
      `${key}pools: { p: { node_type_id: n, ${fields} }, q: { node_type_id: m } }\n`,
      { registry },
    );
    expect(diagnostics).toMatchObject(
      names.map((name) => ({
        code: "SPEC_SECRET_LITERAL",
        message: `the spec contains the secret value of ${name} of pools.p`,
        address: "pools.p",
        hint: `remove it, change the secret, and set ${name} to a sensitive variable: "\${var.NAME}"`,
      })),
    );
    expect(JSON.stringify(diagnostics)).not.toContain(CANARY);
  });

  it.each(["${var.open}", "${var.open}-x", "${var.nope}", "x-${var.none}"])(
    "from a variable that is not sensitive, or has no value, is reported once: %s",
    async (text) => {
      const { told } = await load(`${key}pools: { p: { node_type_id: n, token: "${text}" } }\n`, {
        registry,
      });
      expect(told).toEqual([
        expect.stringMatching(text.includes("open") ? /^SPEC_SECRET_LITERAL / : /^SPEC_VARIABLE /),
      ]);
    },
  );
});

describe("a literal", () => {
  it.each([
    ["a bare text", `${CANARY}`],
    ["a bare number", "12345678901"],
    ["a value", `{ value: ${CANARY} }`],
    ["a string_value", `{ string_value: ${CANARY} }`],
    ["a bytes_value over lines", `{ bytes_value: "${CANARY}\n   ${CANARY}" }`],
  ])("%s is refused, with a hint and without showing it", async (_name, text) => {
    const { spec, diagnostics } = await load(secret(text));
    expect(spec).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        code: "SPEC_SECRET_LITERAL",
        message: "the spec contains the secret value of secrets.etl/password",
        hint: expect.stringContaining("{ env: NAME }"),
      },
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain(CANARY);
    expect(JSON.stringify(diagnostics)).not.toContain("12345678901");
  });

  it("is not in the frames of other errors", async () => {
    const { diagnostics } = await load(
      `scopes:\n  etl:\n    secrets:\n      password: ${CANARY}\n    unknown: 1\n`,
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(["SPEC_SECRET_LITERAL", "SPEC_UNKNOWN_FIELD"]);
    expect(JSON.stringify(diagnostics)).not.toContain(CANARY);
  });

  it("is not in the frame of a misspelled field", async () => {
    const { diagnostics } = await load(
      `scopes:\n  etl:\n    secrets:\n      password: { env: A, evn: ${CANARY} }\n`,
    );
    expect(diagnostics.map(({ code }) => code)).toContain("SPEC_UNKNOWN_FIELD");
    expect(JSON.stringify(diagnostics)).not.toContain(CANARY);
    expect(JSON.stringify(diagnostics)).toContain("{ env: A, evn: ");
  });

  it.each([
    ["evn: { x: CANARY }", "SPEC_UNKNOWN_FIELD"],
    ["evn: [CANARY]", "SPEC_UNKNOWN_FIELD"],
    ["env: { value: CANARY }", "SPEC_TYPE"],
    ["file: [CANARY]", "SPEC_TYPE"],
  ])("is not in the frame of a field that is a map or list: %s", async (field, code) => {
    const { diagnostics } = await load(
      `scopes:\n  etl:\n    secrets:\n      password: { ${field.replace("CANARY", CANARY)} }\n`,
    );
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
    expect(JSON.stringify(diagnostics)).not.toContain(CANARY);
  });

  it("leaves the lifecycle of a secret in the frame of its error", async () => {
    const { diagnostics } = await load(
      "scopes:\n  etl:\n    secrets:\n      password: { env: A, lifecycle: { prevent_destory: true } }\n",
    );
    expect(JSON.stringify(diagnostics)).toContain("prevent_destory: true");
  });
});

describe("problems", () => {
  it.each([
    ["{}", "SPEC_MISSING_FIELD", "secrets.etl/password has no source"],
    ["{ env: A, file: b }", "SPEC_COMBINATION", "secrets.etl/password has two sources"],
    [
      "{ env: A, encoding: bytes }",
      "SPEC_COMBINATION",
      "secrets.etl/password: encoding can be used only with file, not with env",
    ],
    ["{ env: NONE }", "SPEC_SECRET_SOURCE", "secrets.etl/password: the environment variable NONE is not set"],
    [
      "{ env: toString }",
      "SPEC_SECRET_SOURCE",
      "secrets.etl/password: the environment variable toString is not set",
    ],
    ["{ env: EMPTY }", "SPEC_SECRET_SOURCE", "secrets.etl/password: the environment variable EMPTY is empty"],
    ["{ file: empty }", "SPEC_SECRET_SOURCE", "secrets.etl/password: empty is empty"],
    ["{ file: binary }", "SPEC_SECRET_SOURCE", "secrets.etl/password: binary is not UTF-8 text"],
    [
      "{ file: large }",
      "SPEC_LIMIT",
      "secrets.etl/password: large contains 131073 bytes; the limit for a secret is 131072",
    ],
    [
      "{ env: A, encoding: utf8 }",
      "SPEC_VALUE",
      'secrets.etl/password: encoding must be one of text or bytes, not "utf8"',
    ],
    ["{ enf: A }", "SPEC_UNKNOWN_FIELD", 'secrets.etl/password has no field "enf"'],
    ["{ env: '${pools.p.instance_pool_id}' }", "SPEC_REFERENCE", undefined],
  ])("%s is reported", async (source, code, message) => {
    const { spec, diagnostics } = await load(
      {
        "workspace.yaml": secret(source),
        empty: "\n",
        binary: new Uint8Array([0xff]),
        large: "x".repeat(131_073),
      },
      { env: { A: "x", EMPTY: "" } },
    );
    expect(spec).toBeUndefined();
    expect(diagnostics[0]).toMatchObject(message === undefined ? { code } : { code, message });
  });

  it.each([
    ["{ env: NONE }", "set it where apply runs; validate, plan, and drift work without it"],
    ["{ env: EMPTY }", "set it where apply runs; validate, plan, and drift work without it"],
    [
      "{ file: empty }",
      "write the value to the file before plan and apply; validate and drift do not need secret values",
    ],
  ])("%s without a value comes with what to do", async (source, hint) => {
    const { diagnostics } = await load(
      { "workspace.yaml": secret(source), empty: "" },
      { env: { EMPTY: "" } },
    );
    expect(diagnostics).toMatchObject([{ code: "SPEC_SECRET_SOURCE", hint }]);
  });
});

describe("a reported source", () => {
  const SOURCE = "write { env: NAME } or { file: path }";

  it.each<[string, readonly [code: string, column: number, message: string, hint: string | undefined][]]>([
    ["{}", [["SPEC_MISSING_FIELD", 29, "has no source", SOURCE]]],
    ["{ env: A, file: text }", [["SPEC_COMBINATION", 55, "has two sources", SOURCE]]],
    [
      "{ env: A, encoding: bytes }",
      [["SPEC_COMBINATION", 59, ": encoding can be used only with file, not with env", undefined]],
    ],
    [
      "{ env: 'a${scopes.etl.name}' }",
      [["SPEC_REFERENCE", 46, ": the name of an environment variable cannot contain a reference", undefined]],
    ],
    [
      "{ file: binary }",
      [
        [
          "SPEC_SECRET_SOURCE",
          47,
          ": binary is not UTF-8 text",
          "to use the file as bytes, set encoding: bytes",
        ],
      ],
    ],
    [
      "{ file: large }",
      [
        [
          "SPEC_LIMIT",
          47,
          ": large contains 131073 bytes; the limit for a secret is 131072",
          "split it into several secrets",
        ],
      ],
    ],
    [
      "{ env: LARGE }",
      [
        [
          "SPEC_LIMIT",
          46,
          ": the environment variable LARGE contains 131073 bytes; the limit for a secret is 131072",
          "split it into several secrets",
        ],
      ],
    ],
    [
      "{ file: large, encoding: bytes }",
      [
        [
          "SPEC_LIMIT",
          47,
          ": large contains 131073 bytes; the limit for a secret is 131072",
          "split it into several secrets",
        ],
      ],
    ],
    [
      "{ file: nothing, encoding: bytes }",
      [
        [
          "SPEC_SECRET_SOURCE",
          47,
          ": nothing is empty",
          "write the value to the file before plan and apply; validate and drift do not need secret values",
        ],
      ],
    ],
    ["{ file: most }", []],
    ["{ env: MOST }", []],
  ])("%s has its place and a hint", async (source, expected) => {
    const { diagnostics } = await load(
      {
        "workspace.yaml": secret(source),
        text: "x",
        binary: new Uint8Array([0xff]),
        nothing: "",
        large: "x".repeat(131_073),
        most: `${"x".repeat(131_072)}\r\n`,
      },
      { env: { A: "x", LARGE: "x".repeat(131_073), MOST: "x".repeat(131_072) } },
    );
    expect(
      diagnostics.map(({ code, at, message, hint, address }) => [address, code, at?.column, message, hint]),
    ).toEqual(
      expected.map(([code, column, message, hint]) => [
        "secrets.etl/password",
        code,
        column,
        `secrets.etl/password${message.startsWith(":") ? "" : " "}${message}`,
        hint,
      ]),
    );
  });

  it("is the same for each literal, which is never shown", async () => {
    const { diagnostics } = await load(secret(`{ value: ${CANARY}, string_value: ${CANARY} }`));
    expect(diagnostics).toHaveLength(2);
    for (const one of diagnostics)
      expect(one).toMatchObject({
        code: "SPEC_SECRET_LITERAL",
        address: "secrets.etl/password",
        hint: "remove it, change the secret, and set its source: { env: NAME } or { file: path }",
      });
  });
});

describe("a value", () => {
  it.each([
    ["x\n", "x"],
    ["x\r\n", "x"],
    ["x\n\n", "x\n"],
    ["x\r", "x\r"],
    ["x", "x"],
    ["\nx", "\nx"],
  ])("of a file with %j is %j", async (content, expected) => {
    const { resource } = await load({ "workspace.yaml": secret("{ file: k }"), k: content });
    expect(revealed(resource("secrets.etl/password"))).toBe(expected);
  });

  it("of a variable is read once for all secrets that share it, and each has its own digest", async () => {
    const texts: string[] = [];
    const { resource } = await load(
      "scopes: { s: { secrets: { a: { env: K }, b: { env: K } } }, t: { secrets: { c: { env: L } } } }\n",
      {
        env: { K: "x", L: "y" },
        keyed: (value) => `digest ${texts.push(typeof value === "string" ? value : DECODER.decode(value))}`,
      },
    );
    expect(texts.filter((text) => text.length === 1)).toEqual(["x", "y"]);
    const payloads = ["s/a", "s/b", "t/c"].map((name) => resource(`secrets.${name}`).payload);
    const [a, b, c] = payloads;
    expect(b?.secret).toBe(a?.secret);
    expect(c?.secret).not.toBe(a?.secret);
    expect(new Set(payloads.map((payload) => payload?.digest)).size).toBe(3);
    expect(["s/a", "s/b", "t/c"].map((name) => resource(`secrets.${name}`).values.value)).toEqual(
      payloads.map((payload) => payload?.digest),
    );
  });

  it.each([
    [{}, "the environment variable DB is not set"],
    [{ DB: "" }, "the environment variable DB is empty"],
  ])("that a plan may lack is a warning: %o", async (env, why) => {
    const { resource, diagnostics } = await load(secret("{ env: DB }"), { env, mayLackSecrets: true });
    expect(diagnostics).toMatchObject([
      {
        severity: "warning",
        code: "SPEC_SECRET_UNSET",
        message: `the value of secrets.etl/password is unknown: ${why}`,
        address: "secrets.etl/password",
        hint: "set DB where apply runs; apply writes the secret if it differs",
      },
    ]);
    expect(resource("secrets.etl/password").values).toEqual({ value: "" });
    expect(resource("secrets.etl/password").payload).toBeUndefined();
  });

  it("that a plan may lack is a warning for each secret", async () => {
    const { diagnostics } = await load("scopes: { etl: { secrets: { a: { env: DB }, b: { env: DB } } } }", {
      env: {},
      mayLackSecrets: true,
    });
    expect(diagnostics.map(({ code, address }) => `${code} ${address}`)).toEqual([
      "SPEC_SECRET_UNSET secrets.etl/a",
      "SPEC_SECRET_UNSET secrets.etl/b",
    ]);
  });

  it("that a plan may lack is read where it is set", async () => {
    const { resource, told } = await load(secret("{ env: DB }"), {
      env: { DB: "abc" },
      mayLackSecrets: true,
    });
    expect(told).toEqual([]);
    expect(resource("secrets.etl/password").values).toEqual({ value: digestOf("abc") });
  });

  it("of a file is not looked for in an untrusted spec", async () => {
    const { resource, told } = await load(secret("{ file: absent }"), { secrets: "skip", untrusted: true });
    expect(told).toEqual([]);
    expect(resource("secrets.etl/password").values).toEqual({ value: "" });
  });

  it("that is not read leaves a reference in the name of its variable refused", async () => {
    const { told } = await load(secret("{ env: 'a${scopes.etl.name}' }"), { secrets: "skip" });
    expect(told).toHaveLength(1);
  });
});
