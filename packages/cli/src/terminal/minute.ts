/** A time as tables show it: to the minute, in UTC. */
export function minute(time: Date | string): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}
