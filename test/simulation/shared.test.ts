// States that a team shares, and encrypted ones.

import { tryOut } from "./run/tried.ts";
import { shared } from "./suites/state/shared.ts";

tryOut(shared, "in the workspace, in PostgreSQL and encrypted, a state is as safe as in a file");
