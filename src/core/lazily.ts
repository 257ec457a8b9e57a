// A value that is made when it is first needed.

/** The result of `make`, made once, on the first call. If `make` throws, the next call tries again. */
export function lazily<T>(make: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => {
    result ??= { value: make() };
    return result.value;
  };
}
