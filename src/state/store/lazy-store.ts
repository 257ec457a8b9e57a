// A state store that is loaded and connected on first use.

import type { StateStore } from "../model/store.ts";

export function lazyStore(place: string, open: () => Promise<StateStore>): StateStore {
  let opened: Promise<StateStore> | undefined;
  const store = (): Promise<StateStore> => {
    opened ??= open();
    return opened;
  };
  return {
    place,
    read: async (options) => (await store()).read(options),
    lock: async (options) => (await store()).lock(options),
    holder: async () => (await store()).holder(),
    unlock: async (how) => (await store()).unlock(how),
    key: async (options) => (await store()).key(options),
    generations: async () => (await store()).generations(),
    restore: async (serial, options) => (await store()).restore(serial, options),
    replace: async (incoming, options) => (await store()).replace(incoming, options),
    rekey: async (options) => (await store()).rekey(options),
    close: async () => {
      if (opened !== undefined) await (await opened).close();
    },
  };
}
