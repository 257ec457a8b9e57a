// The heap of timers against sorting.

import fc from "fast-check";
import { expect, test } from "vitest";
import { DueQueue } from "../../../src/emulator/store/store.ts";

test("whatever was added comes out by time, and by order where times are equal, also when mixed with taking", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined })), (steps) => {
      const schedule = new DueQueue();
      const model: { id: string; at: number; order: number }[] = [];
      for (const [order, at] of steps.entries()) {
        if (at !== undefined) {
          const due = { id: String(order), at, order };
          schedule.add(due);
          model.push(due);
          model.sort((a, b) => a.at - b.at || a.order - b.order);
        } else expect(schedule.take()).toEqual(model.shift());
        expect(schedule.first).toEqual(model[0]);
      }
    }),
  );
});
