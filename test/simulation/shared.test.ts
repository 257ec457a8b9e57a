// States that a team shares, and encrypted ones.

import { testSuite } from "./run/suite-test.ts";
import { clocks } from "./suites/state/clocks.ts";
import { shared } from "./suites/state/shared.ts";

testSuite(shared, "a state in the workspace, in PostgreSQL, or encrypted is as safe as in a file");
testSuite(clocks, "a live run keeps its lock, whatever the clocks of other machines say");
