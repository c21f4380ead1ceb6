import { checkMdx } from "../check-mdx.ts";
import { applySettings, readCheckSettings } from "../check-settings.ts";
import { checkSite } from "../check-site.ts";
import { openSite } from "../open-site.ts";
import { type MdxParser, openMdxParser } from "../parse/mdx-parser.ts";
import { silenceFindings } from "../silence.ts";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";
import type { LiveFolder } from "./live-folder.ts";

/** A site for repeated opening and checking: unchanged parts are neither read nor checked again. */
export interface LiveSite {
  open(signal?: AbortSignal): Promise<Site>;
  /** The findings of `checkSite`, and of the full MDX parser for these pages. */
  check(site: Site, mdxPages: Iterable<string>, signal?: AbortSignal): Promise<readonly Finding[]>;
  close(): Promise<void>;
}

export function openLiveSite({ tree }: LiveFolder, { docsDir = "" }: { docsDir?: string } = {}): LiveSite {
  let latest: Site | undefined;
  let parser: MdxParser | undefined;
  const judged = new Map<string, { hash: string; findings: readonly Finding[] }>();

  async function judgeMdx(site: Site, pages: Iterable<string>, signal?: AbortSignal): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const path of pages) {
      const node = site.index.nodes.get(path);
      if (node === undefined || site.model.dialect(path).syntax !== "mdx") continue;
      let known = judged.get(path);
      if (known?.hash !== node.hash) {
        parser ??= openMdxParser();
        const options = { parser, ...(signal === undefined ? {} : { signal }) };
        known = { hash: node.hash, findings: await checkMdx(site, [path], options) };
        judged.set(path, known);
      }
      findings.push(...known.findings);
    }
    return findings;
  }

  return {
    async open(signal) {
      const options = { docsDir, ...(latest === undefined ? {} : { previous: latest }) };
      latest = await openSite(tree, signal === undefined ? options : { ...options, signal });
      return latest;
    },
    async check(site, mdxPages, signal) {
      const findings = await checkSite(site, signal === undefined ? {} : { signal });
      const ofMdx = await judgeMdx(site, mdxPages, signal);
      if (ofMdx.length === 0) return findings;
      const settings = await readCheckSettings(site);
      // Not every page was parsed, so an ignore comment without effect here may still be needed.
      const silent = silenceFindings(site, applySettings(ofMdx, settings), { settings, ran: new Set() });
      return [...findings, ...silent];
    },
    close: async () => parser?.close(),
  };
}
