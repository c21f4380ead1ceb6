import { matchesGlob } from "../lib/matches-glob.ts";
import type { Tree } from "../tree/tree.ts";

/** Where repositories keep what they tell agents, for this tool or that: the same rules, so each text counts once. */
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
const fileBytesMax = 16_000;
const allBytesMax = 48_000;
const filesMax = 12;

export interface Guidance {
  path: string;
  text: string;
}

/**
 * What the repository says about how its documentation is written, the most general first: at its top, in the folders
 * down to the documentation, then what the project's settings name.
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
  let left = allBytesMax;
  for (const path of new Set([...found.slice(0, filesMax), ...styleGuides])) {
    const text = await readGuide(base, path);
    // CLAUDE.md is often the same text, or one line that names AGENTS.md.
    if (text === "" || guidance.some((one) => one.text === text)) continue;
    guidance.push({ path, text: text.slice(0, left) });
    left -= text.length;
    if (left <= 0) break;
  }
  return guidance;
}

/** The guidance of a folder further down, for whoever edits a file there. Null: it has none of its own. */
export async function guidanceNear(base: Tree, path: string, docsDir: string): Promise<Guidance | null> {
  const parts = path.split("/").slice(0, -1);
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const folder = parts.slice(0, depth).join("/");
    // Told at the start already.
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
