// A Git server over HTTP that asks for a password: git's own backend, in a separate process because some callers block theirs.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

export interface GitServer {
  readonly url: string;
  close(): void;
}

/** Serves the repositories below `folder` to clients with this password. */
export async function startGitServer(folder: string, user: string, password: string): Promise<GitServer> {
  const child: ChildProcess = spawn(process.execPath, [import.meta.filename, folder], {
    env: { PATH: process.env.PATH, EXPECTED: Buffer.from(`${user}:${password}`).toString("base64") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("no output");
  for await (const url of createInterface({ input: child.stdout }))
    return { url, close: () => void child.kill() };
  throw new Error("the git server did not start");
}

/** The arguments of every process that git started, as it records them. */
export const argumentsIn = (trace: string): readonly string[] =>
  readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { readonly argv?: readonly string[] }).argv?.join(" ") ?? "")
    .filter((words) => words !== "");

function serve(folder: string, expected: string): void {
  const server = createServer((request, response) => {
    if (request.headers.authorization !== `Basic ${expected}`) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [path = "", query = ""] = (request.url ?? "").split("?");
      const { stdout } = spawnSync("git", ["http-backend"], {
        env: {
          PATH: process.env.PATH,
          GIT_PROJECT_ROOT: folder,
          GIT_HTTP_EXPORT_ALL: "1",
          PATH_INFO: path,
          QUERY_STRING: query,
          REQUEST_METHOD: request.method,
          CONTENT_TYPE: request.headers["content-type"],
          HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
          GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        },
        input: Buffer.concat(chunks),
        maxBuffer: 1 << 30,
      });
      const end = stdout.indexOf("\r\n\r\n");
      const head = stdout.subarray(0, end).toString().split("\r\n");
      const headers = head.map((line) => line.split(/: /, 2) as [string, string]);
      const status = Number(headers.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
      response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== "Status")));
      response.end(stdout.subarray(end + 4));
    });
  });
  server.listen(0, "127.0.0.1", () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}

if (import.meta.main) serve(process.argv[2] ?? "", process.env.EXPECTED ?? "");
