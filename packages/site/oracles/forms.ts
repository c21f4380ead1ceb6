import { baseOf, pageExtension, underDir } from "../src/links/target.ts";
import { otherSites } from "./forms/other-sites.ts";
import { reactSites } from "./forms/react-sites.ts";
import { layoutSites } from "./layouts.ts";
import { type FormSite, type OracleSite, type PlacedLink, picture } from "./oracle-site.ts";

const forms = /\[\[(.+?)\]\]|<<([^<>\n]+)>>|\(\(([^()\n]+)\)\)|\[=(.+?)=\]|\[\+(.+?)\+\]|(\{\w+\})\[([^\]]+)\]/g;

function layForms({ name, root = "", publicDir = root, config, files: pages }: FormSite): OracleSite {
  const files: Record<string, string> = { ...config };
  const marks = new Map<string, string>();
  const placed: PlacedLink[] = [];
  for (const [file, text] of Object.entries(pages)) {
    const path = file.startsWith("../../") ? file.replace("../..", "src") : underDir(root, file);
    const isPage = pageExtension.test(file) && !/(?:^|\/)(?:_?parts|snippets|drafts)\/|(?:^|\/)_part\./.test(file);
    const mark = `mark-${marks.size}-`;
    if (isPage) marks.set(path, mark);
    const place = (target: string, kind?: PlacedLink["kind"]): string => {
      const own = kind === "include" ? `in_${baseOf(target).replace(/^_|\.\w+$/g, "")}` : `case-${placed.length}-`;
      const from = file.replace(pageExtension, "");
      placed.push({ from, target, path, mark: own, ...(kind === undefined ? {} : { kind }) });
      return own;
    };
    const body = text.replace(
      forms,
      (
        _whole,
        link?: string,
        tag?: string,
        src?: string,
        prop?: string,
        file?: string,
        role?: string,
        name?: string,
      ) => {
        if (role !== undefined) return `${role}\`${place(`${role}\`${name}\``)} <${name}>\``;
        // The title is not part of the target.
        if (link !== undefined) return `[${place(link.replace(/ '.*'$/, ""))}](${link})`;
        if (tag !== undefined) return `<a href="${tag}">${place(tag, "href")}</a>`;
        if (src !== undefined) return `<img src="${src}" alt="${place(src, "src")}" />`;
        if (prop !== undefined) return `title="${place(prop, "href")}" href="${prop}"`;
        place(file ?? "", "include");
        return file ?? "";
      },
    );
    files[path] = text === picture ? picture : isPage ? `${body}\n\n${mark}\n` : `${body}\n`;
  }
  return {
    name,
    framework: name.replace(/-.*$/, ""),
    publicDir,
    files,
    marks,
    links: placed,
    headingsPath: "",
    headings: [],
    blocks: new Map(),
  };
}

export const oracleSites: readonly OracleSite[] = [...layoutSites, ...[...otherSites, ...reactSites].map(layForms)];
