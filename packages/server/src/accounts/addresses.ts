import { BlockList, isIP, isIPv4 } from "node:net";

/** An IPv4-mapped IPv6 address equals its IPv4 address; a zone id is ignored. */
function plainAddress(address: string | undefined): string {
  // A closed socket has no address.
  if (address === undefined) return "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address.replace(/%.*$/, "");
}

/** The address for the rate limit of failures: an IPv6 client owns at least its /64, so that counts as one. */
export function throttledAddress(address: string | undefined): string {
  const plain = plainAddress(address);
  // Behind a trusted proxy this may be any text, of any length.
  if (isIP(plain) === 0) return "unknown";
  if (isIP(plain) === 4) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const tailGroups = tail === "" ? [] : tail.split(":");
    while (groups.length + tailGroups.length < 8) groups.push("0");
    groups.push(...tailGroups);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

/** The matcher of an allow-list, or the invalid entry. */
export function parseAllowList(
  entries: readonly string[],
): { kind: "parsed"; list: BlockList } | { kind: "invalid"; entry: string } {
  const list = new BlockList();
  for (const entry of entries) {
    if (!addEntry(list, entry)) return { kind: "invalid", entry };
  }
  return { kind: "parsed", list };
}

function addEntry(list: BlockList, entry: string): boolean {
  const [address = "", bits, ...rest] = entry.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes("%")) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  if (bits === undefined) {
    list.addAddress(address, family);
    return true;
  }
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128)) return false;
  list.addSubnet(address, Number(bits), family);
  return true;
}

export function isAllowed(list: BlockList, address: string | undefined): boolean {
  const plain = plainAddress(address);
  return isIP(plain) !== 0 && list.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
}
