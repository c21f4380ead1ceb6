/**
 * Stops cleanly, or gives up after a time: a part that hangs must not outlast the supervisor's limit. Nothing is lost,
 * because unreleased runs are claimed elsewhere when their leases expire.
 */
export async function stopWithin(msMax: number, stop: () => Promise<void>, giveUp: () => void): Promise<void> {
  const timer = setTimeout(giveUp, msMax);
  await stop().finally(() => clearTimeout(timer));
}
