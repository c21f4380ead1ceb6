import { isAppError } from "../errors.ts";
import type { TreeIndex } from "./tree.ts";

/** The lists of commits that were read lately, bounded by their files together; who asks at the same time shares one. */
export interface IndexCache {
  get(key: string, load: () => Promise<TreeIndex>): Promise<TreeIndex>;
}

/** What a remembered refusal counts as. */
const refusalFiles = 100;

export function createIndexCache(filesMax: number): IndexCache {
  const indexes = new Map<string, Promise<TreeIndex>>();
  /** Of those that have arrived, least recently used first. */
  const sizes = new Map<string, number>();

  function forget(key: string): void {
    indexes.delete(key);
    sizes.delete(key);
  }
  function use(key: string, size: number): void {
    sizes.delete(key);
    sizes.set(key, size);
  }
  /** The last one always stays. */
  function makeRoom(): void {
    let files = sizes.values().reduce((sum, size) => sum + size, 0);
    for (const [key, size] of [...sizes].slice(0, -1)) {
      if (files <= filesMax) return;
      files -= size;
      forget(key);
    }
  }

  return {
    get(key, load) {
      const known = indexes.get(key);
      const size = sizes.get(key);
      if (size !== undefined) use(key, size);
      if (known) return known;
      const loading = load();
      indexes.set(key, loading);
      loading.then(
        (index) => {
          use(key, index.list.length);
          makeRoom();
        },
        (error: unknown) => {
          // A commit stays as it is: what was wrong with it is remembered, for as long as a short list would be.
          if (isAppError(error) && !error.retryable) use(key, refusalFiles);
          else forget(key);
        },
      );
      return loading;
    },
  };
}
