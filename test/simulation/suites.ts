// The list of all suites.

import type { Suite } from "./suite.ts";
import { corrupt } from "./suites/corrupt.ts";
import { crash } from "./suites/crash.ts";
import { cut } from "./suites/cut.ts";
import { disk } from "./suites/disk.ts";
import { double } from "./suites/double.ts";
import { faults } from "./suites/faults.ts";
import { files } from "./suites/files.ts";
import { kill9 } from "./suites/kill9.ts";
import { late } from "./suites/late.ts";
import { moves } from "./suites/moves.ts";
import { names } from "./suites/names.ts";
import { order } from "./suites/order.ts";
import { plans } from "./suites/plans.ts";
import { properties } from "./suites/properties.ts";
import { repeat } from "./suites/repeat.ts";
import { shared } from "./suites/shared.ts";
import { specs } from "./suites/specs.ts";
import { taken } from "./suites/taken.ts";
import { two } from "./suites/two.ts";
import { zombie } from "./suites/zombie.ts";

export const suites: readonly Suite[] = [
  crash,
  double,
  cut,
  late,
  repeat,
  faults,
  properties,
  order,
  moves,
  zombie,
  shared,
  taken,
  disk,
  kill9,
  two,
  corrupt,
  specs,
  files,
  names,
  plans,
];
