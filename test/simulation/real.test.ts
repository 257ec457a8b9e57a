// Real processes over HTTP: killed with -9, and two of them on one state.

import { tryOut } from "./run/tried.ts";
import { kill9 } from "./suites/crashes/kill9.ts";
import { two } from "./suites/state/two.ts";

tryOut(kill9, "an apply that is killed is finished by the next one");
tryOut(
  two,
  "of two applies on one state one waits, takes over from a dead one, and is safe from a stopped one",
);
