const bytesMax = 200;
/** What `git check-ref-format` refuses anywhere in a name: controls, space, `~^:?*[\`, `..`, `@{`, `//`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const refused = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\//;
/** Refused at the ends of a name, or of one of its parts. */
const refusedEnds = /^[-/]|[/.]$|(^|\/)\.|\.lock(\/|$)/;

/** Whether git takes this as a branch's name, and neither a command line nor a ref name of 200 bytes is in danger. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name === "HEAD") return false;
  if (!name.isWellFormed() || Buffer.byteLength(name) > bytesMax) return false;
  return !refused.test(name) && !refusedEnds.test(name);
}
