// A network and a service that misbehave.

import { testSuite } from "./run/suite-test.ts";
import { faults } from "./suites/faults/faults.ts";
import { late } from "./suites/faults/late.ts";
import { order } from "./suites/faults/order.ts";
import { repeat } from "./suites/faults/repeat.ts";

testSuite(faults, "faulty responses never cause a lost or duplicate object");
testSuite(late, "a request that is executed long after its timeout leaves no duplicate");
testSuite(order, "no request is sent before its dependencies have a response");
testSuite(repeat, "a write that arrives twice leaves one object");
