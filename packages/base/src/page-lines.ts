/** What a line of a page is to a reader. Both Markdown's and other formats' fences count; anything else is prose. */
type LineKind = "prose" | "heading" | "sample" | "fence" | "blank" | "front matter";

export interface PageLine {
  kind: LineKind;
  /** 1-based. */
  line: number;
  text: string;
}

/** Only coarse: it decides what a statement is, not what a builder runs. */
export function pageLines(text: string): readonly PageLine[] {
  const lines = text.split(/\r?\n/);
  const frontMatterEnd = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  let fence: string | null = null;
  return lines.map((line, index): PageLine => {
    const at = { line: index + 1, text: line };
    if (index <= frontMatterEnd) return { kind: "front matter", ...at };
    const [, mark] = /^\s*(`{3,}|~{3,}|-{4,}$|={4,}$)/.exec(line) ?? [];
    if (fence !== null) {
      const isEnd = mark?.startsWith(fence) && line.trim() === mark;
      if (isEnd) fence = null;
      return { kind: isEnd ? "fence" : "sample", ...at };
    }
    if (mark !== undefined && /^[`~]/.test(mark)) {
      fence = mark;
      return { kind: "fence", ...at };
    }
    if (line.trim() === "") return { kind: "blank", ...at };
    return { kind: /^#{1,6}\s|^={1,5}\s\S/.test(line) ? "heading" : "prose", ...at };
  });
}

/** Letters and digits alone: two spellings of one sentence are the same. */
export function plainText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

interface Heading {
  /** For comparisons. */
  name: string;
  shown: string;
  /** The text up to the next heading, for comparisons. */
  body: readonly string[];
}

export function headingsOf(lines: readonly PageLine[]): readonly Heading[] {
  const at = lines.flatMap(({ kind }, index) => (kind === "heading" ? [index] : []));
  return at.map((index, place) => {
    const body = textLinesOf(
      lines
        .slice(index + 1, at[place + 1])
        .map((line) => line.text)
        .join("\n"),
    );
    const shown = (lines[index]?.text ?? "").replace(/^[#=]+\s+/, "").replace(/\s*\{#[^}]*\}\s*$|\s+#+\s*$/, "");
    return { name: plainText(shown), shown, body };
  });
}

/** The lines that say something, for comparisons. */
export function textLinesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map(plainText)
    .filter((line) => line.length > 3);
}

const namesShownMax = 5;

export function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesShownMax).map((name) => name.slice(0, 80));
  return shown.join(", ") + (names.length > shown.length ? ` and ${names.length - shown.length} more` : "");
}

export function lineCount(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** What a rewrite does to a page: `139 → 67 lines; headings gone: Env, Options`. */
export function describeRewrite(before: string, after: string): string {
  const names = new Set(headingsOf(pageLines(after)).map(({ name }) => name));
  const gone = headingsOf(pageLines(before)).filter(({ name }) => !names.has(name));
  const words = gone.length === 0 ? "" : `; headings gone: ${listed(gone.map(({ shown }) => shown))}`;
  return `${lineCount(before)} → ${lineCount(after)} lines${words}`;
}

/** A page's path, its folders, its name and its titles. */
export function namesOf(path: string, text = ""): readonly string[] {
  const bare = path.replace(/\.\w+$/, "").replace(/\/(?:index|readme)$/i, "");
  const segments = bare.split("/");
  const folders = segments.slice(0, -1).map((_, index) => segments.slice(0, index + 1).join("/"));
  const heading = /^#[ \t]+(.+)$/m.exec(text)?.[1] ?? "";
  return [path, bare, segments.at(-1) ?? "", titleOf(text), heading, ...folders.filter((one) => one.length > 3)].map(
    plainText,
  );
}

/** The title in the front matter, as `plainText` gives it. */
export function titleOf(text: string): string {
  return plainText(/^title:[ \t]*(.+)$/m.exec(text)?.[1] ?? "");
}

/** Whether a text, as `plainText` gives it, has one of these names. */
export function isNamed(request: string, names: readonly string[]): boolean {
  return names.some((name) => name !== "" && ` ${request} `.includes(` ${name} `));
}
