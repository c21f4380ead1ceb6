/** A part of a page that is read as one: a paragraph, some items of a list, some rows of a table, or a sample. */
export interface PageBlock {
  path: string;
  /** 1-based, both included. */
  line: number;
  lineEnd: number;
  /** The headings above it, as `Usage > Flags`. */
  section: string;
  text: string;
  /** It begins inside of a sample. */
  inSample?: true;
}

const linesMax = 14;
const charactersMax = 1_500;

/** The blocks of a page. It is only split, not parsed: what looks like Markdown in a sample stays in its block. */
export function pageBlocks(path: string, text: string): PageBlock[] {
  const lines = text.split(/\r?\n/);
  const blocks: PageBlock[] = [];
  const headings: string[] = [];
  let first = 0;
  let titled = -1;
  let fence: string | null = null;
  const fenced = new Set<number>();
  // The front matter has the title, which describes the page.
  const frontMatterEnd = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  const isBlank = (number: number) => lines[number]?.trim() === "";
  const end = (next: number) => {
    while (first < next && isBlank(first)) first++;
    while (next > first && isBlank(next - 1)) next--;
    for (let from = first; from < next; from += linesMax) {
      const part = lines.slice(from, Math.min(next, from + linesMax));
      const text = part.join("\n").slice(0, charactersMax);
      const section = headings.filter((heading) => heading !== undefined).join(" > ");
      if (/[\p{L}\p{N}]/u.test(text)) {
        const inSample = fenced.has(from) ? { inSample: true as const } : {};
        blocks.push({ path, line: from + 1, lineEnd: from + part.length, section, text, ...inSample });
      }
    }
    first = Math.max(first, next);
  };
  for (const [number, line] of lines.entries()) {
    if (number <= frontMatterEnd) {
      if (number === frontMatterEnd) end(number + 1);
      continue;
    }
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      fenced.add(number);
      if (mark?.startsWith(fence)) fence = null;
      continue;
    }
    if (mark !== undefined) fence = mark;
    const heading = /^(#{1,6})\s+(.+)/.exec(line);
    if (heading !== null) {
      end(number);
      headings.length = (heading[1] as string).length - 1;
      headings.push((heading[2] as string).replace(/\s*(?:\{#[^}]*\}|#+)\s*$/, ""));
      // It belongs to what follows.
      titled = number;
    } else if (line.trim() === "" && lines.slice(titled + 1, number).some((above) => above.trim() !== "")) end(number);
  }
  end(lines.length);
  return blocks;
}
