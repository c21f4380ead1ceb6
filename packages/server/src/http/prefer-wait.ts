import { waitSecondsMax } from "@emend/contract";

/** The seconds of `Prefer: wait=N` (RFC 7240) that are granted, or null where none were asked for or they make no sense. */
export function preferredWaitSeconds(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  for (const preference of [header].flat().join(",").split(",")) {
    const match = /^\s*wait\s*=\s*(?:"(\d+)"|(\d+))\s*(?:;|$)/i.exec(preference);
    // Of several, the first counts.
    if (match) return Math.min(waitSecondsMax, Number(match[1] ?? match[2]));
  }
  return null;
}
