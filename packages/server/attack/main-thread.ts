/**
 * How long the main thread is busy without a pause, at most, while work is done. In CPU time of this thread, so that other
 * processes of the machine do not count, and neither do the threads that should do the work.
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; ms: number; rssMb: number }> {
  let [ms, rssMb, isOver] = [0, 0, false];
  let before = process.threadCpuUsage();
  const tick = () => {
    const { user, system } = process.threadCpuUsage(before);
    ms = Math.max(ms, (user + system) / 1000);
    rssMb = Math.max(rssMb, process.memoryUsage.rss() / 2 ** 20);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  try {
    const result = await work();
    tick();
    return { result, ms, rssMb };
  } finally {
    isOver = true;
  }
}
