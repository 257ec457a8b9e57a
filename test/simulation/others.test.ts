// Other people, other processes, odd states and full disks.

import { tryOut } from "./run/tried.ts";
import { zombie } from "./suites/crashes/zombie.ts";
import { disk } from "./suites/faults/disk.ts";
import { moves } from "./suites/world/moves.ts";
import { properties } from "./suites/world/properties.ts";
import { taken } from "./suites/world/taken.ts";

tryOut(properties, "any workspace, spec and state converge in one apply, as planned");
tryOut(moves, "what others change between plan and apply is never overwritten");
tryOut(taken, "a name that somebody else took is told, and neither adopted nor changed");
tryOut(zombie, "a process that lost the lock while it was frozen writes nothing when it goes on");
tryOut(disk, "a disk that fails stops the writes, and the next run finishes");
