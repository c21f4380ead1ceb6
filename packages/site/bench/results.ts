import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));
const folder = `${docs}results/`;

/** What a section shows. */
export interface Written {
  table: readonly string[];
  plot?: { svg: string; says: string };
  /** The page that has the section. */
  page?: string;
}

/** Where and by what it was measured. */
export interface Origin {
  machine: string;
  command: string;
}

/** A section as its page has it, with the two marks of its name. */
export function sectionText(section: string, { table, plot }: Written, { machine, command }: Origin): string {
  const [begin, end] = marksOf(section);
  const picture = plot ? `![${plot.says}](results/${section}.svg)\n\n` : "";
  return `${begin}\n\n${table.join("\n").trim()}\n\n${picture}${machine}: \`${command}\`\n\n${end}`;
}

/** Replaces a section of its page. The figures and their plot are written beside it, in docs/results. */
export async function writeResults(
  section: string,
  command: string,
  written: Written,
  figures?: object,
  machine = describeMachine(),
): Promise<void> {
  const [begin, end] = marksOf(section);
  const page = `${docs}${written.page ?? "results.md"}`;
  const text = await readFile(page, "utf8");
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${page} has no marks for ${section}`);
  const origin = { machine, command };
  await writeFile(page, text.slice(0, from) + sectionText(section, written, origin) + text.slice(to + end.length));
  await mkdir(folder, { recursive: true });
  if (written.plot) await writeFile(`${folder}${section}.svg`, written.plot.svg);
  if (figures) await writeFile(`${folder}${section}.json`, `${JSON.stringify({ ...origin, ...figures }, null, 2)}\n`);
}

function marksOf(section: string): [begin: string, end: string] {
  return [`<!-- ${section}: written by its command -->`, `<!-- end of ${section} -->`];
}

/** What an earlier run wrote; null if there was none. */
export async function readFigures<T>(section: string): Promise<(T & Origin) | null> {
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
  await writeResults(section, command, { table: [`| ${what} | aim |`, "|---:|---:|", `| ${figure} | ${aim} |`] });
}

export function describeMachine(): string {
  const cores = cpus();
  const day = new Date().toISOString().slice(0, 10);
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${day}, ${cores.length} cores (${cores[0]?.model.trim()}), ${gigabytes} GB, ${platform()}, Node.js ${process.versions.node}`;
}
