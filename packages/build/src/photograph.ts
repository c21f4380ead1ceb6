// Runs inside the sandbox. Opens pages of two built sites in Chromium, and writes their pictures, with the rows in which
// they differ. A site's pages run their scripts here.
import { after, fail, find, openBlocks, type Page, readSite, serve, startChromium } from "./browser.ts";
import { differ } from "./differ.ts";
import { freeze } from "./freeze.ts";
import { shoot } from "./shoot.ts";

interface Order {
  chromium: string;
  /** Files of packed sites. */
  sites: { before: string; after: string };
  pages: { path: string; before: string | null; after: string | null }[];
  widths: number[];
  /** What the addresses of the site begin with; "" or `/folder`. */
  base: string;
  pictures: string;
}

type Side = "before" | "after";

const order: Order = JSON.parse(process.argv[2] ?? "");
const screenHeight = 800;
const shotMs = 20_000;
async function takeAll(): Promise<void> {
  const sites = { before: readSite(order.sites.before), after: readSite(order.sites.after) };
  const origins = { before: await serve(sites.before, order.base), after: await serve(sites.after, order.base) };
  const browser = startChromium(order.chromium);
  const write = openBlocks(order.pictures);
  const silent = new Set<string>();
  for (const page of order.pages) {
    for (const width of order.widths) {
      const take = async (side: Side) => {
        const url = page[side];
        if (url === null || !find(sites[side], order.base, url)) return null;
        // A page may keep its thread busy for ever. It is not asked twice.
        if (silent.has(url)) return null;
        let frozen: string | null = null;
        const freezeIt = async (opened: Page) => {
          frozen = await freeze(opened, sites[side], order.base, origins[side]).catch(() => null);
        };
        // A page fits itself to its frame: once is enough.
        const also = width === order.widths[0] ? freezeIt : undefined;
        const view = { width, height: screenHeight };
        const shot = shoot(browser, `${origins[side]}${url}`, view, also).catch(() => null);
        const taken = await Promise.race([shot, after(shotMs).then(() => null)]);
        if (taken === null) silent.add(url);
        return taken && { ...taken, frozen: frozen ?? "" };
      };
      const shots = { before: await take("before"), after: await take("after") };
      const marks =
        shots.before && shots.after ? differ(shots.before.rows, shots.after.rows) : { before: [], after: [] };
      for (const side of ["before", "after"] as const) {
        const shot = shots[side];
        if (shot === null) continue;
        const { height, bytes, frozen } = shot;
        write(Buffer.from(JSON.stringify({ path: page.path, width, side, height, marks: marks[side] })));
        write(bytes);
        write(Buffer.from(frozen));
      }
    }
  }
  browser.stop();
  process.exit(0);
}

takeAll().catch(fail);
