import type { ForgeName } from "@emend/contract";

/** The path at which each forge shows a file at a commit. */
const blobFolders: Readonly<Record<Exclude<ForgeName, "local">, string>> = {
  github: "blob",
  gitlab: "-/blob",
  gitea: "src/commit",
  bitbucket: "src",
  "azure-devops": "",
};

/** The address of a line of a file. Null: the forge shows no files. */
export function blobUrl({
  forge,
  repositoryUrl,
  commit,
  path,
  line,
}: {
  forge: string;
  repositoryUrl: string;
  commit: string;
  path: string;
  line: number;
}): string | null {
  const folder = Object.hasOwn(blobFolders, forge) ? blobFolders[forge as keyof typeof blobFolders] : undefined;
  if (folder === undefined) return null;
  const segments = path.split("/").map((segment) => encodeURIComponent(segment).replace(/[()!*']/g, escaped));
  if (forge === "azure-devops") {
    const query = `path=/${segments.join("/")}&version=GC${commit}&line=${line}&lineEnd=${line + 1}&lineStartColumn=1&lineEndColumn=1`;
    return `${repositoryUrl}?${query}`;
  }
  return `${repositoryUrl}/${folder}/${commit}/${segments.join("/")}#${forge === "bitbucket" ? "lines-" : "L"}${line}`;
}

/** Characters that `encodeURIComponent` keeps but Markdown interprets. */
function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
