// One measurement in a process of its own, so that memory and warm-up are its own: `measure.ts FOLDER`.
import { checkSite, createParseCache, folderTree, movePage, openSite, type SiteTree } from "../src/index.ts";
import type { Measured } from "./report.ts";

const [folder = "."] = process.argv.slice(2);
const disk = folderTree(folder);
const readsAtOnce = 32;

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number; cpuMs: number }> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const value = await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  return { value, ms, cpuMs: (user + system) / 1000 };
}

/** Merely the bytes, as many reads at once as the graph makes. */
async function readAll(): Promise<number> {
  const files = await disk.list();
  let bytes = 0;
  let next = 0;
  async function read(): Promise<void> {
    while (next < files.length) {
      const read = await disk.read(files[next++]?.path ?? "");
      bytes += read?.byteLength ?? 0;
    }
  }
  await Promise.all(Array.from({ length: readsAtOnce }, read));
  return bytes;
}

/** The folder as a tree that knows its hashes, as a git tree does, with one page changed. */
async function edited(path: string, text: string, hashes: ReadonlyMap<string, string>): Promise<SiteTree> {
  const files = [...hashes].map(([name, hash]) => ({ path: name, hash: name === path ? `${hash}x` : hash }));
  return {
    list: async () => files,
    read: async (name) => (name === path ? Buffer.from(text) : disk.read(name)),
  };
}

/** The longest times that the event loop came late: by the clock, and of that the thread's own processor time. */
function watchLoop(): { stop(): { wallMs: number; ownMs: number } } {
  const everyMs = 5;
  const longest = { wallMs: 0, ownMs: 0 };
  const ownMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = { at: performance.now(), own: ownMs() };
  const timer = setInterval(() => {
    const now = { at: performance.now(), own: ownMs() };
    const lateMs = now.at - last.at - everyMs;
    longest.wallMs = Math.max(longest.wallMs, lateMs);
    if (lateMs > everyMs) longest.ownMs = Math.max(longest.ownMs, now.own - last.own);
    last = now;
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return longest;
    },
  };
}

const read = await timed(readAll);
const loop = watchLoop();
const cold = await timed(async () => checkSite(await openSite(disk)));
const { wallMs: loopMaxMs, ownMs: loopOwnMs } = loop.stop();
const rssMb = process.memoryUsage().rss / 2 ** 20;
const rssMaxMb = process.resourceUsage().maxRSS / 2 ** 10;

const site = await openSite(disk);
const hashes = new Map((await disk.list()).map(({ path }) => [path, site.index.nodes.get(path)?.hash ?? path]));
const cache = createParseCache();
const [first] = site.pages;
const path = site.pages[7]?.path ?? first?.path ?? "";
const text = Buffer.from((await disk.read(path)) ?? []).toString();
await checkSite(await openSite(await edited("", "", hashes), { cache }));
const warm: number[] = [];
let changed = site;
for (let round = 0; round < 9; round++) {
  const tree = await edited(
    path,
    `${text}\n\n[broken ${round}](/nowhere-${round})\n`,
    new Map([...hashes, [path, `round ${round}`]]),
  );
  const { ms, value } = await timed(async () => {
    changed = await openSite(tree, { cache });
    return checkSite(changed);
  });
  if (!value.some(({ message }) => message.includes(`nowhere-${round}`))) throw new Error("the edit was not noticed");
  warm.push(ms);
}
warm.sort((a, b) => a - b);
const rename = await timed(() => movePage(changed, { from: first?.path ?? "", to: "moved/first-page" }));
if (rename.value.kind === "refused") throw new Error(rename.value.reason);

const measured: Measured = {
  pages: site.pages.length,
  bytes: read.value,
  readMs: read.ms,
  readCpuMs: read.cpuMs,
  coldMs: cold.ms,
  coldCpuMs: cold.cpuMs,
  warmMs: warm[4] ?? 0,
  rssMb,
  rssMaxMb,
  loopMaxMs,
  loopOwnMs,
  renameMs: rename.ms,
  renamedLinks: rename.value.counts.links ?? 0,
};
console.log(JSON.stringify(measured));
