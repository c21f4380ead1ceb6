/** A wait that can be ended from elsewhere. A ring while nobody waits is kept for the next wait. */
export interface WakeUp {
  ring(): void;
  /** Until rung, or until `ms` have passed. */
  wait(ms: number): Promise<void>;
}

export function createWakeUp(): WakeUp {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait(ms) {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        wake = resolve;
        await promise;
        clearTimeout(timer);
        wake = null;
      }
      rung = false;
    },
  };
}
