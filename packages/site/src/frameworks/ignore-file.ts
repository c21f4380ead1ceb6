/** Matches paths against an ignore file with git's syntax: folders, names, `*` and `**`; `!` negates. */
export function createIgnore(text: string): (path: string) => boolean {
  const rules: { expression: RegExp; isIgnored: boolean }[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    // A line with this many wildcards would make matching slow, and nobody writes one.
    if (line === "" || line.startsWith("#") || line.split(/\*+/).length > 4) continue;
    const isIgnored = !line.startsWith("!");
    const pattern = line.replace(/^!/, "").replace(/\/$/, "");
    const isRooted = pattern.includes("/");
    const source = pattern
      .replace(/^\//, "")
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(/\*\*\/?|\*|\?/g, (glob) => (glob === "?" ? "[^/]" : glob === "*" ? "[^/]*" : "(?:.*)"));
    rules.push({ expression: new RegExp(`${isRooted ? "^" : "(?:^|/)"}${source}(?:/|$)`), isIgnored });
  }
  return (path) => rules.findLast(({ expression }) => expression.test(path))?.isIgnored ?? false;
}
