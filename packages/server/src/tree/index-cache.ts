import type { TreeIndex } from "./tree.ts";

/** About 200 bytes a file: what the lists of one mirror may take is bounded by their files, not by their number. */
const filesMax = 200_000;

/** The lists of the commits that were read lately; those who ask at the same time share one. */
export function createIndexCache(load: (commit: string) => Promise<TreeIndex>) {
  const indexes = new Map<string, Promise<TreeIndex>>();
  const sizes = new Map<string, number>();

  function forget(commit: string): void {
    indexes.delete(commit);
    sizes.delete(commit);
  }
  /** The newest always stays. */
  function makeRoom(): void {
    let files = sizes.values().reduce((sum, size) => sum + size, 0);
    for (const [commit, size] of [...sizes].slice(0, -1)) {
      if (files <= filesMax) return;
      files -= size;
      forget(commit);
    }
  }

  return {
    get(commit: string): Promise<TreeIndex> {
      const known = indexes.get(commit);
      if (known) {
        const size = sizes.get(commit);
        if (size !== undefined) {
          sizes.delete(commit);
          sizes.set(commit, size);
        }
        return known;
      }
      const loading = load(commit);
      indexes.set(commit, loading);
      loading.then(
        (index) => {
          sizes.set(commit, index.list.length);
          makeRoom();
        },
        () => forget(commit),
      );
      return loading;
    },
  };
}
