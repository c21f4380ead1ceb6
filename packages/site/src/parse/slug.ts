import { slug as githubSlug } from "github-slugger";
import type { SlugRule } from "./dialect.ts";

const singleSpaced = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/;
const plainAscii = /^[A-Za-z0-9 _-]*$/;

function github(text: string): string {
  return plainAscii.test(text) ? text.toLowerCase().replaceAll(" ", "-") : githubSlug(text);
}

/** Python-Markdown's `toc` extension. */
function python(text: string): string {
  const ascii = text.normalize("NFKD").replace(/[^\0-\x7f]/g, "");
  return ascii
    .replace(/[^\w\s-]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[-\s]+/g, "-");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule of @mdit-vue/shared, to the letter
const vitepressControl = /[\u0000-\u001f]/g;
const vitepressSpecial = /[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g;

function vitepress(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(vitepressControl, "")
    .replace(vitepressSpecial, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^-+|-+$/g, "")
    .replace(/^(\d)/, "_$1")
    .toLowerCase();
}

function mintlify(text: string): string {
  if (singleSpaced.test(text)) return text.toLowerCase().replaceAll(" ", "-");
  return github(text.replaceAll(".", "-"))
    .replace(/-{2,}/g, "-")
    .replace(/^-+|-+$/g, "");
}

/** GitBook keeps dots, spells out the ampersand, and ids do not begin with a digit. */
function gitbook(text: string): string {
  const id = text
    .toLowerCase()
    .replace(/&/g, " and ")
    .trim()
    .replace(/[^\p{L}\p{N}\s._-]/gu, "")
    .replace(/[\s-]+/g, "-");
  return /^\d/.test(id) ? `id-${id}` : id;
}

const rules: Record<SlugRule, { slug(text: string): string; separator: string; firstRepeat: number }> = {
  github: { slug: github, separator: "-", firstRepeat: 1 },
  mintlify: { slug: mintlify, separator: "-", firstRepeat: 2 },
  python: { slug: python, separator: "_", firstRepeat: 1 },
  vitepress: { slug: vitepress, separator: "-", firstRepeat: 1 },
  gitbook: { slug: gitbook, separator: "-", firstRepeat: 1 },
};

/** Makes ids of headings in the order of a page: a repeated one gets a number. */
export function createSlugger(rule: SlugRule): { next(text: string): string; taken(id: string): void } {
  const { slug, separator, firstRepeat } = rules[rule];
  const seen = new Map<string, number>();
  function next(text: string): string {
    const base = slug(text);
    let id = base;
    let count = seen.get(base);
    if (count !== undefined) {
      do {
        id = `${base}${separator}${count}`;
        count++;
      } while (seen.has(id));
      seen.set(base, count);
    }
    seen.set(id, firstRepeat);
    return id;
  }
  return { next, taken: (id) => void (seen.has(id) || seen.set(id, firstRepeat)) };
}
