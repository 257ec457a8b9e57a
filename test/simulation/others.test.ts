// Other people, other processes, odd states and full disks.

import { testSuite } from "./run/suite-test.ts";
import { zombie } from "./suites/crashes/zombie.ts";
import { disk } from "./suites/faults/disk.ts";
import { moves } from "./suites/world/moves.ts";
import { nameConflict } from "./suites/world/name-conflict.ts";
import { properties } from "./suites/world/properties.ts";

testSuite(properties, "one apply converges for any workspace, spec, and state, as planned");
testSuite(moves, "an apply never overwrites what another client changed after the plan");
testSuite(
  nameConflict,
  "an object that another client created with the planned name is reported, and neither adopted nor changed",
);
testSuite(zombie, "a process that lost the lock while it was frozen sends no write when it continues");
testSuite(disk, "a failing disk stops the writes, and the next run finishes");
