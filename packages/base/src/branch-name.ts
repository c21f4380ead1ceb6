const bytesMax = 200;
/** What `git check-ref-format` refuses anywhere in a name: controls, space, `~^:?*[\`, `..`, `@{`, `//`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const refused = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\//;
/** Refused at the ends of a name or of one of its parts. */
const refusedEnds = /^[-/]|[/.]$|(^|\/)\.|\.lock(\/|$)/;

/** Whether git accepts this branch name, and it is safe in a command line and short enough for a ref. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name === "HEAD") return false;
  if (!name.isWellFormed() || Buffer.byteLength(name) > bytesMax) return false;
  return !refused.test(name) && !refusedEnds.test(name);
}
