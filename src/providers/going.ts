// Whether a planned change takes the object away that is there now.

import type { PlannedChange } from "../resource/provider.ts";

export const goes = ({ action }: PlannedChange): boolean => action === "delete" || action === "replace";
