// A network and a service that misbehave.

import { tryOut } from "./run/tried.ts";
import { faults } from "./suites/faults/faults.ts";
import { late } from "./suites/faults/late.ts";
import { order } from "./suites/faults/order.ts";
import { repeat } from "./suites/faults/repeat.ts";

tryOut(faults, "whatever an operation is answered, nothing is lost or made twice");
tryOut(late, "a request that is carried out long after it timed out leaves no duplicate");
tryOut(order, "nothing is sent before what it depends on has been answered");
tryOut(repeat, "a write that arrives twice leaves one thing");
