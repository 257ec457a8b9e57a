// A state's database over the network: encrypted, and its certificate checked as the URL says.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import { afterAll, describe, expect, test } from "vitest";
import { nodeClock } from "../../../../src/state/backends/file/node-ports.ts";
import { parsePostgresUrl } from "../../../../src/state/backends/postgres/database.ts";
import { openPgDatabase } from "../../../../src/state/backends/postgres/pg-database.ts";
import { type PostgresServer, startPostgres } from "./server.ts";

const folder = mkdtempSync(join(tmpdir(), "pg-tls-"));
const [key, certificate] = [join(folder, "server.key"), join(folder, "server.crt")];

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return address !== null && typeof address === "object" ? address.port : 0;
}

function makeCertificate(): boolean {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const words = [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-keyout",
    key,
    "-out",
    certificate,
  ];
  if (spawnSync("openssl", [...words, ...subject]).status !== 0) return false;
  chmodSync(folder, 0o755);
  // The server reads its key as its own user, and refuses one that others may read.
  spawnSync("chown", ["postgres", key]);
  chmodSync(key, 0o600);
  return true;
}

const port = await freePort();
const tls = ["ssl=on", `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`];
const server: PostgresServer | undefined = makeCertificate()
  ? startPostgres(["fsync=off", "listen_addresses=127.0.0.1", `port=${port}`, ...tls])
  : undefined;
afterAll(() => {
  server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function encrypted(
  host: string,
  parameters: string,
  authorities?: readonly string[],
): Promise<unknown> {
  const url = parsePostgresUrl(
    `postgres://postgres:s3cret@${host}:${port}/postgres?${parameters}`,
    "default",
    {},
  );
  const database = openPgDatabase({
    url,
    clock: nodeClock,
    ...(authorities === undefined ? {} : { authorities }),
  });
  try {
    const { rows } = await database.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()", []);
    return rows[0]?.ssl;
  } catch (failure) {
    expect(String(failure)).not.toContain("s3cret");
    return /certificate that is not trusted/.test(String(failure)) ? "not trusted" : String(failure);
  } finally {
    await database.close();
  }
}

describe.skipIf(server === undefined)("with a server that has a certificate", () => {
  test.each([
    ["localhost", `sslmode=verify-full&sslrootcert=${certificate}`, true],
    ["127.0.0.1", `sslmode=verify-full&sslrootcert=${certificate}`, "not trusted"],
    ["127.0.0.1", `sslmode=verify-ca&sslrootcert=${certificate}`, true],
    ["localhost", "sslmode=verify-full", "not trusted"],
    ["localhost", "sslmode=require", true],
    ["localhost", "sslmode=disable", false],
  ])(
    "a connection to %s with %s is encrypted and checked as that says",
    async (host, parameters, outcome) => {
      expect(await encrypted(host, parameters)).toBe(outcome);
    },
  );

  test("authorities that a run trusts are trusted where the URL names none", async () => {
    const authorities = [...getCACertificates("default"), readFileSync(certificate, "utf8")];
    expect(await encrypted("localhost", "sslmode=verify-full", authorities)).toBe(true);
    expect(await encrypted("127.0.0.1", "sslmode=verify-full", authorities)).toBe("not trusted");
  });

  test("NODE_TLS_REJECT_UNAUTHORIZED=0 does not disable the check", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      expect(await encrypted("localhost", "sslmode=verify-full")).toBe("not trusted");
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });
});
