// Real processes over HTTP: killed with -9, and two of them on one state.

import { testSuite } from "./run/suite-test.ts";
import { kill9 } from "./suites/crashes/kill9.ts";
import { two } from "./suites/state/two.ts";

testSuite(kill9, "the next apply completes an apply that was killed");
testSuite(
  two,
  "the second of two applies on one state waits, recovers from a killed first, and is safe from a paused one",
);
