import type { RepositoryFile } from "./make-repository.ts";

/** A docs site of any size, deterministic for its arguments: pages of about four kilobytes in nested folders. */
export function generatePages(count: number): Record<string, RepositoryFile> {
  const pages: Record<string, RepositoryFile> = {};
  let seed = 1;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % below;
  };
  for (let page = 0; page < count; page += 1) {
    const paragraphs = Array.from({ length: 40 }, () => {
      const words = Array.from({ length: 14 }, () => `word${next(4_000)}`);
      return `${words.join(" ")}, see [page](/section-${next(40)}/page-${next(count)}).`;
    });
    const path = `docs/section-${page % 40}/part-${Math.floor(page / 40) % 20}/page-${page}.md`;
    pages[path] = `---\ntitle: Page ${page}\n---\n\n# Page ${page}\n\n${paragraphs.join("\n\n")}\n`;
  }
  return pages;
}
