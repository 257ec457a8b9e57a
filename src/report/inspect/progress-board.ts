// The progress board on a terminal: a task for the read, then one for each kind that changes, with counts and the time left.

import { Listr, type ListrDefaultRendererLogLevels, ListrLogger, ProcessOutput } from "listr2";
import { grouped } from "../../core/sentences.ts";
import type { ApplyEvent, ReadEvent } from "../../planner/model/plan.ts";
import { type KindTally, type Progress, ProgressCounts, tallyText } from "./progress.ts";

type ShownPlan = { title: string; output: string; skip(message: string): void };

export interface BoardParts {
  readonly stream: NodeJS.WriteStream;
  /** Milliseconds of any clock that only goes forward. */
  readonly now: () => number;
}

export function progressBoard(parts: BoardParts): Progress {
  let reading: Reading | undefined;
  let applying: Applying | undefined;
  return {
    read(event) {
      reading ??= new Reading(parts);
      reading.event(event);
    },
    apply(event) {
      applying ??= new Applying(parts);
      applying.event(event);
    },
    async stop() {
      await reading?.end();
      await applying?.end();
    },
  };
}

type Task = { readonly title: string; readonly task: (context: unknown, shown: ShownPlan) => Promise<void> };

function draw(parts: BoardParts, tasks: readonly Task[]): Promise<unknown> {
  const logger = new ListrLogger<ListrDefaultRendererLogLevels>({
    processOutput: new ProcessOutput(parts.stream, parts.stream, { leaveEmptyLine: false }),
    useIcons: true,
  });
  const rendererOptions = { logger, showErrorMessage: false, collapseErrors: false };
  const board = new Listr([...tasks], {
    concurrent: true,
    exitOnError: false,
    registerSignalListeners: false,
    renderer: "default",
    rendererOptions,
    // The library falls back if stdout is not a terminal. The board is on stderr, so it does not change.
    fallbackRenderer: "default",
    fallbackRendererOptions: rendererOptions,
  });
  return board.run();
}

class Reading {
  readonly #done = Promise.withResolvers<void>();
  readonly #run: Promise<unknown>;
  #shown: ShownPlan | undefined;
  #read: ReadEvent | undefined;
  #objects = 0;
  #unread = 0;

  constructor(parts: BoardParts) {
    const work = (_context: unknown, task: ShownPlan) => {
      this.#shown = task;
      this.#show();
      return this.#done.promise;
    };
    this.#run = draw(parts, [{ title: "Reading the workspace", task: work }]);
  }

  event(event: ReadEvent): void {
    this.#objects += event.objects ?? 0;
    if (event.objects === undefined) this.#unread += 1;
    this.#read = event;
    this.#show();
    if (event.done === event.total) this.#done.resolve();
  }

  /** Small workspaces are read before the board is drawn. */
  #show(): void {
    if (this.#shown === undefined || this.#read === undefined) return;
    const { done, total } = this.#read;
    const unread = this.#unread === 0 ? "" : `, ${this.#unread} could not be read`;
    this.#shown.title = `Reading the workspace: ${done}/${total} kinds${unread}, ${grouped(this.#objects)} objects`;
  }

  async end(): Promise<void> {
    this.#done.resolve();
    await this.#run;
  }
}

class Applying {
  readonly #parts: BoardParts;
  readonly #tally = new ProgressCounts();
  readonly #shown = new Map<string, ShownPlan>();
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  #run: Promise<unknown> = Promise.resolve();
  #begun = 0;

  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  event(event: ApplyEvent): void {
    this.#tally.count(event);
    if (event.type === "apply_begin") this.#begin();
    for (const own of this.#tally.kinds()) this.#show(own);
  }

  #begin(): void {
    this.#begun = this.#parts.now();
    const tasks = this.#tally.kinds().map(({ kind }) => {
      const end = Promise.withResolvers<void>();
      this.#ends.set(kind, end);
      const task = (_context: unknown, task: ShownPlan) => {
        this.#shown.set(kind, task);
        for (const own of this.#tally.kinds()) if (own.kind === kind) this.#show(own);
        return end.promise;
      };
      return { title: kind, task };
    });
    this.#run = draw(this.#parts, tasks);
  }

  #show(own: KindTally): void {
    const shown = this.#shown.get(own.kind);
    if (shown === undefined) return;
    shown.title = tallyText(own, this.#parts.now() - this.#begun);
    const [work] = own.current.values();
    if (work !== undefined) shown.output = work;
    if (own.done < own.total) return;
    const end = this.#ends.get(own.kind);
    if (own.failed + own.blocked > 0) end?.reject(new Error(shown.title));
    else {
      if (own.skipped > 0) shown.skip(shown.title);
      end?.resolve();
    }
  }

  async end(): Promise<void> {
    // Unfinished work is not a success; the result of the rest is shown when its task begins, at the latest.
    for (const own of this.#tally.kinds())
      if (own.done < own.total) this.#ends.get(own.kind)?.reject(new Error(own.kind));
    await this.#run.catch(() => undefined);
  }
}
