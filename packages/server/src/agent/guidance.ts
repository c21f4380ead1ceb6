import { matchesGlob } from "../lib/matches-glob.ts";
import type { Tree } from "../tree/tree.ts";

/**
 * Where repositories keep instructions for agents. Tools use different file names for the same text, so each text
 * counts once.
 */
const places = [
  "AGENTS.md",
  "CLAUDE.md",
  ".claude/CLAUDE.md",
  ".mintlify/AGENTS.md",
  ".github/copilot-instructions.md",
  ".cursorrules",
  ".cursor/rules/*",
  ".cursor/rules/**/*.mdc",
  ".emend/instructions.md",
];
/** These are part of every turn: of a long file, only the beginning is included, with a pointer to the rest. */
const charactersMax = 4_000;
/** Editor rules are many files, of which an editor picks some. */
const editorRuleCharactersMax = 800;
/** Files that the project's settings name are included up to this size. */
const styleGuideCharactersMax = 16_000;
const filesMax = 12;
const fileBytesMax = 64_000;

export interface Guidance {
  path: string;
  text: string;
}

/**
 * The repository's instructions for writing docs, the most general first: at its root, in the folders down to the docs,
 * then the files that the project's settings name.
 */
export async function readGuidance(
  base: Tree,
  { docsDir, styleGuides = [] }: { docsDir: string; styleGuides?: readonly string[] },
): Promise<readonly Guidance[]> {
  const paths = (await base.list()).map(({ path }) => path);
  const folders =
    docsDir === "" ? [] : docsDir.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
  const wanted = ["", ...folders].flatMap((folder) =>
    places.map((place) => (folder === "" ? place : `${folder}/${place}`)),
  );
  const found = wanted.flatMap((pattern) =>
    pattern.includes("*")
      ? paths.filter((path) => matchesGlob(pattern, path))
      : paths.includes(pattern)
        ? [pattern]
        : [],
  );
  const guidance: Guidance[] = [];
  const known = new Set<string>();
  for (const path of new Set([...styleGuides, ...found.slice(0, filesMax)])) {
    const text = await readGuide(base, path);
    // CLAUDE.md is often the same text.
    if (text === "" || known.has(text)) continue;
    known.add(text);
    const editorRule = path.includes(".cursor") ? editorRuleCharactersMax : charactersMax;
    guidance.push({
      path,
      text: beginning(text, path, styleGuides.includes(path) ? styleGuideCharactersMax : editorRule),
    });
  }
  return guidance;
}

function beginning(text: string, path: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.lastIndexOf("\n", max);
  const shown = text.slice(0, cut > max / 2 ? cut : max).toWellFormed();
  return `${shown}\n… ${text.length - shown.length} more characters: read_file ${path}`;
}

/** The guidance of a subfolder, for an edit of a file there. Null if it has none of its own. */
export async function guidanceNear(base: Tree, path: string, docsDir: string): Promise<Guidance | null> {
  const parts = path.split("/").slice(0, -1);
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const folder = parts.slice(0, depth).join("/");
    // Already part of the system prompt.
    if (docsDir === folder || docsDir.startsWith(`${folder}/`)) return null;
    for (const name of ["AGENTS.md", "CLAUDE.md"]) {
      const text = await readGuide(base, `${folder}/${name}`);
      if (text !== "") return { path: `${folder}/${name}`, text };
    }
  }
  return null;
}

async function readGuide(base: Tree, path: string): Promise<string> {
  const bytes = await base.read(path).catch(() => null);
  return bytes === null ? "" : bytes.subarray(0, fileBytesMax).toString().trim();
}
