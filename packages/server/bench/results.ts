import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));
const folder = `${docs}results/`;

/**
 * Replaces a section of docs/results.md (or of another page), which stands between two marks of its name, with when, where and by what. The
 * figures and their plot are written beside it, in docs/results.
 */
export async function writeResults(
  section: string,
  command: string,
  table: string,
  also: { figures?: object; plot?: { svg: string; says: string }; page?: string } = {},
): Promise<void> {
  const [begin, end] = [`<!-- ${section}: written by its command -->`, `<!-- end of ${section} -->`];
  const page = `${docs}${also.page ?? "results.md"}`;
  const text = await readFile(page, "utf8");
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${page} has no marks for ${section}`);
  const picture = also.plot ? `![${also.plot.says}](results/${section}.svg)\n\n` : "";
  const written = `\n\n${table.trim()}\n\n${picture}${describeMachine()}: \`${command}\`\n\n`;
  await writeFile(page, text.slice(0, from + begin.length) + written + text.slice(to));
  await mkdir(folder, { recursive: true });
  if (also.plot) await writeFile(`${folder}${section}.svg`, also.plot.svg);
  if (also.figures) {
    const all = { machine: describeMachine(), command, ...also.figures };
    await writeFile(`${folder}${section}.json`, `${JSON.stringify(all, null, 2)}\n`);
  }
}

/** What an earlier run wrote; null if there was none. */
export async function readFigures<T>(section: string): Promise<T | null> {
  const text = await readFile(`${folder}${section}.json`, "utf8").catch(() => null);
  return text === null ? null : JSON.parse(text);
}

/** With --write: a section of one figure. */
export async function writeFigure(
  section: string,
  command: string,
  { what, figure, aim }: { what: string; figure: string; aim: string },
): Promise<void> {
  if (!process.argv.includes("--write")) return;
  await writeResults(section, command, `| ${what} | aim |\n|---:|---:|\n| ${figure} | ${aim} |`);
}

export function describeMachine(): string {
  const cores = cpus();
  const day = new Date().toISOString().slice(0, 10);
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${day}, ${cores.length} cores (${cores[0]?.model.trim()}), ${gigabytes} GB, ${platform()}, Node.js ${process.versions.node}`;
}
