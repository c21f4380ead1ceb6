// Shorter work needs no progress.
const quietMs = 500;
// Often enough to see it move.
const everyMs = 100;

export interface Progress {
  update(doing: string, done: number, total: number): void;
  end(): void;
}

/** One line on a terminal that says how far the work is; nothing elsewhere. */
export function createProgress(stream: NodeJS.WriteStream): Progress {
  let shownAt = performance.now() + quietMs - everyMs;
  let isShown = false;
  return {
    update(doing, done, total) {
      if (!stream.isTTY || performance.now() - shownAt < everyMs) return;
      shownAt = performance.now();
      isShown = true;
      stream.write(`\r\u001b[K${doing} ${done} of ${total} pages`);
    },
    end() {
      if (isShown) stream.write("\r\u001b[K");
    },
  };
}
