// A network and a service that misbehave.

import { faults } from "./suites/faults.ts";
import { late } from "./suites/late.ts";
import { order } from "./suites/order.ts";
import { repeat } from "./suites/repeat.ts";
import { tryOut } from "./tried.ts";

tryOut(faults, "whatever an operation is answered, nothing is lost or made twice");
tryOut(late, "a request that is carried out long after it timed out leaves no duplicate");
tryOut(order, "nothing is sent before what it depends on has been answered");
tryOut(repeat, "a write that arrives twice leaves one thing");
