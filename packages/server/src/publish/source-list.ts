import type { CitedSource } from "./publication.ts";
import { codeSpan } from "./quiet-text.ts";

const sourcesShownMax = 40;
const commitCharactersShown = 10;

/** The lines that a change is founded on, each at the commit that was read, with a link where its forge has a page. */
export function sourceList(sources: readonly CitedSource[]): string {
  if (sources.length === 0) return "";
  const lines = sources.slice(0, sourcesShownMax).map((source) => {
    const place = codeSpan(`${source.repository === null ? "" : `${source.repository}/`}${source.path}:${source.line}`);
    const url = blobUrl(source);
    const shown = url === null ? place : `[${place}](${url})`;
    return `- ${shown} at ${codeSpan(source.commit.slice(0, commitCharactersShown))}`;
  });
  const rest = sources.length - lines.length;
  return `### Sources\n\n${[...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n")}`;
}

/** Below a repository's address: where each forge shows a file at a commit. */
const blobFolders: Readonly<Record<string, string>> = {
  github: "blob",
  gitlab: "-/blob",
  gitea: "src/commit",
  bitbucket: "src",
};

function blobUrl({ forge, repositoryUrl, commit, path, line }: CitedSource): string | null {
  const folder = Object.hasOwn(blobFolders, forge) ? blobFolders[forge] : undefined;
  if (folder === undefined) return null;
  const segments = path.split("/").map((segment) => encodeURIComponent(segment).replace(/[()!*']/g, escaped));
  return `${repositoryUrl}/${folder}/${commit}/${segments.join("/")}#${forge === "bitbucket" ? "lines-" : "L"}${line}`;
}

/** What `encodeURIComponent` leaves alone and Markdown does not. */
function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
