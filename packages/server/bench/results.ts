import { readFile, writeFile } from "node:fs/promises";
import { cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const path = fileURLToPath(new URL("../../../docs/results.md", import.meta.url));

/** Replaces a section of docs/results.md, which stands between two marks of its name, with when, where and by what. */
export async function writeResults(section: string, command: string, table: string): Promise<void> {
  const [begin, end] = [`<!-- ${section}: written by its command -->`, `<!-- end of ${section} -->`];
  const page = await readFile(path, "utf8");
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/results.md has no marks for ${section}`);
  const text = `\n\n${table.trim()}\n\n${describeMachine()}: \`${command}\`\n\n`;
  await writeFile(path, page.slice(0, from + begin.length) + text + page.slice(to));
}

export function describeMachine(): string {
  const cores = cpus();
  const day = new Date().toISOString().slice(0, 10);
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${day}, ${cores.length} cores (${cores[0]?.model.trim()}), ${gigabytes} GB, ${platform()}, Node.js ${process.versions.node}`;
}
