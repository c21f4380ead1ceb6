const segmentBytesMax = 255;
const pathBytesMax = 4_096;

/** Code points that HFS+ does not see in a name: `.g\u200cit` is `.git` there. */
const hfsIgnored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Why a path cannot be written, as far as the path itself tells; null: it can. Git refuses such names only when it
 * checks them out, and somebody will, on a file system that folds case, drops dots or takes a backslash for a slash.
 */
export function whyNotPath(path: string): string | null {
  if (path === "") return "it is empty";
  if (!path.isWellFormed()) return "it is not valid Unicode";
  if (Buffer.byteLength(path) > pathBytesMax) return `it is longer than ${pathBytesMax} bytes`;
  if (path.includes("\0")) return "it holds a NUL character";
  if (path.includes("\\")) return "it holds a backslash; folders are separated by /";
  if (path.startsWith("/")) return "it begins with /; paths are relative to the repository";
  if (path.endsWith("/")) return "it ends with /";
  for (const segment of path.split("/")) {
    const why = whyNotSegment(segment);
    if (why !== null) return why;
  }
  return null;
}

function whyNotSegment(segment: string): string | null {
  if (segment === "") return "it has an empty segment";
  if (segment === "." || segment === "..") return `it has a segment "${segment}"`;
  if (Buffer.byteLength(segment) > segmentBytesMax) return `a segment is longer than ${segmentBytesMax} bytes`;
  return isDotGit(segment) ? "it leads into git's own folder" : null;
}

/** Windows writes none of these; COM and LPT end in a digit, also a raised one. */
const windowsCharacters = /[<>:"|?*\p{Cc}]/u;
const windowsDevices = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])(?:\.|$)/i;

/**
 * Why a new file cannot have this name: whoever checks the branch out on Windows would lose the file, or the whole
 * checkout. What the repository holds already may be edited and deleted by whatever name it has.
 */
export function whyNotNewName(path: string): string | null {
  for (const segment of path.split("/")) {
    const found = windowsCharacters.exec(segment)?.[0];
    if (found !== undefined) return `Windows takes no ${JSON.stringify(found)} in a name`;
    if (/[. ]$/.test(segment)) return "Windows takes no name that ends with a dot or a space";
    if (windowsDevices.test(segment)) return `"${segment}" is the name of a device on Windows`;
  }
  return null;
}

/** `.git`, as ext4, HFS+ or NTFS would see it: by its short name, with trailing dots and spaces, with a stream. */
function isDotGit(segment: string): boolean {
  const seen = segment.replace(hfsIgnored, "").toLowerCase();
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/s.test(seen);
}
