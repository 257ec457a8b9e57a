// For tests of the sign-in: an emulator in the dialect of Databricks behind nock, with one clock for both sides.

import type { SignInPorts } from "../../../src/api/auth/sign-in.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../../src/api/http/transport.ts";
import { startWorld, type TestWorld } from "../../emulator/harness.ts";
import { type ArrivedRequest, nockedTransport } from "../../nocked.ts";

export const HERE = "http://127.0.0.1:8080";
export const WORKSPACE = "https://adb-1.2.azuredatabricks.net";
export const TENANT = "11111111-2222-3333-4444-555555555555";
export const RESOURCE_ID = "/subscriptions/s1/resourceGroups/g/providers/Microsoft.Databricks/workspaces/w";

/** A request as it arrived, with the origin that it was for. */
export interface SentRequest extends Omit<ArrivedRequest, "body"> {
  readonly origin: string;
  readonly body: string;
}

export interface SignInPlace {
  readonly world: TestWorld;
  readonly ports: SignInPorts;
  /** Every request, the tokens asked for among them. */
  readonly sent: readonly SentRequest[];
  /** Waits that were asked for, in milliseconds; the clock does not move. */
  readonly waits: readonly number[];
  /** Answers the next requests in place of the emulator. */
  readonly instead: (HttpResponse | Error)[];
  /** Answers requests in place of the emulator, too. */
  refuse: ((request: SentRequest) => HttpResponse | Error | undefined) | undefined;
  /** Arguments of every run of the Azure CLI. */
  readonly commands: (readonly string[])[];
}

/** Every origin leads to the same emulator; what a test asks of the origins it reads from `sent`. */
export async function signInPlace(): Promise<SignInPlace> {
  const world = await startWorld({ databricks: "azure" });
  const sent: SentRequest[] = [];
  const waits: number[] = [];
  const instead: (HttpResponse | Error)[] = [];
  const commands: (readonly string[])[] = [];
  const answer = async (request: SentRequest): Promise<HttpResponse> => {
    sent.push(request);
    const other = instead.shift() ?? place.refuse?.(request);
    if (other instanceof Error) throw other;
    if (other !== undefined) return other;
    const { method, path, origin, body } = request;
    const headers = { ...request.headers, host: new URL(HERE).host };
    const answered = await world.app({ method, path, headers, ...(body === "" ? {} : { body }) });
    return { ...answered, body: asIfFrom(answered.body, origin) };
  };
  const transports = new Map<string, Transport>();
  const transportTo = (origin: string): Transport => {
    const transport =
      transports.get(origin) ??
      nockedTransport(({ body, ...arrived }) =>
        answer({ ...arrived, origin, body: new TextDecoder().decode(body) }),
      );
    transports.set(origin, transport);
    return transport;
  };
  const transport = (request: HttpRequest) => transportTo(request.origin)(request);
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

/** Every host of the test is the same emulator. */
function asIfFrom(body: string | Uint8Array, origin: string): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return text.replaceAll(HERE, origin);
}
