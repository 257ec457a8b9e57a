// How long the emulator takes to open 100,000 objects, alone (`node bench/emulator-open.ts`); `npm run bench` has it too.

import { measureOpening, OBJECTS } from "./opening.ts";

const { openedMs, answeredMs } = await measureOpening();
console.log(
  `${OBJECTS.toLocaleString("en")} objects: ready after ${Math.round(openedMs)} ms, first answer after ${Math.round(answeredMs)} ms (1,000 ms allowed)`,
);
