// `workspace access NAME`: shows what a principal can do, or who can do what on an object: live, by the spec, or after a plan. Read-only.

import { kindOf, parseAddress } from "../../core/address.ts";
import type { ReadEvent } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { ACCESS_FORMATS } from "../../report/formats.ts";
import { type AccessAnswerView, accessAnswerView } from "../../report/inspect/access-text.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { State } from "../../state/model/record.ts";
import type { Invocation } from "../../workflow/invocation/invocation.ts";
import {
  type AccessAnswer,
  type AccessQuestion,
  accessInPlan,
  accessInSpec,
  accessInWorkspace,
} from "../../workflow/plan/effective-access.ts";
import { readLimitOf, withConnection } from "../../workflow/session/connect.ts";
import { withState } from "../../workflow/session/open-state.ts";
import { readSpec } from "../../workflow/session/read-spec.ts";
import { withSession } from "../../workflow/session/session.ts";
import { kindsNamed } from "../../workflow/transfer/export.ts";
import { type ConsoleContext, defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { assertUnused, choiceOption, flagOption, textsOption, type ValuesOf } from "../command/option.ts";
import { ACCESS_OUTPUT, EXISTING_OPTIONS, LIVE_OPTIONS, ONLY_OPTION } from "../command/shared-options.ts";
import { progressFor } from "../output/diagnostics.ts";
import { accessFailureDocument } from "../output/failure-documents.ts";
import { type RunFacts, withReports } from "../output/reports.ts";

const PLAN_ONLY = { ...ONLY_OPTION, ...EXISTING_OPTIONS } as const;

const OPTIONS = {
  of: choiceOption(
    "--of <what>",
    "show the rights now, as the spec declares them, or after a plan (default: live)",
    ["live", "spec", "plan"],
  ),
  kinds: textsOption("--kinds <names>", "limit the rights of a principal to these kinds; repeatable"),
  expand: flagOption("--expand", "list the members of groups one by one"),
  ...LIVE_OPTIONS,
  ...PLAN_ONLY,
  ...ACCESS_OUTPUT,
} as const;

type AccessOptions = ValuesOf<typeof OPTIONS>;

interface Answered {
  readonly answer: AccessAnswer;
  readonly facts: RunFacts;
}

export const accessCommand = defineCommand({
  jsonSchema: "access",
  options: OPTIONS,
  failureDocument: accessFailureDocument,
  args: [
    {
      name: "<name>",
      description:
        "user, group, or service principal (`ada@example.com`, `data-eng`, `sp:deployer`), or an object (`scopes.etl`)",
      takes: "address",
    },
  ],
  notes:
    "Each right is the highest over all paths: nested groups, access lists with their folders, and entitlements. The command reads no secret values. For a principal, it reads the access list of each object.",
  async run(context, options, [name = ""]) {
    if (options.of !== "plan") assertUnused(PLAN_ONLY, options, "--of plan");
    const kinds =
      options.kinds.length === 0
        ? new Set<string>()
        : kindsNamed(registryIn(registry, context.dialect()), options.kinds);
    const { output, of, expand } = options;
    return withReports(context, { output }, accessFailureDocument, async (reports, invocation) => {
      const { answer, facts } = await answered(context, invocation, options, { name, kinds });
      const view = accessAnswerView({ answer, of, host: facts.host, expand, registry });
      await reports.show<AccessAnswerView>(ACCESS_FORMATS, view, facts);
      return EXIT.ok;
    });
  },
});

async function answered(
  context: ConsoleContext,
  invocation: Invocation,
  options: AccessOptions,
  question: AccessQuestion,
): Promise<Answered> {
  switch (options.of) {
    case "live":
      return answeredLive(context, invocation, question);
    case "spec": {
      const { spec } = await readSpec(invocation, {});
      return { answer: accessInSpec(invocation, spec, question), facts: { host: "" } };
    }
    case "plan":
      return withSession(
        invocation,
        { makesKey: false, writesNoDigests: true, secrets: "optional" },
        async (session) => {
          const { parallelism } = session.settings;
          const { answer, plan } = await accessInPlan(session, question, options, { parallelism });
          return { answer, facts: plan };
        },
      );
  }
  return options.of satisfies never;
}

/** The question with the name of the object in the workspace, if the state records another address of it. */
function recordedName({ records }: State, question: AccessQuestion): AccessQuestion {
  const address = parseAddress(question.name);
  const kind = address && registry.find(kindOf(address));
  if (address === undefined || kind?.nameField === undefined) return question;
  const record = records.get(address);
  return record === undefined ? question : { ...question, name: `${kind.kind}.${record.name}` };
}

async function answeredLive(
  context: ConsoleContext,
  invocation: Invocation,
  question: AccessQuestion,
): Promise<Answered> {
  const { parallelism, dialect } = invocation.settings();
  const recorded = await withState(invocation, async (store) => ({
    ...(await store.read()),
    key: await store.key({ make: false }),
  }));
  const named = recordedName(recorded.state, question);
  const readLimit = readLimitOf(invocation.readTimeoutMs());
  return withConnection(
    invocation,
    async (connection) => {
      const progress = await progressFor(context);
      const onRead = (event: ReadEvent): void => progress.read(event);
      const answer = await readLimit
        .during(() => accessInWorkspace(connection, dialect, named, { parallelism, onRead }, recorded))
        .finally(() => progress.stop());
      return { answer, facts: { host: connection.host } };
    },
    { readLimit },
  );
}
