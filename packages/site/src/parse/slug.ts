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

/** GitBook keeps dots and spells out the ampersand. Its ids do not start with a digit. */
function gitbook(text: string): string {
  const id = text
    .toLowerCase()
    .replace(/&/g, " and ")
    .trim()
    .replace(/[^\p{L}\p{N}\s._-]/gu, "")
    .replace(/[\s-]+/g, "-");
  return /^\d/.test(id) ? `id-${id}` : id;
}

const docsifyEntities: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "39" };

/** Docsify 4 creates ids from HTML, so entity names stay, and non-ASCII letters are unchanged. */
function docsify(text: string): string {
  return text
    .trim()
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replace(/[&<>"']/g, (sign) => docsifyEntities[sign] ?? "")
    .replace(/[\u2000-\u206F\u2E00-\u2E7F\\'!"#$%&()*+,./:;<=>?@[\]^`{|}~]/g, "")
    .replace(/\s/g, "-")
    .replace(/-+/g, "-")
    .replace(/^(\d)/, "_$1");
}

/** Docsify counts only equal texts, so two headings may have the same id. */
function docsifySlugger(): Slugger {
  const seen = new Map<string, number>();
  return {
    next(text) {
      const id = docsify(text);
      const count = seen.get(id) ?? 0;
      seen.set(id, count + 1);
      return count === 0 ? id : `${id}-${count}`;
    },
    taken: (id) => void seen.set(id, (seen.get(id) ?? 0) + 1),
  };
}

/** A contraction or possessive: `what-s` becomes `whats`. */
const contraction = /([a-zA-Z\d]+)-([ts])(-|$)/g;

function joinWords(text: string, others: RegExp): string {
  return text.replace(others, "-").replace(contraction, "$1$2$3").replace(/-{2,}/g, "-").replace(/^-|-$/g, "");
}

function percentEncoded(text: string): string {
  // A lone surrogate cannot be encoded.
  return text.isWellFormed() ? encodeURIComponent(text) : encodeURIComponent(text.toWellFormed());
}

/** Mintlify's form of a heading before repeats are counted: percent-encoded, words joined. */
function mintlifyWord(text: string): string {
  if (singleSpaced.test(text)) return text.toLowerCase().replaceAll(" ", "-").replace(contraction, "$1$2$3");
  return joinWords(percentEncoded(text.toLowerCase().trim().replace(/\s+/g, "-")), /[^a-zA-Z\d%_]+/g);
}

const emoji =
  /\p{Emoji_Modifier}|\p{Emoji_Modifier_Base}|\p{Emoji_Presentation}|\p{Extended_Pictographic}|[\u200D\uFE0E\uFE0F]/gu;

/** The id in the page: decoded, without quotes, brackets and emoji. */
function mintlifyId(slug: string): string {
  let id = slug;
  try {
    id = decodeURIComponent(slug);
  } catch {
    return slug;
  }
  return /^[\w-]*$/.test(id) ? id : id.replace(/[?,;:!'"()[\]{}]/g, "").replace(emoji, "");
}

/** Ids that Mintlify's components create from titles and names: plain letters, words joined. */
export function componentId(title: string): string {
  const plain = title
    .replaceAll("&", " and ")
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "");
  return joinWords(plain.toLowerCase(), /[^a-z\d]+/g);
}

/** `userId` and `HTTPCode` are two words each. */
export function parameterId(name: string, repeat: number): string {
  const words = `param-${name}${repeat > 0 ? `_${repeat}` : ""}`
    .replace(/([A-Z]{2,})(\d+)/g, "$1 $2")
    .replace(/([a-z\d]+)([A-Z]{2,})/g, "$1 $2")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-rt-z\d]+)/g, "$1 $2");
  return componentId(words);
}

export interface Slugger {
  next(text: string): string;
  taken(id: string): void;
}

/** A repeated slug gets a numeric suffix. */
function countingSlugger(slug: (text: string) => string): Slugger {
  const seen = new Map<string, number>();
  return {
    next(text) {
      const base = slug(text);
      let id = base;
      let count = seen.get(base);
      if (count !== undefined) {
        do {
          id = `${base}-${count}`;
          count++;
        } while (seen.has(id));
        seen.set(base, count);
      }
      seen.set(id, 1);
      return id;
    },
    taken: (id) => void (seen.has(id) || seen.set(id, 1)),
  };
}

/** Increments an existing numeric suffix. No id is empty. */
function pythonSlugger(): Slugger {
  const seen = new Set<string>();
  // The last suffix of each slug. Without it, many equal headings would take quadratic time.
  const last = new Map<string, number>();
  return {
    next(text) {
      const first = python(text);
      let id = first;
      const counted = /^(.*)_(\d+)$/.exec(first);
      const base = counted?.[1] ?? first;
      let count = Math.max(last.get(base) ?? 0, Number(counted?.[2] ?? 0));
      while (id === "" || seen.has(id)) id = `${base}_${++count}`;
      if (id !== first) last.set(base, count);
      seen.add(id);
      return id;
    },
    taken: (id) => void seen.add(id),
  };
}

/** Counts repeats twice: in the encoded form, and in the page's form. */
function mintlifySlugger(): Slugger {
  const words = new Map<string, number>();
  const ids = new Map<string, number>();
  function unique(id: string): string {
    const count = ids.get(id) ?? 0;
    ids.set(id, count + 1);
    if (count === 0) return id;
    let number = count + 1;
    while (ids.has(`${id}-${number}`)) number++;
    ids.set(`${id}-${number}`, 1);
    return `${id}-${number}`;
  }
  return {
    next(text) {
      const word = mintlifyWord(text);
      if (word === "") return unique(word);
      const key = word.toLowerCase();
      const withoutNumbers = words.get(key.replace(/(?:-\d+)+$/, "")) ?? 0;
      const count = (words.get(key) ?? 0) + 1;
      words.set(key, count);
      return unique(mintlifyId(count >= 2 || withoutNumbers > 2 ? `${word}-${count}` : word));
    },
    taken: (id) => void ids.set(id, (ids.get(id) ?? 0) + 1),
  };
}

const sluggers: Record<SlugRule, () => Slugger> = {
  github: () => countingSlugger(github),
  astro: () => countingSlugger(github),
  mintlify: mintlifySlugger,
  python: pythonSlugger,
  vitepress: () => countingSlugger(vitepress),
  gitbook: () => countingSlugger(gitbook),
  docsify: docsifySlugger,
};

/** Creates heading ids in page order. A repeated one gets a numeric suffix. */
export function createSlugger(rule: SlugRule): Slugger {
  return sluggers[rule]();
}
