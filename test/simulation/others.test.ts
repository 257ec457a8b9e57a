// Other people, other processes, odd states and full disks.

import { disk } from "./suites/disk.ts";
import { moves } from "./suites/moves.ts";
import { properties } from "./suites/properties.ts";
import { taken } from "./suites/taken.ts";
import { zombie } from "./suites/zombie.ts";
import { tryOut } from "./tried.ts";

tryOut(properties, "any workspace, spec and state converge in one apply, as planned");
tryOut(moves, "what others change between plan and apply is never overwritten");
tryOut(taken, "a name that somebody else took is told, and neither adopted nor changed");
tryOut(zombie, "a process that lost the lock while it was frozen writes nothing when it goes on");
tryOut(disk, "a disk that fails stops the writes, and the next run finishes");
