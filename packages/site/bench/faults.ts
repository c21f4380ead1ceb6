// Which planted faults our check finds in each framework, and other programs in the same sites, with the times of both:
// `faults.ts [--seed 1] [--pages 1000] [--rounds 3] [--no-peers] [--write]`. With --write docs/results.md has the figures.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import type { Files } from "../test/support/memory-tree.ts";
import { emend, installPeers, mkdocsPeer, type Peer, plainPeers } from "./peers.ts";
import { type Fault, type Form, forms, plantFaults, tallyOwn } from "./plant.ts";
import { writeResults } from "./results.ts";

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
    await comparePeers(folder, formOf("markdown"), plainPeers, pages);
    // It writes the whole navigation into every page: 10,000 pages were not done after 15 minutes.
    if (mkdocs !== null) await comparePeers(folder, formOf("mkdocs"), [mkdocs], Math.min(pages, 2000));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
const command = ["npm run bench -- site", ...process.argv.slice(2)].join(" ");
if (values.write === true) await writeResults("faults", command, { table: lines });
process.exit(isMet ? 0 : 1);

function formOf(name: string): Form {
  return forms.find((form) => form.name === name) as Form;
}

/** One after the other in each round, so that whatever else the machine does falls on all of them. */
async function comparePeers(top: string, form: Form, peers: readonly Peer[], pages: number): Promise<void> {
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
  const ratioOf = (peer: Peer): number => {
    const own = times.get(emend) ?? [];
    const ratios = (times.get(peer) ?? []).map((ms, round) => ms / (own[round] ?? ms)).sort((a, b) => a - b);
    return ratios[Math.floor(ratios.length / 2)] ?? 0;
  };
  for (const peer of all) {
    const ratio = peer === emend ? "1" : `${ratioOf(peer).toFixed(1)}×`;
    say(`| \`${peer.name}\` | ${peer.version} | ${found.get(peer)} | ${ratio} |`);
  }
  const [fastest] = peers.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  const [equal] = peers
    .filter((peer) => (found.get(peer) ?? 0) >= (found.get(emend) ?? 0))
    .toSorted((a, b) => ratioOf(a) - ratioOf(b));
  if (fastest === undefined) return;
  const inWords = (peer: Peer): string =>
    `\`${peer.name}\`, which finds ${found.get(peer)} of ${faults.length} and takes ${ratioOf(peer).toFixed(1)} times as long as \`emend check\``;
  say("");
  say(
    equal === undefined
      ? `No other program here finds as much as \`emend check\`, so the aim of 20 times faster than the fastest that does (10,000 pages) cannot be measured. The fastest of them is ${inWords(fastest)}.`
      : `The fastest that finds as much is ${inWords(equal)} (aim: 20 times).`,
  );
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
