import { addressesOf, isDocument, nameOf } from "./addresses.ts";
import { mayHave } from "./ids.ts";
import { findAnywhere, learnManners, makeWorld, readAs, type World } from "./world.ts";
import { fragmentPart, pathPart, type WrittenLink, writtenLinks } from "./written-links.ts";

/** One state of the files: the paths, and the text of each page. */
export interface State {
  files: ReadonlySet<string>;
  texts: ReadonlyMap<string, string>;
}

/** A link that led to a file before the change and leads nowhere after it. */
interface DeadLink {
  path: string;
  line: number;
  target: string;
  was: string;
}

export interface Verdict {
  dead: readonly DeadLink[];
  /** Links that may mean what moved: the resolvers cannot follow them, or disagree. */
  mayMean: readonly UnsureLink[];
  /** The resolver of the state before. */
  follow: LinkResolver;
}

interface UnsureLink {
  path: string;
  line: number;
  target: string;
}

const sampleMax = 4000;

/** The file that a link leads to, or null. */
export type LinkResolver = (from: string, link: Pick<WrittenLink, "target" | "isReference">) => string | null;

function learn(state: State): { world: World; manners: ReturnType<typeof learnManners> } {
  const world = makeWorld(state.files, state.texts);
  const all: { from: string; target: string }[] = [];
  for (const [from, text] of state.texts) {
    for (const { target, isReference } of writtenLinks(text))
      if (!isReference && !target.startsWith("#")) all.push({ from, target });
  }
  return { world, manners: learnManners(world, sampleOf(all)) };
}

function sampleOf<T>(all: readonly T[]): readonly T[] {
  const step = Math.max(1, Math.ceil(all.length / sampleMax));
  return all.filter((_, n) => n % step === 0);
}

/** A resolver that accepts only forms that other links have too. */
export function followUsual(world: World, links: readonly { from: string; target: string }[]): LinkResolver {
  return resolverOf(world, learnManners(world, sampleOf(links), { isStrict: true }));
}

function resolverOf(world: World, manners: ReturnType<typeof learnManners>): LinkResolver {
  return (from, { target, isReference }) => {
    if (/^\/?$/.test(pathPart(target))) return from;
    if (isReference) return findAnywhere(world, target);
    for (const how of manners) {
      const file = readAs(world, from, target, how);
      if (file !== null) return file;
    }
    return null;
  };
}

/** A resolver of one state of a site. */
export function learnResolver(state: State): LinkResolver {
  const { world, manners } = learn(state);
  return resolverOf(world, manners);
}

/**
 * Judges a change by itself: it shares no code with the index that planned the change. It knows names of files and the
 * addresses that they may have, learns from the site's own links how they are meant, and follows each link before and
 * after.
 */
export function judgeChange(
  before: State,
  after: State,
  /** Old path → new path. */
  moves: ReadonlyMap<string, string>,
  /** Text that the change added to files that are not pages: its redirects. */
  added: string,
  /** The file that the first resolver took a link for. Where the resolvers disagree, a person decides. */
  believed: (path: string, target: string) => string | null,
): Verdict {
  const { world, manners } = learn(before);
  const followBefore = resolverOf(world, manners);
  const followAfter = resolverOf(makeWorld(after.files, after.texts), manners);
  const origins = new Map([...moves].map(([from, to]) => [to, from]));
  const gone = new Set([...before.files].filter((path) => !after.files.has(path)));
  const names = new Set(
    [...gone].filter(isDocument).flatMap((path) => {
      const addresses = addressesOf(path, before.texts.get(path) ?? "").values();
      return [...addresses].map((address) => lastName(address).toLowerCase());
    }),
  );
  const dead: DeadLink[] = [];
  const mayMean: UnsureLink[] = [];
  for (const [path, text] of after.texts) {
    const origin = origins.get(path) ?? path;
    const old = before.texts.get(origin);
    if (old === undefined) continue;
    const links = writtenLinks(text);
    const olds = old === text ? links : writtenLinks(old);
    for (const [n, link] of links.entries()) {
      const twin = olds.length === links.length ? olds[n] : olds.find(({ target }) => target === link.target);
      if (twin === undefined) continue;
      const was = followBefore(origin, twin);
      if (was === null) {
        const last = lastName(nameOf(pathPart(link.target).replace(/\/$/, ""))).toLowerCase();
        if (twin.target === link.target && names.has(last)) mayMean.push({ path, ...link });
        continue;
      }
      const now = followAfter(path, link);
      if (now === (moves.get(was) ?? was) || isRedirected(link, added)) continue;
      const other = believed(origin, twin.target);
      if (now === null && (other === null || other === was)) dead.push({ path, ...link, was });
      // It leads to another file of that name now, of another version or language. Where no page moves, a section does: a
      // link that was rewritten is meant to lead elsewhere.
      else if (now === null || (other !== now && (moves.size > 0 || twin.target === link.target)))
        mayMean.push({ path, ...link });
    }
  }
  return { dead, mayMean, follow: followBefore };
}

function lastName(address: string): string {
  return address.slice(address.lastIndexOf("/") + 1);
}

function isRedirected({ target }: WrittenLink, added: string): boolean {
  const path = pathPart(target).replace(/^\/|\/$/g, "");
  const at = path === "" ? -1 : added.indexOf(path);
  return at >= 0 && !/[\w-]/.test(added[at + path.length] ?? "") && !/[\w-]/.test(added[at - 1] ?? "");
}

/** A fix of one page: its text with only this fix. */
export interface ProposedFix {
  path: string;
  text: string;
}

/** Which fixes the second resolver does not confirm: it finds the old target, or does not find the new one. */
export function doubtedFixes(state: State, fixes: readonly ProposedFix[]): Set<number> {
  const follow = learnResolver(state);
  const doubted = new Set<number>();
  for (const [n, { path, text }] of fixes.entries()) {
    const olds = writtenLinks(state.texts.get(path) ?? "");
    const news = writtenLinks(text);
    const changed = news.flatMap((link, i) => (link.target === olds[i]?.target ? [] : [[olds[i], link] as const]));
    const isSure =
      olds.length === news.length &&
      changed.length > 0 &&
      changed.every(([from, to]) => from !== undefined && isBetter(state, follow, path, from, to));
    if (!isSure) doubted.add(n);
  }
  return doubted;
}

function isBetter(state: State, follow: LinkResolver, path: string, from: WrittenLink, to: WrittenLink): boolean {
  const next = follow(path, to);
  if (next === null) return false;
  if (pathPart(from.target) !== pathPart(to.target)) return follow(path, from) === null;
  const text = state.texts.get(next) ?? "";
  return !mayHave(text, fragmentPart(from.target) ?? "") && mayHave(text, fragmentPart(to.target) ?? "");
}

/** Whether a change can make a link lead elsewhere: it adds or removes files, or changes a link or an address. */
export function mattersToLinks(path: string, before: string | null, after: string | null): boolean {
  if (before === null || after === null) return true;
  const targets = (text: string): string =>
    writtenLinks(text)
      .map(({ target }) => pathPart(target))
      .join("\n");
  const addresses = (text: string): string => [...addressesOf(path, text).values()].join("\n");
  return targets(before) !== targets(after) || addresses(before) !== addresses(after);
}
