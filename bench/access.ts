// How long the access diff of a large workspace takes: users in nested groups, and access lists that name the groups.

import { AccessState } from "../src/planner/effective-access/access-state.ts";
import { compareRights } from "../src/planner/effective-access/compare-rights.ts";
import { registry as everyKind } from "../src/providers/index.ts";
import type { AccessContribution, PrincipalName } from "../src/resource/access.ts";
import { planningRegistryIn } from "../src/resource/dialect-view.ts";

export const USERS = 5_000;
export const GROUPS = 300;
/** Half of them scopes, half jobs. */
export const LISTS = 600;
const GROUPS_OF_A_USER = 3;
const ROUNDS = 5;

export interface AccessFigure {
  readonly what: string;
  /** With the states before and after the plan; the fastest of several rounds. */
  readonly ms: number;
  readonly rights: number;
}

export function measureAccess(): readonly AccessFigure[] {
  const registry = planningRegistryIn(everyKind, { dialect: "databricks" });
  const stateOf = (joins: Joins): AccessState =>
    new AccessState({ registry, contributions: world(joins), unread: new Set() });
  const everyone = Array.from({ length: USERS }, (_, at) => user(at));
  const cases: readonly (readonly [string, Joins])[] = [
    ["a user joins a group", { group: 150, members: [user(17)] }],
    ["a group joins a group", { group: 250, members: [group(3)] }],
    ["every user joins a group", { group: GROUPS - 1, members: everyone }],
  ];
  return cases.map(([what, joins]) => {
    const times: number[] = [];
    let rights = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const begin = performance.now();
      const states = { before: stateOf({ group: 0, members: [] }), after: stateOf(joins) };
      rights = compareRights(states).gained.length;
      times.push(performance.now() - begin);
    }
    return { what, ms: Math.min(...times), rights };
  });
}

interface Joins {
  readonly group: number;
  readonly members: readonly PrincipalName[];
}

const user = (at: number): PrincipalName => ({ kind: "user", name: `person-${at}@example.com` });
const group = (at: number): PrincipalName => ({ kind: "group", name: `team-${at}` });

/** Each group but the first is in one or two earlier groups, each user in three groups, and each list names two groups. */
function world(joins: Joins): readonly AccessContribution[] {
  const members: PrincipalName[][] = Array.from({ length: GROUPS }, () => []);
  for (let at = 0; at < USERS; at += 1)
    for (let turn = 0; turn < GROUPS_OF_A_USER; turn += 1)
      members[(at * 7 + turn * 101) % GROUPS]?.push(user(at));
  for (let at = 1; at < GROUPS; at += 1)
    for (const outer of new Set([(at * 31) % at, (at * 17 + 5) % at])) members[outer]?.push(group(at));
  members[joins.group]?.push(...joins.members);
  const identity = (name: PrincipalName, own: AccessContribution = {}): AccessContribution => ({
    principal: { kind: name.kind ?? "user", name: name.name, aliases: [], isActive: true },
    ...own,
  });
  return [
    ...Array.from({ length: USERS }, (_, at) => identity(user(at))),
    ...members.map((list, at) => identity(group(at), { members: list })),
    ...Array.from({ length: LISTS }, (_, at) => listOf(at)),
  ];
}

function listOf(at: number): AccessContribution {
  const isScope = at % 2 === 0;
  const levels = isScope ? ["READ", "MANAGE"] : ["CAN_VIEW", "CAN_MANAGE"];
  const on = { kind: isScope ? "scopes" : "jobs", name: `object-${at}` };
  const grants = levels.map((level, turn) => ({ on, to: group((at * 13 + turn * 29) % GROUPS), level }));
  return { grants };
}
