// An agent's words go to people, and to programs that render them or act on them: what is unseen, loads, pings people,
// closes issues or gives commands must not come along.
import { unseenCharacters } from "@emend/contract";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";

/** One line, without anything unseen, cut at a whole character. */
export function plainLine(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").replace(unseenCharacters, "").trim();
  return cut(line, charactersMax);
}

/** Lines as they are, without anything unseen, and with nothing that could pass for the marker of a pull request. */
export function plainText(text: string, charactersMax: number): string {
  const clean = text
    .replace(/\r\n?/g, "\n")
    .replace(unseenCharacters, "")
    .replace(/<!--/g, "<! --")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return cut(clean, charactersMax);
}

/**
 * Markdown that keeps its lists, emphasis and code but holds no HTML, no comment, no image that loads by itself, and
 * nothing that a forge acts on: mentions, references to issues and commands are shown as code.
 */
export function quietMarkdown(text: string, charactersMax: number): string {
  const plain = plainText(text, charactersMax)
    .replace(/<(?=[A-Za-z/!?])/g, "&lt;")
    .replace(/!(?=\[)/g, "!\\");
  let quiet = "";
  let at = 0;
  for (const [start, end] of codeIn(plain)) {
    quiet += shownAsCode(plain.slice(at, start)) + plain.slice(start, end).replaceAll(commandLine, " $&");
    at = end;
  }
  return quiet + shownAsCode(plain.slice(at));
}

/** A title, or the first line of a commit: read as plain text by whoever acts on it, so a blank keeps it from acting. */
export function quietLine(text: string, charactersMax: number): string {
  return plainLine(parted(plainLine(text, charactersMax)), charactersMax);
}

/** The text of a commit. */
export function quietText(text: string, charactersMax: number): string {
  return parted(plainText(text, charactersMax));
}

/*
 * What forges act on, as their own sources say (test/fixtures/forge-words.json lists the words, with their sources):
 * - mentions: `@name`, `@org/team`, Gitea's time `@2h` (Gitea 1fa6465, modules/references, 2026-08-22), and Bitbucket's
 *   `@{account}`
 * - references: `#1`, `!1`, `&1`, `GH-1`, `org/repo#1`, and an address or `ABC-1` behind a closing word. Closing words are
 *   close, fix, resolve and reopen in all their forms (GitHub's documentation; Gitea's app.example.ini), and implement
 *   (GitLab's issue closing pattern); Bitbucket takes more of them, each before a `#1` (its page on resolving issues);
 *   GitLab's `GL-1` and `[issue:1]`
 * - commands: a line that begins with a slash and a word (GitLab's quick actions, and bots on GitHub), a `#word` behind
 *   `ABC-1` (Jira's smart commits, which Bitbucket and GitHub pass on), a trailer of git's, and the marks that skip CI
 */
const mention = /(?<![\w`/.@])@(?:\{[^{}\s]+\}|(?=\w)[\w-]+(?:[./][\w-]+)*)/g;
const reference =
  /(?<![\w`&])(?:[\w.-]+(?:\/[\w.-]+)*)?[#!](?=\d)\d+\b|(?<![\w`])(?:&(?=\d)\d+\b(?!;)|G[HL]-\d+\b|\[issue:\d+\])/gi;
const closing =
  /\b((?:clos|fix|resolv|implement|reopen)(?:e|es|ed|s|d|ing)?\b:?\s+(?:issues?\s+)?)((?:https?:\/\/\S+)|[A-Z][A-Z0-9_]+-\d+)/gi;
const jiraKey = /\b[A-Z][A-Z0-9_]+-\d+\b/;
const smartCommand = /(?<![\w`&])#[a-z][\w-]*/gi;
const commandLine = /^[ \t]*\/(?=[a-z])/gim;
const command = /^((?:[ \t]*(?:[>*+-]|\d+[.)]))*[ \t]*)(\/[a-z][^\n]*)$/gim;
const trailer =
  /^[ \t]*((?:co-authored|signed-off|reviewed|acked|tested|reported|suggested|helped)-by|skip-checks|emend-job)[ \t]*:(?=[^\n]*$)/gim;
const skipped = /\[(skip ci|ci skip|no ci|skip actions|actions skip|skip \w+)\]|\*{3}NO_CI\*{3}/gi;

function shownAsCode(text: string): string {
  return withoutMarks(withSmartCommits(text, (one) => codeSpan(one)))
    .replaceAll(command, (_, lead: string, line: string) => lead + codeSpan(line))
    .replaceAll(closing, (_, words: string, what: string) => words + codeSpan(what))
    .split(/(`[^`\n]*`)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(mention, (one) => codeSpan(one)).replaceAll(reference, (one) => codeSpan(one)),
    )
    .join("");
}

function parted(text: string): string {
  return withoutMarks(withSmartCommits(text, (one) => `# ${one.slice(1)}`))
    .replaceAll(command, (_, lead: string, line: string) => `${lead}/ ${line.slice(1)}`)
    .replaceAll(closing, (_, words: string, what: string) => `${words.trimEnd()}: "${what}"`)
    .replaceAll(mention, (one) => `@ ${one.slice(1)}`)
    .replaceAll(reference, (one) => one.replace(/[#!&]|G[HL]-|issue:/i, "$& "));
}

/** Line by line: an expression that looks back for the key from each `#` takes long on a line made of them. */
function withSmartCommits(text: string, show: (command: string) => string): string {
  return text.replaceAll(/[^\n]+/g, (line) => (jiraKey.test(line) ? line.replaceAll(smartCommand, show) : line));
}

/** A pull request's text may become a commit's when it is merged. */
function withoutMarks(text: string): string {
  return text
    .replaceAll(trailer, (_, name: string) => `${name.replaceAll("-", " ")}:`)
    .replaceAll(skipped, (one) => one.replaceAll(/[[\]*]+/g, " ").trim());
}

const markdown = unified().use(remarkParse).use(remarkGfm).freeze();

/** Where Markdown shows code, in order. */
function codeIn(text: string): readonly (readonly [number, number])[] {
  interface Node {
    type: string;
    children?: readonly Node[];
    position?: { start: { offset?: number }; end: { offset?: number } };
  }
  const nodes: Node[] = [markdown.parse(text) as Node];
  for (const node of nodes) nodes.push(...(node.children ?? []));
  return nodes
    .filter(({ type }) => type === "code" || type === "inlineCode")
    .map(({ position }) => [position?.start.offset ?? 0, position?.end.offset ?? 0] as const)
    .sort(([a], [b]) => a - b);
}

/** A code span that holds its text whatever backticks are in it. */
export function codeSpan(text: string): string {
  const line = plainLine(text, 400);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 || line === "" ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** A fenced block that its text cannot close. */
export function codeBlock(text: string, charactersMax: number): string {
  const clean = plainText(text, charactersMax);
  const longest = Math.max(2, ...[...clean.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${clean.replaceAll(commandLine, " $&")}\n${fence}`;
}

function cut(text: string, charactersMax: number): string {
  const characters = [...text];
  return characters.length <= charactersMax ? text : `${characters.slice(0, charactersMax - 1).join("")}…`;
}
