/** How long what is due waits for its home workers before another takes it. */
export const homeMs = 5_000;

/**
 * SQL: whether a worker is a home of a project, or of another subject. `slots`: the parameter with its bits, null for a home
 * of all.
 */
export function isHomeWorker(slots: string, subject: string): string {
  return `coalesce(get_bit(${slots}::bytea, hashtext(${subject}) & (length(${slots}::bytea) * 8 - 1)), 1) = 1`;
}
