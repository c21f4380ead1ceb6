// Shorter work needs no progress.
const quietMs = 500;

export interface Progress {
  update(done: number, total: number): void;
  end(): void;
}

/** One line on a terminal's standard error that says how far the reading is; nothing elsewhere. */
export function createProgress(): Progress {
  const startedAt = performance.now();
  let isShown = false;
  return {
    update(done, total) {
      if (!process.stderr.isTTY || performance.now() - startedAt < quietMs) return;
      isShown = true;
      process.stderr.write(`\r\u001b[Kreading ${done} of ${total} pages`);
    },
    end() {
      if (isShown) process.stderr.write("\r\u001b[K");
    },
  };
}
