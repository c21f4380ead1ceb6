import { matchesGlob } from "@emend/site";
import type { OverlayEntry } from "@emend/tree";
import type { Policy, Violation } from "./review.ts";

/** A page that people read; an asset that a page shows; a site's navigation or redirects; anything else. */
export type FileKind = "document" | "asset" | "navigation" | "configuration" | "other";

const documents = /\.(?:md|markdown|mdown|mkdn?|mdx|rst|adoc|asciidoc|asc)$|(?:^|\/)llms(?:-full)?\.txt$/;
const assets =
  /\.(?:png|jpe?g|gif|webp|avif|apng|bmp|ico|svg|mp4|m4v|webm|mov|ogv|mp3|m4a|ogg|wav|pdf|woff2?|ttf|otf|eot|vtt|srt)$/;
/** Files that contain only navigation or redirects, by names that builders give them. */
const navigation =
  /(?:^|\/)(?:_redirects|\.(?:pages|nav\.ya?ml)|_meta(?:\.global)?\.(?:[cm]?[jt]sx?|json|ya?ml)|meta\.json|_category_\.(?:json|ya?ml)|_?toc(?:tree)?\.ya?ml|sidebars?\.(?:[cm]?[jt]s|json))$/;
/** The same, by names that other programs use too: only where a site keeps its data. */
const siteNavigation =
  /^(?:(?:.*\/)?(?:_data|data|docs|website|site|documentation|\.vitepress|\.vuepress)\/(?:[\w.-]+\/)*)?(?:redirects?\.(?:json|ya?ml)|(?:[\w-]+[-_.])?(?:sidebars?|nav|navigation|menus?)(?:[-_.][\w-]+)?\.(?:[cm]?[jt]s|json|ya?ml|toml))$/;
/** Files that contain navigation or redirects together with other settings. */
const configurations =
  /(?:^|\/)(?:(?:docs|mint|vercel)\.json|(?:docusaurus|astro|next|rspress)\.config\.[cm]?[jt]s|\.(?:vitepress|vuepress)\/(?:[\w-]+\/)*[\w.-]+\.(?:[cm]?[jt]s|json)|mkdocs\.ya?ml|\.gitbook\.ya?ml|netlify\.toml|(?:hugo|config)\.(?:toml|ya?ml|json)|_config\.ya?ml)$/;

const forgeFiles = /^\.(?:git|github|gitlab.*|gitattributes|gitmodules|gitea|forgejo)$/;
const ciFiles =
  /^(?:jenkinsfile.*|\.?travis\.ya?ml|\.?appveyor\.ya?ml|\.?azure-pipelines.*|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|\.woodpecker.*|\.circleci|\.buildkite|\.teamcity|\.semaphore|\.cirrus\.ya?ml|\.ci|cloudbuild\.ya?ml|buildspec.*\.ya?ml|codefresh\.ya?ml|wercker\.ya?ml|dagger\.json|earthfile)$/;
/** Agent instruction files are Markdown, so they are recognized by name. */
const agentFiles =
  /^(?:(?:agents?|claude|gemini|warp|qwen|crush|replit|copilot-instructions)(?:\..+)?\.md|skill\.md|.+\.(?:instructions|prompt|chatmode|agent)\.md|\.(?:cursor|windsurf|claude|codex|emend|aider|clinerules|continue|roo|kilocode|kiro|trae|augment|qwen|junie|amazonq|goosehints|mcp\.json|opencode|factory|openhands|agents?|rules).*)$/;
/** The only hidden folders and files that belong to a site. */
const siteFolders = /^\.(?:gitbook|vitepress|vuepress|mintlify)$/;
const siteFiles = /^\.(?:pages|nav\.ya?ml|gitbook\.ya?ml)$/;

const templateFolder =
  /(?:^|\/)(?:_(?:templates|layouts|includes)|layouts\/_?(?:default|markup|partials|shortcodes))\//;

/** Paths first: nothing in a hidden folder is content, whatever its name says. */
export function kindOf(path: string): FileKind {
  const name = path.toLowerCase();
  const segments = name.split("/");
  const isHidden = (segment: string, index: number) =>
    segment.startsWith(".") && !(index === segments.length - 1 ? siteFiles : siteFolders).test(segment);
  // Builders run what is in these as templates, whatever its ending says.
  if (segments.some(isHidden) || templateFolder.test(name)) return "other";
  if (navigation.test(name) || siteNavigation.test(name)) return "navigation";
  if (configurations.test(name)) return "configuration";
  return documents.test(name) ? "document" : assets.test(name) ? "asset" : "other";
}

type Rules = Pick<Policy, "docsDir" | "allowedPaths">;

/** Whether the project allows jobs to change this file in any way, code included. */
export function isAllowed({ allowedPaths }: Pick<Policy, "allowedPaths">, path: string): boolean {
  return allowedPaths.some((pattern) => matchesGlob(pattern, path));
}

/** Why policy refuses a change to this path, or null. */
export function refusedBy(policy: Rules, path: string): string | null {
  if (isAllowed(policy, path)) return null;
  const kind = kindOf(path);
  if (!isInside(policy.docsDir.replace(/\/+$/, ""), path, kind)) {
    return `outside the documentation folder ${policy.docsDir}`;
  }
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path)) return "the name has invisible characters";
  const segments = path.split("/").map(plain);
  if (segments.some((segment) => forgeFiles.test(segment))) return "jobs don't change git and forge settings";
  if (segments.some((segment) => ciFiles.test(segment))) return "jobs don't change CI settings";
  if (segments.some((segment) => agentFiles.test(segment))) return "jobs don't change instructions for agents";
  if (segments.at(-1) === "codeowners") return "jobs don't change CODEOWNERS";
  return kind === "other" ? otherFile : null;
}

export const otherFile = "neither a document nor an asset; policy.allowedPaths can allow it";

/** A site's configuration may be in a folder above its pages. */
function isInside(docsDir: string, path: string, kind: FileKind): boolean {
  if (docsDir === "" || path.startsWith(`${docsDir}/`)) return true;
  const folder = path.slice(0, path.lastIndexOf("/") + 1).replace(/\.(?:vitepress|vuepress)\/.*$/, "");
  return (kind === "navigation" || kind === "configuration") && `${docsDir}/`.startsWith(folder);
}

/** Everything that policy forbids in a change, by file names and sizes. */
export function violationsOf(policy: Policy, entries: readonly OverlayEntry[]): readonly Violation[] {
  const violations: Violation[] = [];
  for (const { path } of entries) {
    const rule = refusedBy(policy, path);
    if (rule !== null) violations.push({ path, rule });
  }
  if (entries.length > policy.filesMax) {
    violations.push({ path: "", rule: `${entries.length} files changed, more than the ${policy.filesMax} allowed` });
  }
  const bytes = entries.reduce((sum, entry) => sum + (entry.content?.byteLength ?? 0), 0);
  if (bytes > policy.bytesMax) {
    violations.push({ path: "", rule: `${bytes} bytes written, more than the ${policy.bytesMax} allowed` });
  }
  return violations;
}

/** The name as a file system sees it that ignores case or drops trailing dots. */
export function plain(segment: string): string {
  return segment
    .normalize("NFKC")
    .replace(/[. ]+$/, "")
    .toLowerCase();
}
