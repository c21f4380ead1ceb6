/** Adds to the end of a list. `push(...more)` puts them all on the stack first, which a page with 100,000 of them overflows. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one);
}
