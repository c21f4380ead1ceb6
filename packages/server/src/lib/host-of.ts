const clean = /^(?:[a-z0-9_-]+\.)+[a-z0-9-]{2,}$|^(?:\d{1,3}\.){3}\d{1,3}$|^\[[0-9a-f:.]+\]$/;
const oddInName = /[^a-z0-9_.-]/;
/** Nobody's, by standard, or this machine's; and the name that every SVG and MathML gives. */
const harmless =
  /^(?:(?:.+\.)?example\.(?:com|org|net)|(?:.+\.)?localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|www\.w3\.org)$/;

/**
 * The site that a browser would go to for what stands between the slashes of an address and its path; null for none, and
 * for this machine's own. Never a part of the name: of one with odd characters, all that follows them, for that is whose
 * it is.
 */
export function hostOf(authority: string): string | null {
  const whole = authority.replace(/[,;](?:https?|wss?|ftp):?$/i, "");
  const url = URL.parse(`https://${whole}`) ?? URL.parse(`https://${whole.replace(/[^\p{L}\p{N}\]]+$/u, "")}`);
  if (url === null) return null;
  const host = ownerOf(url.hostname.toLowerCase().replace(/[^a-z0-9\]]+$/, ""));
  return host !== null && !harmless.test(host) ? host : null;
}

function ownerOf(name: string): string | null {
  if (clean.test(name)) return name;
  if (!/\.[a-z0-9]/.test(name)) return null;
  const labels = name.split(".");
  const last = labels.at(-1) ?? "";
  // No domain ends so: a sentence goes on behind the name.
  if (oddInName.test(last)) return ownerOf(name.slice(0, name.length - last.length + last.search(oddInName)));
  const from = labels.findLastIndex((label) => oddInName.test(label)) + 1;
  const owner = labels.slice(from).join(".");
  return clean.test(owner) ? owner : from > 0 ? name : null;
}
