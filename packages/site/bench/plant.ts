// Plants sixty faults of twelve kinds into a sound site of each framework and counts what the check finds: `plant.ts [--seed 1]`.
import { parseArgs } from "node:util";
import { checkSite, openSite } from "../src/index.ts";
import { type Files, memoryTree } from "../test/support/memory-tree.ts";

const { values } = parseArgs({ options: { seed: { type: "string", default: "1" } }, strict: false });
const pagesMax = 80;
const eachKind = 5;

interface Form {
  name: string;
  root: string;
  extension: string;
  /** A link to a page as this framework's authors write it, and one from the top of the site. */
  link(page: string): string;
  absolute(page: string): string;
  /** A link that climbs one folder too far. */
  tooHigh(page: string): string;
  picture: string;
  /** The folder that the picture lies in. */
  pictures: string;
  /** The files of the configuration, which list these pages. */
  config(pages: readonly string[]): Files;
}

const byFile = (page: string): string => `${page}.md`;
const atTop = (page: string): string => `/guides/${page}`;
const quoted = (pages: readonly string[], text: (page: string) => string): string => pages.map(text).join(",\n");

const forms: readonly Form[] = [
  {
    name: "mkdocs",
    root: "docs/",
    extension: "md",
    link: byFile,
    absolute: (page) => `/guides/${page}/`,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../img/d.png",
    pictures: "docs/img",
    config: (pages) => ({
      "mkdocs.yml": `site_name: x\nsite_url: https://example.org/\nnav:\n${pages.map((page) => `  - guides/${page}.md`).join("\n")}\n`,
    }),
  },
  {
    name: "vitepress",
    root: "docs/",
    extension: "md",
    link: byFile,
    absolute: atTop,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../img/d.png",
    pictures: "docs/img",
    config: (pages) => ({
      "docs/.vitepress/config.ts": `export default { themeConfig: { sidebar: [{ text: "All", items: [\n${quoted(pages, (page) => `{ text: "x", link: "/guides/${page}" }`)}\n] }] } };\n`,
    }),
  },
  {
    name: "docusaurus",
    root: "docs/",
    extension: "md",
    link: byFile,
    absolute: (page) => `/docs/guides/${page}`,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../img/d.png",
    pictures: "docs/img",
    config: (pages) => ({
      "docusaurus.config.js": `export default { presets: [["classic", { docs: { path: "docs", sidebarPath: "./sidebars.js" } }]] };\n`,
      "sidebars.js": `module.exports = { docs: [\n${quoted(pages, (page) => `"guides/${page}"`)}\n] };\n`,
    }),
  },
  {
    name: "starlight",
    root: "src/content/docs/",
    extension: "md",
    link: (page) => `../${page}/`,
    absolute: (page) => `/guides/${page}/`,
    tooHigh: (page) => `../../${page}/`,
    picture: "../../img/d.png",
    pictures: "src/content/img",
    config: (pages) => ({
      "astro.config.mjs": `import starlight from "@astrojs/starlight";\nexport default { integrations: [starlight({ sidebar: [{ label: "All", items: [\n${quoted(pages, (page) => `{ slug: "guides/${page}" }`)}\n] }] })] };\n`,
    }),
  },
  {
    name: "nextra",
    root: "content/",
    extension: "mdx",
    link: (page) => `./${page}.mdx`,
    absolute: atTop,
    tooHigh: (page) => `../${page}`,
    picture: "/img/d.png",
    pictures: "public/img",
    config: (pages) => ({
      "next.config.mjs": "import nextra from 'nextra'\nexport default nextra({})({})\n",
      "content/guides/_meta.js": `export default {\n${quoted(pages, (page) => `'${page}': 'x'`)}\n}\n`,
    }),
  },
  {
    name: "mintlify",
    root: "",
    extension: "mdx",
    link: (page) => `./${page}`,
    absolute: atTop,
    tooHigh: (page) => `../${page}`,
    picture: "/img/d.png",
    pictures: "img",
    config: (pages) => ({
      "docs.json": `{ "navigation": { "groups": [{ "group": "All", "pages": [\n${quoted(pages, (page) => `"guides/${page}"`)}\n] }] } }\n`,
    }),
  },
  {
    name: "gitbook",
    root: "",
    extension: "md",
    link: byFile,
    absolute: atTop,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../.gitbook/d.png",
    pictures: ".gitbook",
    config: (pages) => ({
      "README.md": "# Home\n",
      "SUMMARY.md": `# Table of contents\n\n${pages.map((page) => `* [x](guides/${page}.md)`).join("\n")}\n`,
    }),
  },
];

/** The kinds that are planted into a page, each as a paragraph. */
function kindsOf(form: Form): readonly ((sound: string, n: number) => string)[] {
  const gone = form.link("gone");
  return [
    () => `[a](${gone})`,
    () => `[a](${form.absolute("gone")})`,
    (sound) => `[a](${form.link(sound)}#nowhere)`,
    () => "[a](#nowhere)",
    (sound) => `[a](${form.link(sound)}#Details)`,
    () => `![a](${form.picture.replace("d.png", "gone.png")})`,
    () => "```sh\nls",
    (sound) => `[a](${form.link(sound.replace("page", "Page"))})`,
    (sound) => `[a](${form.tooHigh(sound)})`,
    (_sound, n) => `[a][ref-${n}]\n\n[ref-${n}]: ${gone}`,
  ];
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function measure(form: Form): Promise<{ planted: number; found: number; others: number; missed: string[] }> {
  const random = createRandom(Number(values.seed));
  const names = Array.from({ length: pagesMax }, (_, n) => `page-${n}`);
  const pathOf = (page: string): string => `${form.root}guides/${page}.${form.extension}`;
  const free = names.slice(1).sort(() => random() - 0.5);
  const files: Record<string, string> = { [`${form.pictures}/d.png`]: "png" };
  const body = (page: string, own: string, front = `title: ${page}`): string =>
    `---\n${front}\n---\n\nSee [next](${form.link("page-0")}), [top](${form.absolute("page-0")}#details) and ![p](${form.picture}).\n\n## Details\n\n${own}\n`;
  for (const page of names) files[pathOf(page)] = body(page, "Text.");
  const planted: { path: string; kind: number }[] = [];
  for (const [kind, make] of kindsOf(form).entries()) {
    for (let n = 0; n < eachKind; n++) {
      const page = free.pop() ?? "";
      const sound = names[Math.floor(random() * pagesMax)] ?? "page-0";
      files[pathOf(page)] = body(page, make(sound, n));
      planted.push({ path: pathOf(page), kind });
    }
  }
  for (let n = 0; n < eachKind; n++) {
    const page = free.pop() ?? "";
    files[pathOf(page)] = body(page, "Text.", "title: [open");
    planted.push({ path: pathOf(page), kind: 10 });
  }
  const lost = Array.from({ length: eachKind }, (_, n) => `lost-${n}`);
  const config = form.config([...names, ...lost]);
  const findings = await checkSite(await openSite(memoryTree({ ...files, ...config })));
  const left = new Set(planted.map(({ path }) => path));
  const lostLeft = new Set(lost);
  let others = 0;
  for (const { path, message, severity } of findings) {
    if (severity === "info") continue;
    const entry = lost.find((name) => message.includes(name));
    if (entry !== undefined) lostLeft.delete(entry);
    // Each planted page has one fault: a second finding there is as wrong as one elsewhere.
    else if (!left.delete(path)) others++;
  }
  const missed = [
    ...planted.filter(({ path }) => left.has(path)).map(({ kind }) => `kind ${kind + 1}`),
    ...[...lostLeft].map(() => "kind 12"),
  ];
  const total = planted.length + lost.length;
  return { planted: total, found: total - missed.length, others, missed: [...new Set(missed)] };
}

let isMet = true;
for (const form of forms) {
  const { planted, found, others, missed } = await measure(form);
  const precision = found / Math.max(1, found + others);
  const recall = found / planted;
  isMet &&= precision >= 0.98 && recall >= 0.95;
  const figures = `precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} (${found} of ${planted}, ${others} others)`;
  console.log(`${form.name.padEnd(12)} ${figures}${missed.length > 0 ? `; missed: ${missed.join(", ")}` : ""}`);
}
process.exit(isMet ? 0 : 1);
