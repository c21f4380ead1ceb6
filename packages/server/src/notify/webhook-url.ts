import type { SecretSealer } from "./webhook.ts";

const tailLength = 4;
/** So that the tail gives away little of a path, and nothing of a short one. */
const tailOfLengthMin = 24;
/** Begins what is kept in the clear beside a sealed address: no client, of whichever release, connects to it. */
const mark = "sealed:";

/** What is stored of a webhook's address: whole, but sealed, and what may be shown of it. */
export function sealUrl(
  sealer: Pick<SecretSealer, "seal">,
  webhook: { id: string; url: string },
): { sealedUrl: Buffer; shownUrl: string } {
  const { id, url } = webhook;
  return { sealedUrl: sealer.seal(url, urlContext(id)), shownUrl: `${mark}${maskUrl(url)}` };
}

export function openUrl(
  sealer: Pick<SecretSealer, "open">,
  stored: { webhookId: string; url: string; sealedUrl: Buffer | null },
): string {
  return stored.sealedUrl === null ? stored.url : sealer.open(stored.sealedUrl, urlContext(stored.webhookId));
}

/** For everybody, at every time but when it was given: whoever knows such an address may post there as we do. */
export function showUrl(stored: string): string {
  return stored.startsWith(mark) ? stored.slice(mark.length) : maskUrl(stored);
}

export function urlContext(webhookId: string): string {
  return `webhook/${webhookId}/url`;
}

/** Its origin, and the end by which somebody tells it from another. */
function maskUrl(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return "…";
  const secret = `${parsed.pathname.slice(1)}${parsed.search}${parsed.hash}`;
  if (secret === "") return `${parsed.origin}/`;
  return `${parsed.origin}/…${secret.length < tailOfLengthMin ? "" : secret.slice(-tailLength)}`;
}
