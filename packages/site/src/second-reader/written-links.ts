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

const fence = /^\s*(?:>\s*)*(`{3,}|~{3,})/;

/** Every link to the site itself in a page's text, outside of code blocks. */
export function writtenLinks(text: string): WrittenLink[] {
  const links: WrittenLink[] = [];
  let open: string | null = null;
  for (const [n, line] of text.split("\n").entries()) {
    const mark = fence.exec(line)?.[1];
    if (open === null ? mark !== undefined : mark?.startsWith(open) === true) {
      // Sphinx writes blocks that hold text with the same mark.
      if (open !== null) open = null;
      else if (mark !== undefined && !/^\s*(?:>\s*)*[`~]+\{/.test(line)) open = mark;
      continue;
    }
    if (open !== null || !/[\]=}%]/.test(line)) continue;
    for (const form of forms) {
      for (const [, target = ""] of line.matchAll(form)) {
        if (isOwn(target)) links.push({ target, line: n + 1, isReference: false });
      }
    }
    for (const [, target = ""] of line.matchAll(references)) links.push({ target, line: n + 1, isReference: true });
  }
  return links;
}

function isOwn(target: string): boolean {
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

/** The fragment of a target. Null if it has none. */
export function fragmentPart(target: string): string | null {
  const at = target.indexOf("#");
  if (at < 0) return null;
  try {
    return decodeURIComponent(target.slice(at + 1));
  } catch {
    return target.slice(at + 1);
  }
}
