// For tests of the sign-in: an emulator in the dialect of Databricks, reached in the process, with one clock for both sides.

import type { SignInPorts } from "../../../src/api/auth/sign-in.ts";
import type { HttpRequest, HttpResponse } from "../../../src/api/http/message.ts";
import { startWorld, type TestWorld } from "../../emulator/harness.ts";

export const HERE = "http://127.0.0.1:8080";
export const WORKSPACE = "https://adb-1.2.azuredatabricks.net";
export const TENANT = "11111111-2222-3333-4444-555555555555";
export const RESOURCE_ID = "/subscriptions/s1/resourceGroups/g/providers/Microsoft.Databricks/workspaces/w";

export interface SignInPlace {
  readonly world: TestWorld;
  readonly ports: SignInPorts;
  /** Every request, the tokens asked for among them. */
  readonly sent: readonly HttpRequest[];
  /** Waits that were asked for, in milliseconds; the clock does not move. */
  readonly waits: readonly number[];
  /** Answers the next requests in place of the emulator. */
  readonly instead: (HttpResponse | Error)[];
  /** Answers requests in place of the emulator, too. */
  refuse: ((request: HttpRequest) => HttpResponse | Error | undefined) | undefined;
  /** Arguments of every run of the Azure CLI. */
  readonly commands: (readonly string[])[];
}

/** Every origin leads to the same emulator; what a test asks of the origins it reads from `sent`. */
export async function signInPlace(): Promise<SignInPlace> {
  const world = await startWorld({ databricks: "azure" });
  const sent: HttpRequest[] = [];
  const waits: number[] = [];
  const instead: (HttpResponse | Error)[] = [];
  const commands: (readonly string[])[] = [];
  const transport = async (request: HttpRequest): Promise<HttpResponse> => {
    sent.push(request);
    const other = instead.shift() ?? place.refuse?.(request);
    if (other instanceof Error) throw other;
    if (other !== undefined) return other;
    const { method, path, origin, body } = request;
    const headers = { ...request.headers, host: new URL(HERE).host };
    const answer = await world.app({ method, path, headers, ...(body === undefined ? {} : { body }) });
    return { ...answer, body: asIfFrom(answer.body, origin) };
  };
  const ports: SignInPorts = {
    transport,
    clock: () => world.clock.now(),
    pause: async (ms) => void waits.push(ms),
    random: () => 0,
    readFile: (path) => {
      throw new Error(`no such file: ${path}`);
    },
  };
  const place: SignInPlace = { world, ports, sent, waits, instead, refuse: undefined, commands };
  return place;
}

/** The emulator is reached at one address, whatever it stands for. */
function asIfFrom(body: string | Uint8Array, origin: string): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return text.replaceAll(HERE, origin);
}
