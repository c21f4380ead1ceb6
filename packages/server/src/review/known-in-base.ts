import { domainToUnicode } from "node:url";
import { hostsIn } from "../lib/hosts-in.ts";
import { matchesGlob } from "../lib/matches-glob.ts";
import type { Tree } from "../tree/tree.ts";
import { textsOf } from "./configuration.ts";
import type { PageReader } from "./page-reader.ts";
import { type PageReading, syntaxOf } from "./page-reading.ts";
import { kindOf } from "./policy.ts";

const matchesMax = 1_000;
/** Pages that are read to find one that links to a site, or runs the same code. */
const pagesMax = 40;
const pieceCharactersMin = 3;

/** What a change may point at beside what the repository's pages point at already. */
export interface HostRules {
  /** Hosts, or patterns such as `*.acme.dev`; `*`: any, and a new one is only told. */
  allowed: readonly string[];
  /** What people asked for: the hosts that they named may be used. */
  asked: readonly string[];
}

/** What the repository's rendered pages hold already, so that a change may hold it too. */
export interface KnownInBase {
  /** flagged: new, and let in by `*` alone. `isShown`: in a code sample, where any document that names it will do. */
  judgeHost(host: string, isShown: boolean, signal: AbortSignal): Promise<"known" | "flagged" | "refused">;
  holdsCode(shape: string, signal: AbortSignal): Promise<boolean>;
  holdsInclude(folder: string, signal: AbortSignal): Promise<boolean>;
  /** A page as the base has it; null where it has none, or one that cannot be read. */
  page(path: string): Promise<PageReading | null>;
}

export function createKnownInBase(base: Tree, reader: PageReader, rules: HostRules): KnownInBase {
  const asked = new Set(rules.asked.flatMap((text) => [...hostsIn(text)]));
  const named = rules.allowed.filter((pattern) => pattern !== "*").map((pattern) => pattern.toLowerCase());
  const unknown = rules.allowed.includes("*") ? "flagged" : "refused";
  const pages = new Map<string, Promise<PageReading | null>>();
  const answers = new Map<string, Promise<boolean>>();

  function page(path: string): Promise<PageReading | null> {
    const reading = pages.get(path) ?? base.read(path).then((bytes) => bytes && reader.read(path, bytes.toString()));
    pages.set(path, reading);
    return reading;
  }

  /** Whether one of the pages that hold this text holds what is looked for. */
  async function some(text: string, holds: (path: string) => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
    const query = { pattern: text, kind: "literal", ignoreCase: true, matchesMax } as const;
    const { matches } = await base.search(query, signal);
    const paths = [...new Set(matches.map(({ path }) => path))].filter((path) => kindOf(path) !== "other");
    for (const path of paths.slice(0, pagesMax)) if (await holds(path)) return true;
    return false;
  }

  function once(key: string, ask: () => Promise<boolean>): Promise<boolean> {
    const answer = answers.get(key) ?? ask();
    answers.set(key, answer);
    return answer;
  }

  async function pointsAt(path: string, host: string): Promise<boolean> {
    if (syntaxOf(path) === null) {
      const text = (await base.read(path))?.toString() ?? "";
      return !/\.[cm]?[jt]sx?$/.test(path) && textsOf(path, text).some((one) => hostsIn(one).has(host));
    }
    return (await page(path))?.addresses.some((one) => !one.isUnused && one.hosts.includes(host)) ?? false;
  }

  async function names(path: string, host: string): Promise<boolean> {
    return hostsIn((await base.read(path))?.toString() ?? "").has(host);
  }

  return {
    page,
    async judgeHost(host, isShown, signal) {
      if (asked.has(host) || named.some((pattern) => matchesGlob(pattern, host))) return "known";
      const holds = (path: string) => (isShown ? names(path, host) : pointsAt(path, host));
      const isKnown = await once(`${isShown ? "shown" : "live"} ${host}`, async () => {
        for (const spelling of new Set([host, domainToUnicode(host) || host])) {
          if (await some(spelling, holds, signal)) return true;
        }
        return false;
      });
      return isKnown ? "known" : unknown;
    },
    holdsCode(shape, signal) {
      const holds = async (path: string) => (await page(path))?.code.some((one) => one.shape === shape) ?? false;
      const pieces = shape.split(/""|\s+/).sort((a, b) => b.length - a.length);
      const piece = (pieces[0] ?? "").slice(0, 200);
      return once(`code ${shape}`, async () => piece.length >= pieceCharactersMin && some(piece, holds, signal));
    },
    holdsInclude(folder, signal) {
      const holds = async (path: string) =>
        (await page(path))?.includes.some(({ target }) => folderOf(target) === folder) ?? false;
      return once(`include ${folder}`, () => some(folder, holds, signal));
    },
  };
}

export function folderOf(target: string): string {
  return target.slice(0, target.lastIndexOf("/") + 1);
}
