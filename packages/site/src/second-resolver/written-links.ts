/** A link target as it is written, and its line from 1. */
export interface WrittenLink {
  target: string;
  line: number;
  /** Hugo and Jekyll look such a name up in the whole site. */
  isReference: boolean;
}

const forms: readonly RegExp[] = [
  // Inline links and images, and their definitions.
  /\]\(\s*<?([^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)/g,
  /^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s<>]+)/g,
  // Attributes of tags and components.
  /\b(?:href|src|to|link|url|path)=\{?["'`]([^"'`\s]+)["'`]/g,
  // Sphinx's role for pages.
  /\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`/g,
];

const references = /(?:\{\{[<%]\s*(?:rel)?ref\s+["'`]?|\{%-?\s*link\s+)([^"'`\s>%]+)/g;

const fence = /^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})(.*)$/;

/** The lines of a page's text outside of code blocks, numbered from 1. */
export function* textLines(text: string): Generator<{ line: string; number: number }> {
  let open: string | null = null;
  // Sphinx writes blocks that hold text with the same mark.
  const holders: string[] = [];
  for (const [n, line] of text.split("\n").entries()) {
    const [, mark, after = ""] = fence.exec(line) ?? [];
    const isBare = after.trim() === "";
    if (mark === undefined || (mark.startsWith("`") && after.includes("`"))) {
      if (open === null) yield { line, number: n + 1 };
    } else if (open !== null) {
      if (isBare && mark.startsWith(open)) open = null;
    } else if (after.startsWith("{")) holders.push(mark);
    else if (isBare && mark.startsWith(holders.at(-1) ?? "none")) holders.pop();
    else open = mark;
  }
}

/** Every link to the site itself in a page's text, outside of code blocks. */
export function writtenLinks(text: string): WrittenLink[] {
  const links: WrittenLink[] = [];
  for (const { line, number } of textLines(text)) {
    if (!/[\]=}%]/.test(line)) continue;
    for (const form of forms) {
      for (const [, target = ""] of line.matchAll(form)) {
        if (isOwn(target)) links.push({ target, line: number, isReference: false });
      }
    }
    for (const [, target = ""] of line.matchAll(references)) links.push({ target, line: number, isReference: true });
  }
  return links;
}

/** Whether a target is one of the site. */
export function isOwn(target: string): boolean {
  return !/^(?:[a-z][a-z\d+.-]*:|\/\/|\?|$)|[{}$*|\\]/i.test(target);
}

/** The part of a target that names a page or a file. */
export function pathPart(target: string): string {
  const path = target.split(/[?#]/)[0] as string;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The fragment of a target. Docsify writes it as `?id=`. Null if it has none. */
export function fragmentPart(target: string): string | null {
  const written = /#(.*)$/.exec(target)?.[1] ?? /[?&]id=([^&]*)/.exec(target)?.[1];
  if (written === undefined) return null;
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}
