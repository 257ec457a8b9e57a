// States that a team shares, and encrypted ones.

import { shared } from "./suites/shared.ts";
import { tryOut } from "./tried.ts";

tryOut(shared, "in the workspace, in PostgreSQL and encrypted, a state is as safe as in a file");
