// Reports unmanaged objects with the name of a planned creation, in kinds whose names are not unique.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import { listed, shellWord } from "../../core/sentences.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Change, Create, Namesake } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { Plan } from "../model/plan.ts";
import { stateExists } from "./state-exists.ts";
import { isManageable } from "./unmanageable.ts";

/** Maximum number of objects to list in a message. */
const MOST = 10;

export function namesakeOf(live: LiveObject): Namesake {
  const { id, unmanageable } = live;
  const { creator_user_name: creator } = live.facts;
  return {
    id,
    ...(typeof creator === "string" ? { creator } : {}),
    ...(unmanageable === undefined ? {} : { unmanageable }),
  };
}

/** `ID 12, created by ada@example.com; ID 13, creator unknown`. */
export function namesakesText(found: readonly Namesake[]): string {
  const texts = found.slice(0, MOST).map(({ id, creator, unmanageable }) => {
    const origin = creator === undefined ? "creator unknown" : `created by ${creator}`;
    return `ID ${id}, ${origin}${unmanageable === undefined ? "" : `, cannot be managed: ${unmanageable}`}`;
  });
  return [...texts, ...(found.length > MOST ? [`${found.length - MOST} more`] : [])].join("; ");
}

/** Commands that import one of them each: `` `workspace import jobs.a 12` or `workspace import jobs.a 13` ``; empty if none can be managed. */
export function importCommands(address: Address, found: readonly Namesake[]): string {
  const commands = found
    .filter(isManageable)
    .map(({ id }) => `\`workspace import ${shellWord(address)} ${shellWord(id)}\``);
  return listed(commands, "or", MOST);
}

interface Duplicates {
  readonly guards: Plan["guards"];
  readonly warnings: readonly Diagnostic[];
}

/** Without a state, an object with the name of a new one is probably from a lost state: a guard blocks the plan. Else a warning is enough. */
export function duplicatesIn({ input }: PlanContext, changes: readonly Change[]): Duplicates {
  const { spec, state, registry } = input;
  const found = changes.filter(hasNamesakes);
  const details = (change: WithNamesakes) => {
    const at = spec.resources.get(change.address)?.at;
    const cause = namesakesText(change.namesakes);
    return { address: change.address, at, cause };
  };
  const existing = ({ address, kind, name }: Change): string =>
    `${address}: an unmanaged ${registry.get(kind).singular} named ${JSON.stringify(name)} already exists`;
  if (stateExists(state) || input.allowDuplicates === true || spec.policy.duplicate_names === "allow") {
    const warnings = found.map((change) =>
      warning("PLAN_DUPLICATE_NAME", `${existing(change)}, and the plan creates another one`, {
        ...details(change),
        hint: toAdopt(change),
      }),
    );
    return { guards: [], warnings };
  }
  const guards = found.map((change) => ({
    diagnostic: error("GUARD_DUPLICATE_NAME", `${existing(change)}, and no state exists yet`, {
      ...details(change),
      hint: `${toAdopt(change)}; if its state is lost or elsewhere, restore it or pass --state (a shared state: \`--state workspace:/FOLDER\` or PostgreSQL); to create another one, pass --allow-duplicates or set policy.duplicate_names: allow`,
    }),
    addresses: [change.address],
  }));
  return { guards, warnings: [] };
}

type WithNamesakes = Create & Required<Pick<Create, "namesakes">>;

function hasNamesakes(change: Change): change is WithNamesakes {
  return change.action === "create" && change.namesakes !== undefined;
}

function toAdopt({ address, namesakes }: WithNamesakes): string {
  const commands = importCommands(address, namesakes);
  switch (namesakes.filter(isManageable).length) {
    case 0:
      return "to avoid a second object with this name, give the resource another name";
    case 1:
      return `to adopt it, ${namesakes.length === 1 ? "pass --adopt or " : ""}run ${commands}`;
    default:
      return `to adopt one of them, run ${commands}`;
  }
}
