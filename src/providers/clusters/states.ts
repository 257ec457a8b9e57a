// What the states of a cluster count as (part B, 3.2): on its way counts as there.

const UP: readonly string[] = ["PENDING", "RUNNING", "RESTARTING", "RESIZING"];
const DOWN: readonly string[] = ["TERMINATED", "TERMINATING"];

/** From these a cluster does not come to run by itself. */
export const ENDED: readonly string[] = [...DOWN, "ERROR"];

export function isUp(state: string): boolean {
  return UP.includes(state);
}

export function isDown(state: string): boolean {
  return DOWN.includes(state);
}
