const branchBytesMax = 200;

/** Git's own rules for a branch (`git check-ref-format --branch`), and no longer than forges and file names bear. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "HEAD" || !name.isWellFormed() || Buffer.byteLength(name) > branchBytesMax) return false;
  if (name.startsWith("-") || name.endsWith(".") || name.includes("..") || name.includes("@{")) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them in names
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) return false;
  return name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}
