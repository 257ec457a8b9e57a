// `workspace import ADDRESS ID`: records a live object under an address of the spec. The workspace is not touched.

import { parseAddress, type RemoteId, remoteId } from "../../core/address.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { registry } from "../../providers/index.ts";
import { printable } from "../../report/printable.ts";
import type { Resource, Spec } from "../../spec/spec.ts";
import type { State } from "../../state/record.ts";
import { withLock } from "../apply-plan.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { nearest } from "../nearest.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";
import { type Run, withRun } from "../run.ts";
import { assertSameHost } from "../session.ts";

export const importCommand = defineCommand({
  name: "import",
  summary: "take a live object over under an address of the spec",
  options: { ...SPEC_OPTIONS, ...HOST_OPTIONS, ...STATE_OPTIONS },
  args: [
    { name: "<address>", description: "a resource of the spec, such as pools.shared" },
    { name: "<id>", description: "what the service calls the object" },
  ],
  notes: "Nothing is changed in the workspace; the next plan shows what differs from the spec.",
  async run(context, options, [text = "", id = ""]) {
    return context.signals.during((signal) =>
      withRun(context, options, { makesKey: true, secrets: "skip", signal }, async (run) => {
        const resource = declared(run.spec, text);
        return withLock(run, options.lockTimeout, signal, async (lease) => {
          const state = lease.state();
          assertSameHost(state, run.connection.host);
          assertFree(state, resource, remoteId(id));
          const name = await liveName(run, resource, remoteId(id));
          if (state.host === "") await lease.append({ type: "host", host: run.connection.host });
          // Nothing counts as applied yet, so the next plan compares everything that the spec sets.
          const record = {
            status: "ready",
            address: resource.address,
            id: remoteId(id),
            name,
            applied: {},
            seen: {},
            depends_on: resource.dependsOn,
          } as const;
          await lease.append({ type: "record", record });
          await lease.publish();
          context.stdout.write(`Imported ${printable(resource.address)}. See what differs: workspace plan\n`);
          return EXIT.ok;
        });
      }),
    );
  },
});

function declared(spec: Spec, text: string): Resource {
  const address = parseAddress(text);
  const resource = address === undefined ? undefined : spec.resources.get(address);
  if (resource !== undefined) return resource;
  const near = nearest(text, [...spec.resources.keys()]);
  const hint = near === undefined ? "write the resource into the spec first" : `did you mean "${near}"?`;
  throw new Failure(error("CLI_UNKNOWN_ADDRESS", `the spec has no ${text}`, { hint }));
}

function assertFree(state: State, resource: Resource, id: RemoteId): void {
  const here = state.records.get(resource.address);
  if (here !== undefined)
    throw new Failure(
      error("CLI_UNKNOWN_ADDRESS", `${resource.address} is recorded already, with the id ${here.id}`, {
        hint: `forget it first: workspace state rm ${resource.address}`,
      }),
    );
  const other = [...state.records.values()].find(
    (one) => one.id === id && one.address.startsWith(`${resource.kind}.`),
  );
  if (other !== undefined)
    throw new Failure(
      error("CLI_UNKNOWN_ADDRESS", `${id} is recorded already, as ${other.address}`, {
        hint: `give that record another address: workspace state mv ${other.address} ${resource.address}`,
      }),
    );
}

async function liveName(run: Run, resource: Resource, id: RemoteId): Promise<string> {
  const provider = registry.get(resource.kind);
  const live = await provider.read(run.connection.reader, id);
  if (live === undefined)
    throw new Failure(
      error("CLI_UNKNOWN_ADDRESS", `the workspace has no ${provider.one} with the id ${id}`, {
        hint: "see ids with: workspace api",
      }),
    );
  if (live.name === resource.name || provider.nameField !== undefined) return live.name;
  throw new Failure(
    error(
      "CLI_UNKNOWN_ADDRESS",
      `the ${provider.one} with the id ${id} is named ${live.name}, not ${resource.name}`,
      { hint: "give the resource that name in the spec" },
    ),
  );
}
