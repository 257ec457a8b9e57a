// Names of a state's files in the workspace. No name is ever reused for other content, except a holder's own claim.

/** A state file: its serial, and the fencing token of its writer. `0.0` means no state. */
export interface StateName {
  readonly serial: number;
  readonly fence: number;
}

/** A journal is a folder of segments: begun under a fence, as its holder's `epoch`-th, going on from a state. */
export interface JournalName {
  readonly fence: number;
  readonly epoch: number;
  readonly base: StateName;
}

export const NO_STATE: StateName = { serial: 0, fence: 0 };

const NUMBER = "(\\d{1,15})";
const STATE = new RegExp(`^state\\.${NUMBER}\\.${NUMBER}$`);
const JOURNAL = new RegExp(`^journal\\.${NUMBER}\\.${NUMBER}\\.${NUMBER}\\.${NUMBER}$`);
const SEGMENT = /^\d{1,15}$/;

export const stateFile = ({ serial, fence }: StateName): string => `state.${serial}.${fence}`;
export const journalFolder = ({ fence, epoch, base }: JournalName): string =>
  `journal.${fence}.${epoch}.${base.serial}.${base.fence}`;

export function statesIn(names: readonly string[]): readonly StateName[] {
  return names
    .flatMap((name) => {
      const [, serial, fence] = STATE.exec(name) ?? [];
      return serial === undefined ? [] : [{ serial: Number(serial), fence: Number(fence) }];
    })
    .sort((a, b) => b.serial - a.serial || b.fence - a.fence);
}

/** The one that counts first. */
export function journalsIn(names: readonly string[]): readonly JournalName[] {
  return names
    .flatMap((name) => {
      const [, fence, epoch, serial, of] = JOURNAL.exec(name) ?? [];
      if (fence === undefined) return [];
      return [
        { fence: Number(fence), epoch: Number(epoch), base: { serial: Number(serial), fence: Number(of) } },
      ];
    })
    .sort((a, b) => b.fence - a.fence || b.epoch - a.epoch);
}

export function segmentsIn(names: readonly string[]): readonly number[] {
  return names
    .filter((name) => SEGMENT.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

export function sameState(a: StateName, b: StateName): boolean {
  return a.serial === b.serial && a.fence === b.fence;
}
