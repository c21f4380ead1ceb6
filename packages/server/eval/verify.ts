import { findPage } from "@emend/site";
import type { Done } from "./task.ts";

type Check = (done: Done) => Promise<string | null> | string | null;

/** Several things at once; the answer names each that is not so. */
export function all(...checks: readonly Check[]): (done: Done) => Promise<readonly string[]> {
  return async (done) => {
    const answers = await Promise.all(checks.map((check) => check(done)));
    return answers.filter((answer) => answer !== null);
  };
}

/** No link, anchor, navigation entry or page is worse than before. */
export const breaksNothing: Check = ({ introduced }) =>
  introduced.length === 0 ? null : `it broke: ${introduced.slice(0, 3).join("; ")}`;

export const changesNothing: Check = ({ changed }) =>
  changed.length === 0 ? null : `it changed ${changed.join(", ")}`;

export function changesOnly(...paths: readonly string[]): Check {
  return ({ changed }) => {
    const others = changed.filter((path) => !paths.includes(path));
    return others.length === 0 ? null : `it also changed ${others.join(", ")}`;
  };
}

export function hasPage(page: string): Check {
  return ({ after }) => (findPage(after, page).kind === "found" ? null : `there is no page ${page}`);
}

export function hasNoPage(page: string): Check {
  return ({ after }) => (findPage(after, page).kind === "found" ? `the page ${page} is still there` : null);
}

/** The page is in the navigation of the graph, in a group of this name where one is given. */
export function lists(page: string, group?: string): Check {
  return ({ after }) => {
    const search = findPage(after, page);
    if (search.kind !== "found") return `there is no page ${page}`;
    const names = [search.page.route, search.page.path].map(plain);
    const found = after.navigation.some(
      ({ trail, items }) =>
        (group === undefined || trail.at(-1)?.toLowerCase() === group.toLowerCase()) &&
        items.some(({ target }) => target !== null && names.some((name) => name.endsWith(plain(target)))),
    );
    return found ? null : `${page} is not listed${group === undefined ? "" : ` under ${group}`}`;
  };
}

/** Every broken link of the site is gone, not only those that a text search would find. */
export function linksResolve(findings: (done: Done) => Promise<readonly string[]>): Check {
  return async (done) => {
    const left = await findings(done);
    return left.length === 0 ? null : `still broken: ${left.slice(0, 3).join("; ")}`;
  };
}

export function holds(path: string, ...texts: readonly (string | RegExp)[]): Check {
  return async ({ read }) => {
    const content = (await read(path)) ?? "";
    const missing = texts.filter((text) => (typeof text === "string" ? !content.includes(text) : !text.test(content)));
    return missing.length === 0 ? null : `${path} lacks ${missing.join(", ")}`;
  };
}

/** Says where it has it from: a line of this file, in this context repository. */
export function cites(repository: string, path: string): Check {
  return ({ sources }) =>
    sources.some((source) => source.repository === repository && source.path === path)
      ? null
      : `it does not cite @${repository}/${path}`;
}

/** The page's own name, as the graph has it. */
export function titleIs(page: string, title: string): Check {
  return ({ after }) => {
    const search = findPage(after, page);
    if (search.kind !== "found") return `there is no page ${page}`;
    return search.page.title === title ? null : `${page} is called ${search.page.title}`;
  };
}

/** No page of the site holds it, in prose or in code. */
export function nowhere(text: string): Check {
  return async ({ after, read }) => {
    const contents = await Promise.all(after.pages.map(async ({ path }) => [path, await read(path)] as const));
    const where = contents.filter(([, content]) => content?.includes(text)).map(([path]) => path);
    return where.length === 0 ? null : `${text} is still in ${where.join(", ")}`;
  };
}

/** Routes, paths and the ids of Docusaurus (`#plugin@version:id`) alike. */
function plain(target: string): string {
  return target
    .replace(/^#[^:]*:/, "")
    .replace(/^\/+/, "")
    .replace(/\.mdx?$/i, "")
    .replace(/^docs\//, "");
}
