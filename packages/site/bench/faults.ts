// Which planted faults our check finds in each framework, and other programs in the same sites, with the times of both:
// `faults.ts [--seed 1] [--pages 1000] [--rounds 3] [--no-peers] [--write]`. With --write docs/results.md has the figures.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import type { Files } from "../test/support/memory-tree.ts";
import { emend, installPeers, mkdocsPeer, type Peer, plainPeers } from "./peers.ts";
import { type Fault, type Form, forms, plantFaults, tallyOwn } from "./plant.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    pages: { type: "string", default: "1000" },
    rounds: { type: "string", default: "3" },
    "no-peers": { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
  strict: false,
});
const seed = Number(values.seed);
const pages = Number(values.pages);
const lines: string[] = [];
const say = (line: string): void => {
  console.log(line);
  lines.push(line);
};

let isMet = true;
say("| framework | planted | found | others | precision | recall |");
say("|---|---:|---:|---:|---:|---:|");
for (const form of forms) {
  const { planted, found, others, missed } = await tallyOwn(form, seed);
  const precision = found / Math.max(1, found + others);
  const recall = found / planted;
  isMet &&= precision >= 0.98 && recall >= 0.95;
  const note = missed.length > 0 ? ` (missed: ${missed.join(", ")})` : "";
  say(`| ${form.name} | ${planted} | ${found}${note} | ${others} | ${precision.toFixed(3)} | ${recall.toFixed(3)} |`);
}

if (values["no-peers"] !== true) {
  await installPeers();
  const folder = await mkdtemp(join(tmpdir(), "emend-faults-"));
  try {
    const mkdocs = await mkdocsPeer();
    await comparePeers(folder, formOf("markdown"), plainPeers);
    if (mkdocs !== null) await comparePeers(folder, formOf("mkdocs"), [mkdocs]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
if (values.write === true) await writeResults();
process.exit(isMet ? 0 : 1);

function formOf(name: string): Form {
  return forms.find((form) => form.name === name) as Form;
}

/** One after the other in each round, so that whatever else the machine does falls on all of them. */
async function comparePeers(top: string, form: Form, peers: readonly Peer[]): Promise<void> {
  const { files, faults } = plantFaults(form, seed, pages);
  const folder = join(top, form.name);
  await write(folder, files);
  const all = [emend, ...peers];
  const times = new Map<Peer, number[]>(all.map((peer) => [peer, []]));
  const found = new Map<Peer, number>();
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const peer of all) {
      const startedAt = performance.now();
      const printed = await peer.run(folder);
      times.get(peer)?.push(performance.now() - startedAt);
      if (round === 0) found.set(peer, count(printed, [...peer.pages(printed)], faults));
    }
  }
  say("");
  say(
    `| ${pages} pages of ${form.name} | version | of ${faults.length} faults | time, against ours in the same round |`,
  );
  say("|---|---|---:|---:|");
  for (const peer of all) {
    const own = times.get(emend) ?? [];
    const ratios = (times.get(peer) ?? []).map((ms, round) => ms / (own[round] ?? ms)).sort((a, b) => a - b);
    const ratio = ratios[Math.floor(ratios.length / 2)] ?? 0;
    say(
      `| \`${peer.name}\` | ${peer.version} | ${found.get(peer)} | ${peer === emend ? "1" : `${ratio.toFixed(1)}×`} |`,
    );
  }
}

function count(printed: string, named: readonly string[], faults: readonly Fault[]): number {
  const seen = new Set(named.map((path) => /page-\d+(?=\.mdx?)/.exec(path)?.[0]));
  return faults.filter(({ path, entry }) =>
    entry === undefined ? seen.has(/page-\d+/.exec(path)?.[0]) : printed.includes(`${entry}.md`),
  ).length;
}

async function write(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

async function writeResults(): Promise<void> {
  const file = new URL("../../../docs/results.md", import.meta.url);
  const text = await readFile(file, "utf8");
  const from = "<!-- npm run bench -- site writes from here -->";
  const to = "<!-- until here -->";
  const [before, rest] = text.split(from);
  const after = rest?.split(to)[1];
  if (before === undefined || after === undefined) throw new Error("docs/results.md has no place for these figures");
  await writeFile(file, `${before}${from}\n\n${lines.join("\n")}\n\n${to}${after}`);
}
