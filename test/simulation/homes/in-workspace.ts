// States in the workspace's own file system: their requests go to the emulator of the site, like those of the engine.

import type { HttpRequest } from "../../../src/api/http/transport.ts";
import { Files } from "../../../src/state/backends/workspace-file/files.ts";
import { WorkspaceBackend } from "../../../src/state/backends/workspace-file/workspace-backend.ts";
import type { Home, Line } from "../../engine/home.ts";
import type { Site } from "../../engine/site.ts";

export const STATES_FOLDER = "/states";
const FOLDER = `${STATES_FOLDER}/team`;

export const LATENCY_MS = 700;

const alone: Line = (_what, _changes, work) => work();

export const inWorkspace: Home = {
  latencyMs: LATENCY_MS,
  place(site, { line = alone }) {
    const transport = (request: HttpRequest) =>
      line(nameOf(request), request.method !== "GET", () => site.deliver(request));
    const { writer } = site.client({ transport });
    return new WorkspaceBackend(new Files(writer), { folder: FOLDER });
  },
  texts: async (site) => textsOf(site),
  copy: async () => inWorkspace,
};

/** `put /states/team/lock.1`. */
function nameOf({ path, body }: HttpRequest): string {
  const operation = path.replace(/^.*\/api\/2\.0\/fs\//, "").replace(/\?.*$/, "");
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const of = /"path":"([^"]*)"|name="path"\r\n\r\n([^\r]*)/.exec(text);
  return `${operation} ${of?.[1] ?? of?.[2] ?? ""}`.trimEnd();
}

/** Every file of the workspace: no spec of a simulation puts a secret into one. */
function textsOf({ world: { store } }: Site): ReadonlyMap<string, string> {
  const rows = Object.entries(store.dump().files ?? {});
  return new Map(
    rows.flatMap(([id, row]) => {
      const { name, blob } = row as { readonly name?: string; readonly blob?: string };
      if (typeof blob !== "string") return [];
      const bytes = store.world.blobs.read(blob, 0, store.world.blobs.size(blob));
      return [[`file ${name} (${id})`, Buffer.from(bytes).toString("latin1")] as const];
    }),
  );
}
