/** Reads `Retry-After` (seconds or an HTTP date); null where it is absent or not understood. */
export function retryAfterMs(header: string | null, nowMs = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
