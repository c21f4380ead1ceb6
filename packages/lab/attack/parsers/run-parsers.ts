// Made pages, judged by the rule of content and read by real parsers: npm run attack -- parsers [--only NAME,…] [--seed N] [--rounds N]
// [--minutes N]. Fails on each page that the rule lets pass and in which a parser finds the mark `<b1 x>` as a tag.
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { createPageReader } from "@emend/review";
import { judgeContent } from "../../../review/src/judge-content.ts";
import { treeOf } from "../../../review/test/tree-of.ts";
import { install } from "../../../site/oracles/builders/builder.ts";
import { vitepress } from "../../../site/oracles/builders/npm-builders.ts";
import { sites } from "../builders/sites.ts";
import { markdownPieces, otherPieces, writePage } from "./write-page.ts";

interface Parser {
  name: string;
  /** The site of `builders/sites.ts` for which the rule judges the page. */
  site: string;
  ending?: string;
  command: readonly [program: string, ...args: string[]];
  /** Where its packages are, if npm installs them. */
  home?: () => Promise<string>;
}

const node = (program: string) => [process.execPath, "--input-type=module", "-e", program] as const;
const python = (setup: string, html: string) =>
  [
    "/usr/bin/python3",
    "-c",
    `import json, sys, io
${setup}
def html(t):
    try:
        return ${html}
    except Exception:
        return ""
pages = json.load(sys.stdin)
sys.stderr = io.StringIO()
json.dump([html(t) for t in pages], sys.stdout)`,
  ] as const;
const ruby = (libraries: string, html: string) =>
  [
    "ruby",
    ...["json", ...libraries.split(" ")].map((name) => `-r${name}`),
    "-e",
    `$VERBOSE = nil; puts JSON.generate(JSON.parse(STDIN.read).map { |t| begin; ${html}; rescue StandardError; ""; end })`,
  ] as unknown as Parser["command"];
const readPages = `import { text } from "node:stream/consumers";\nconst pages = JSON.parse(await text(process.stdin));`;
const tell = (html: string) =>
  `process.stdout.write(JSON.stringify(await Promise.all(pages.map(async (t) => { try { return ${html} } catch { return "" } }))))`;

const extensions =
  '["admonition", "attr_list", "md_in_html", "footnotes", "def_list", "abbr", "tables", "pymdownx.superfences", "pymdownx.details", "pymdownx.tabbed"]';
const parsers: readonly Parser[] = [
  {
    name: "Python-Markdown",
    site: "mkdocs",
    command: python("import markdown", `markdown.markdown(t, extensions=${extensions})`),
  },
  {
    name: "kramdown",
    site: "jekyll",
    command: ruby(
      "liquid kramdown kramdown-parser-gfm",
      'Kramdown::Document.new(Liquid::Template.parse(t).render, input: "GFM").to_html',
    ),
  },
  {
    name: "MyST",
    site: "sphinx",
    command: python(
      `from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from markdown_it.renderer import RendererHTML
md = create_md_parser(MdParserConfig(enable_extensions=["colon_fence", "html_image", "dollarmath", "deflist"]), RendererHTML)`,
      "md.render(t)",
    ),
  },
  {
    name: "micromark",
    site: "starlight",
    command: node(`${readPages}
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
${tell("micromark(t, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] })")}`),
  },
  {
    name: "MDX",
    site: "mdx",
    command: node(`${readPages}
import { parse, postprocess, preprocess } from "micromark";
import { mdxjs } from "micromark-extension-mdxjs";
const tagsIn = (t) => postprocess(parse({ extensions: [mdxjs()] }).document().write(preprocess()(t, undefined, true)))
  .filter(([kind, token]) => kind === "enter" && /^mdxJsx(?:Flow|Text)Tag$/.test(token.type)).map(([, token, context]) => context.sliceSerialize(token)).join();
${tell("tagsIn(t)")}`),
  },
  {
    name: "VitePress",
    site: "vitepress",
    home: () => install(vitepress),
    command: node(`${readPages}
import { createMarkdownRenderer } from "vitepress";
const md = await createMarkdownRenderer(".");
${tell("md.renderAsync ? await md.renderAsync(t, {}) : md.render(t, {})")}`),
  },
  {
    name: "docutils",
    site: "sphinx",
    ending: "rst",
    command: python(
      "from docutils.core import publish_parts",
      'publish_parts(t, writer_name="html", settings_overrides={"file_insertion_enabled": False, "report_level": 5, "halt_level": 6})["body"]',
    ),
  },
  {
    name: "Asciidoctor",
    site: "asciidoctor",
    ending: "adoc",
    command: ruby("asciidoctor", "Asciidoctor.convert(t, safe: :secure, standalone: false)"),
  },
];

export interface ParserOptions {
  only?: string | undefined;
  seed: number;
  rounds: number;
  minutes: number;
}
const pagesOfRound = 400;

/** Returns the number of pages on which a parser and the rule disagree. */
export async function runParsers({ only, seed, rounds, minutes }: ParserOptions): Promise<number> {
  const started = performance.now();
  const reader = createPageReader();
  let failures = 0;
  for (const { name, site, ending = "md", command, home } of parsers) {
    if (only !== undefined && !only.split(",").includes(name)) continue;
    let [made, passed, found] = [0, 0, 0];
    for (let round = 0; round < rounds && performance.now() - started < minutes * 60_000; round += 1) {
      const pieces = otherPieces[ending] ?? markdownPieces;
      const pages = Array.from({ length: pagesOfRound }, (_, index) =>
        writePage(pieces, seed * 1_000_003 + round * 10_007 + index),
      );
      const open: string[] = [];
      for (const page of pages) if (await passes(page)) open.push(page);
      const read = await ask(command, open, await home?.());
      if (read === null) {
        console.log(`${name}: not available here`);
        break;
      }
      [made, passed] = [made + pages.length, passed + open.length];
      for (const [index, html] of read.entries()) {
        // In a comment or an attribute it is no tag.
        if (!/<b1\b/.test(html.replaceAll(/<!--[\s\S]*?-->|="[^"]*"/g, ""))) continue;
        found += 1;
        console.log(`  ${name}: ${JSON.stringify(open[index])}`);
      }
    }
    failures += found;
    if (made > 0) console.log(`${name}: ${made} pages, ${passed} pass, in ${found} of these it finds the tag`);

    async function passes(text: string): Promise<boolean> {
      const base = treeOf(sites.find((one) => one.name === site)?.files ?? {});
      const folder = site === "vitepress" ? "" : "docs/";
      const files = [{ path: `${folder}new.${site === "mdx" ? "mdx" : ending}`, content: Buffer.from(text), text }];
      const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000 };
      const judging = { base, reader, policy, asked: [] };
      const { violations, constructs } = await judgeContent(judging, files, [], AbortSignal.timeout(20_000));
      return violations.length + constructs.length === 0;
    }
  }
  return failures;
}

/** What the parser makes of each page; null if it is not installed. */
function ask([program, ...args]: Parser["command"], pages: readonly string[], home = ""): Promise<string[] | null> {
  return new Promise((done) => {
    const options = {
      cwd: home || process.cwd(),
      maxBuffer: 2 ** 28,
      timeout: 300_000,
      env: { PATH: process.env.PATH },
    };
    const child = execFile(program, args, { ...options, env: { ...options.env, HOME: tmpdir() } }, (error, stdout) => {
      try {
        done(error ? null : (JSON.parse(stdout) as string[]));
      } catch {
        done(null);
      }
    });
    child.stdin?.end(JSON.stringify(pages));
  });
}
