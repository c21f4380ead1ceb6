/**
 * Stops in good order, or gives up: a part that hangs must not outlast the patience of whoever supervises this process.
 * Nothing is lost by it, since runs that were not given back are taken up elsewhere once their leases expire.
 */
export async function stopWithin(msMax: number, stop: () => Promise<void>, giveUp: () => void): Promise<void> {
  const timer = setTimeout(giveUp, msMax);
  await stop().finally(() => clearTimeout(timer));
}
