// The list of all suites.

import type { Suite } from "./run/suite.ts";
import { crash } from "./suites/crashes/crash.ts";
import { cut } from "./suites/crashes/cut.ts";
import { double } from "./suites/crashes/double.ts";
import { kill9 } from "./suites/crashes/kill9.ts";
import { zombie } from "./suites/crashes/zombie.ts";
import { disk } from "./suites/faults/disk.ts";
import { faults } from "./suites/faults/faults.ts";
import { late } from "./suites/faults/late.ts";
import { order } from "./suites/faults/order.ts";
import { repeat } from "./suites/faults/repeat.ts";
import { files } from "./suites/input/files.ts";
import { names } from "./suites/input/names.ts";
import { plans } from "./suites/input/plans.ts";
import { specs } from "./suites/input/specs.ts";
import { clocks } from "./suites/state/clocks.ts";
import { corrupt } from "./suites/state/corrupt.ts";
import { shared } from "./suites/state/shared.ts";
import { two } from "./suites/state/two.ts";
import { moves } from "./suites/world/moves.ts";
import { nameConflict } from "./suites/world/name-conflict.ts";
import { properties } from "./suites/world/properties.ts";

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
  clocks,
  nameConflict,
  disk,
  kill9,
  two,
  corrupt,
  specs,
  files,
  names,
  plans,
];
