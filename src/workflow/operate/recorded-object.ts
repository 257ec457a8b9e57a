// Finds the recorded object of an address, for commands that operate managed objects.

import type { Reader } from "../../api/contract/reader.ts";
import { type Address, kindOf, parseAddress, type RemoteId } from "../../core/address.ts";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { defined, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { isMissing, maskedFailure, maskingFailures } from "../../core/request-failure.ts";
import type { SensitiveTexts } from "../../core/sensitive/texts.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { nearestHint } from "../../core/suggest.ts";
import { registry } from "../../providers/index.ts";
import { idText } from "../../resource/service-status.ts";
import { hideRecorded, markRecorded, revealedState } from "../../state/model/digests-in-state.ts";
import type { State, StateRecord } from "../../state/model/record.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { assertSameHost } from "../session/check-state.ts";
import { type Connection, withConnection } from "../session/connect.ts";
import { sensitiveValuesOf, withState } from "../session/open-state.ts";
import { checkSpec } from "../session/read-spec.ts";

export interface RecordedObject {
  /** Its reader returns runs and events without sensitive values. */
  readonly connection: Connection;
  /** Answers as the service gives them, for decisions. */
  readonly unmasked: Reader;
  readonly record: StateRecord;
  readonly id: RemoteId;
  readonly address: Address;
  /** An answer of the service without sensitive values. */
  readonly masked: (answer: JsonObject) => JsonObject;
}

/** Connects, with the id of an address of this kind. Throws Failure with CLI_UNKNOWN_ADDRESS. */
export async function withRecordedObject<T>(
  invocation: Invocation,
  kind: string,
  address: string,
  work: (recorded: RecordedObject) => Promise<T>,
): Promise<T> {
  const texts = await textsOf(invocation);
  return maskingFailures(texts, async () => {
    const { state, sensitive } = await recordedState(invocation, texts);
    const record = recordOf(state, kind, address);
    const masked = answersWithoutSensitive(state, sensitive, (answer) =>
      sensitive.maskedAnswer(record.address, answer),
    );
    return withConnection(invocation, (connected) => {
      assertSameHost(state, connected.host);
      const { reader: unmasked } = connected;
      const connection = { ...connected, reader: maskingReader(unmasked, masked, texts) };
      const { id, address } = record;
      return work({ connection, unmasked, record, id, address, masked }).catch((failure: unknown) => {
        throw isMissing(failure) ? gone(record) : failure;
      });
    });
  });
}

/** For runs of any job. The state is read for the first answer that is shown: what only decides or writes does not need it. */
export async function withMaskedRuns<T>(
  invocation: Invocation,
  work: (connection: Connection, unmasked: Reader) => Promise<T>,
): Promise<T> {
  const texts = await textsOf(invocation);
  let masking: Promise<RecordedObject["masked"]> | undefined;
  const masked = async (answer: JsonObject): Promise<JsonObject> => {
    masking ??= runsWithoutSensitive(invocation, texts);
    return (await masking)(answer);
  };
  return maskingFailures(texts, () =>
    withConnection(invocation, (connected) => {
      const { reader: unmasked } = connected;
      const connection = { ...connected, reader: maskingReader(unmasked, masked, texts) };
      return work(connection, unmasked);
    }),
  );
}

/** Each run names its job, whose record is found by its ID. */
async function runsWithoutSensitive(
  invocation: Invocation,
  texts: SensitiveTexts,
): Promise<RecordedObject["masked"]> {
  const { state, sensitive } = await recordedState(invocation, texts);
  const addresses = new Map(
    [...state.records.values()]
      .filter(({ address }) => kindOf(address) === "jobs")
      .flatMap(({ address, id, deposed = [] }) => [id, ...deposed].map((each) => [String(each), address])),
  );
  const maskedRun = (run: JsonObject): JsonObject => {
    const address = addresses.get(idText(run.job_id ?? objectIn(run.metadata).job_id));
    return address === undefined ? sensitive.masked(run) : sensitive.maskedAnswer(address, run);
  };
  return answersWithoutSensitive(state, sensitive, ({ runs, ...answer }) => ({
    ...maskedRun(answer),
    ...defined({
      runs: runs === undefined ? undefined : listIn(runs).map((run) => maskedRun(objectIn(run))),
    }),
  }));
}

/** The values of secrets and sensitive variables that are available. A spec with errors prevents no operation. */
async function textsOf(invocation: Invocation): Promise<SensitiveTexts> {
  return (await checkSpec(invocation)).sensitive;
}

async function recordedState(invocation: Invocation, texts: SensitiveTexts) {
  const { state, diagnostics, key } = await withState(invocation, async (store) => ({
    ...(await store.read()),
    key: await store.key({ make: false }),
  }));
  invocation.observer.report(diagnostics);
  return { state, sensitive: sensitiveValuesOf({ key, lineage: state.lineage, texts }) };
}

/**
 * Values that the spec has or of which the state has digests, wherever they are in an answer, and everything at the places
 * of such a digest.
 */
function answersWithoutSensitive(
  state: State,
  sensitive: SensitiveValues,
  withoutPlaces: RecordedObject["masked"],
): RecordedObject["masked"] {
  const hasDigests = markRecorded(state, sensitive);
  if (sensitive.isEmpty) return (answer) => answer;
  if (!hasDigests) return (answer) => sensitive.masked(answer);
  return (answer) => {
    sensitive.learn(answer);
    hideRecorded(revealedState(state, sensitive), sensitive);
    return withoutPlaces(answer);
  };
}

/** What only readers use; other answers decide what the command does. */
const SHOWN = /^(jobs\/runs\/|clusters\/events$)/;

const EXPORT = "jobs/runs/export";

function maskingReader(
  reader: Reader,
  masked: (answer: JsonObject) => JsonObject | Promise<JsonObject>,
  texts: SensitiveTexts,
): Reader {
  return {
    ...reader,
    read: async (operation, input) => {
      const answer = await reader.read(operation, input).catch((failure: unknown) => {
        throw maskedFailure(failure, texts);
      });
      // A page has neither fields nor the ID of its job, so its run says which values it may contain.
      if (operation === EXPORT)
        await masked(await reader.read("jobs/runs/get", { run_id: input?.run_id ?? 0 }));
      return SHOWN.test(operation) ? ((await masked(answer)) as typeof answer) : answer;
    },
  };
}

/** `jobs.nightly`, or `nightly` where the kind goes without saying. */
function recordOf(state: State, kind: string, text: string): StateRecord {
  const other = text.slice(0, Math.max(0, text.indexOf(".")));
  const isOther = other !== kind && registry.find(other) !== undefined;
  if (isOther)
    throw failureOf("CLI_UNKNOWN_ADDRESS", `${text} is not the address of a ${registry.get(kind).singular}`);
  const address = parseAddress(other === kind ? text : `${kind}.${text}`);
  const record = address === undefined ? undefined : state.records.get(address);
  if (record !== undefined) return record;
  const addresses = [...state.records.keys()].filter((address) => kindOf(address) === kind);
  const otherwise =
    addresses.length === 0
      ? `no ${kind} are recorded; run \`workspace apply\` first`
      : `recorded ${kind}: ${addresses.join(", ")}`;
  const hint = nearestHint(address ?? text, addresses, otherwise);
  throw failureOf("CLI_UNKNOWN_ADDRESS", `the state does not contain ${address ?? text}`, { hint });
}

function gone({ address, id }: StateRecord): Failure {
  return failureOf("CLI_NO_OBJECT", `${address} (ID ${id}) no longer exists in the workspace`, {
    address,
    hint: "to see other changes, run `workspace drift`",
  });
}
