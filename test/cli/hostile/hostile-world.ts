// A hostile name, a spec that is full of it, and an emulator in which unmanaged objects, runs, and errors have it,
// too.

import { rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { folderWith } from "../program.ts";

export const TOKEN = "hostile-token";

/** Everything at once: C0, C1, CSI, OSC, bidi, zero width, tags, commands of CI services, markup, mentions, a line that poses as a change. */
export const EVIL =
  "a\u0007\u001b[2J\u001b]0;t\u0007\u009b31m\u202e\u2066\u200b\u{e0041}\u2028::error::x##[group]y##vso[z]`</details>@all\r\n  - DELETE pools.x";
/** As YAML and JSON write it, without a raw character that YAML forbids. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
const QUOTED = quoted(EVIL);

const SPEC = `
users:
  ada@example.com: { displayName: ${QUOTED} }
groups:
  g: { displayName: ${QUOTED}, members: { users: [ada@example.com] } }
pools:
  p: { instance_pool_name: ${quoted(EVIL.slice(0, 90))}, node_type_id: Standard_DS3_v2, custom_tags: { team: ${QUOTED} } }
clusters:
  ${QUOTED}: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, spark_conf: { ${QUOTED}: ${QUOTED} } }
jobs:
  j:
    name: ${QUOTED}
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    notebook_task: { notebook_path: ${quoted(`/Shared/${EVIL.replaceAll("/", "_")}`)} , base_parameters: { ${QUOTED}: ${QUOTED} } }
    email_notifications: { on_failure: [ada@example.com] }
directories:
  ${quoted(`/Shared/d${EVIL.replaceAll("/", "_")}`)}: {}
notebooks:
  ${quoted(`/Shared/${EVIL.replaceAll("/", "_")}`)}: { source: n.py }
`;

/** A service, a second one that refuses everything in hostile words, and a folder with the spec. */
export class HostileWorld {
  readonly #server: RunningServer;
  readonly #refusing: Server;
  readonly cwd = folderOf(`print(1)\n# ${EVIL}\n`);

  private constructor(server: RunningServer, refusing: Server) {
    this.#server = server;
    this.#refusing = refusing;
  }

  static async open(): Promise<HostileWorld> {
    const refusing = createServer((_request, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error_code: EVIL, message: EVIL, detail: EVIL, scimType: EVIL }));
    });
    await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
    return new HostileWorld(await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN }), refusing);
  }

  async close(): Promise<void> {
    await this.#server.close();
    await new Promise((resolve) => this.#refusing.close(resolve));
    rmSync(this.cwd, { recursive: true, force: true });
  }

  get url(): string {
    return this.#server.url;
  }

  get refusingUrl(): string {
    return `http://127.0.0.1:${(this.#refusing.address() as AddressInfo).port}`;
  }

  /** Undeclared objects with names as bad as the service allows. */
  async strangers(): Promise<void> {
    await this.#api("preview/scim/v2/Users", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      userName: "eve@example.com",
      displayName: EVIL,
    });
    await this.#api("preview/scim/v2/Groups", {
      displayName: `${EVIL}2`,
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
    });
    await this.#api("instance-pools/create", {
      instance_pool_name: EVIL.slice(0, 80),
      node_type_id: "Standard_DS3_v2",
    });
    await this.#api("clusters/create", {
      cluster_name: EVIL,
      spark_version: "6.4.x-scala2.11",
      node_type_id: "Standard_DS3_v2",
      num_workers: 1,
      custom_tags: { t: EVIL },
    });
    const task = {
      new_cluster: { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 },
      notebook_task: { notebook_path: `/Shared/${EVIL.replaceAll("/", "_")}` },
    };
    const job = await this.#api("jobs/create", { name: EVIL, ...task });
    await this.#api("jobs/run-now", { job_id: job.job_id, notebook_params: { [EVIL]: EVIL } });
    await this.#api("jobs/runs/submit", { run_name: EVIL, ...task });
  }

  /** Ends every active run with a result or an error that is as bad as possible. */
  async endRuns(state: string): Promise<void> {
    const { runs: active = [] } = (await this.#api("jobs/runs/list?active_only=true")) as {
      runs?: { run_id: number }[];
    };
    for (const { run_id } of active)
      await fetch(`${this.#server.url}/__emulator/runs`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({
          run_id,
          result_state: state,
          ...(state === "FAILED" ? { error: EVIL } : { result: EVIL }),
        }),
      });
  }

  async #api(path: string, body?: object): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.#server.url}/api/2.0/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  }
}

/** A new folder with the spec and the notebook that it names. */
export function folderOf(notebook: string): string {
  const folder = folderWith(SPEC);
  writeFileSync(join(folder, "n.py"), notebook);
  return folder;
}
