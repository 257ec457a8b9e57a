// `workspace access NAME`: shows what a principal can do, or who can do what on an object: live, by the spec, or after a plan. Read-only.

import { kindOf, parseAddress } from "../../core/address.ts";
import type { ReadEvent } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { accessAnswerJson, accessText } from "../../report/inspect/access-text.ts";
import { registryIn } from "../../resource/dialect-view.ts";
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
import {
  EXISTING_OPTIONS,
  FORM_OPTION,
  HOST_OPTIONS,
  ONLY_OPTION,
  READ_TIMEOUT_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../command/shared-options.ts";
import { colorsOf, printResult } from "../output/diagnostics.ts";
import { progressFor } from "../output/workflow-observer.ts";

const PLAN_ONLY = { ...ONLY_OPTION, ...EXISTING_OPTIONS } as const;

const OPTIONS = {
  of: choiceOption(
    "--of <what>",
    "show the rights now, as the spec declares them, or after a plan (default: live)",
    ["live", "spec", "plan"],
  ),
  kinds: textsOption("--kinds <names>", "limit the rights of a principal to these kinds; repeatable"),
  expand: flagOption("--expand", "list the members of groups one by one"),
  ...SPEC_OPTIONS,
  ...HOST_OPTIONS,
  ...READ_TIMEOUT_OPTION,
  state: STATE_OPTIONS.state,
  ...PLAN_ONLY,
  ...FORM_OPTION,
} as const;

type AccessOptions = ValuesOf<typeof OPTIONS>;

interface Answered {
  readonly answer: AccessAnswer;
  readonly host: string;
}

export const accessCommand = defineCommand({
  name: "access",
  summary: "show what a principal can do, or who can use an object",
  jsonSchema: "access",
  options: OPTIONS,
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
    const question = { name, kinds };
    const { answer, host } = await answered(context, options, question);
    const shown = { answer, of: options.of, host, expand: options.expand, registry };
    printResult(context, options.output, accessAnswerJson(shown), () =>
      accessText(shown, colorsOf(context, context.stdout)),
    );
    return EXIT.ok;
  },
});

async function answered(
  context: ConsoleContext,
  options: AccessOptions,
  question: AccessQuestion,
): Promise<Answered> {
  switch (options.of) {
    case "live":
      return answeredLive(context, question);
    case "spec": {
      const { spec } = await readSpec(context, {});
      return { answer: accessInSpec(context, spec, question), host: "" };
    }
    case "plan":
      return withSession(context, { makesKey: false, secrets: "optional" }, async (session) => {
        const { parallelism } = session.settings;
        const answer = await accessInPlan(session, question, options, { parallelism });
        return { answer, host: session.connection.host };
      });
  }
  return options.of satisfies never;
}

/** The question with the name of the object in the workspace, if the state records another address of it. */
async function recordedName(context: ConsoleContext, question: AccessQuestion): Promise<AccessQuestion> {
  const address = parseAddress(question.name);
  const kind = address && registry.find(kindOf(address));
  if (address === undefined || kind?.nameField === undefined) return question;
  const { state } = await withState(context, (store) => store.read());
  const record = state.records.get(address);
  return record === undefined ? question : { ...question, name: `${kind.kind}.${record.name}` };
}

async function answeredLive(context: ConsoleContext, question: AccessQuestion): Promise<Answered> {
  const { parallelism, dialect } = context.settings();
  const named = await recordedName(context, question);
  const readLimit = readLimitOf(context.readTimeoutMs());
  return withConnection(
    context,
    async (connection) => {
      const progress = await progressFor(context);
      const onRead = (event: ReadEvent): void => progress.read(event);
      const answer = await readLimit
        .during(() => accessInWorkspace(connection, dialect, named, { parallelism, onRead }))
        .finally(() => progress.stop());
      return { answer, host: connection.host };
    },
    { readLimit },
  );
}
