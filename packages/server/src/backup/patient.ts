/** Whole tables take longer than the pool grants a query. */
export function patient(
  text: string,
  values: unknown[] = [],
): { text: string; values: unknown[]; query_timeout: number } {
  return { text, values, query_timeout: 3_600_000 };
}
