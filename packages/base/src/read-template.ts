/** Where forges look for a pull request template, in any case. */
const places = [
  ".github/pull_request_template.md",
  "pull_request_template.md",
  "docs/pull_request_template.md",
  ".gitlab/merge_request_templates/default.md",
  ".gitea/pull_request_template.md",
  ".forgejo/pull_request_template.md",
];
const bytesMax = 16_000;

interface Readable {
  list(): Promise<readonly { path: string }[]>;
  read(path: string): Promise<Buffer | null>;
}

/** The repository's pull request template, without comments for its author. Null if there is none. */
export async function readTemplate(tree: Readable): Promise<{ path: string; text: string } | null> {
  const paths = new Map((await tree.list()).map(({ path }) => [path.toLowerCase(), path]));
  for (const place of places) {
    const path = paths.get(place);
    const bytes = path === undefined ? null : await tree.read(path);
    const text = bytes === null ? "" : plainTemplate(bytes.subarray(0, bytesMax).toString());
    if (path !== undefined && text !== "") return { path, text };
  }
  return null;
}

function plainTemplate(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
