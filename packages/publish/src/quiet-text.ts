// Model output goes to people, and to programs that render it or act on it. It must not contain invisible characters,
// load resources, mention people, close issues or give commands.
import { unseenCharacters } from "@emend/contract";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";

/** One line without invisible characters, cut at a whole character. */
export function plainLine(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").replace(unseenCharacters, "").trim();
  return cut(line, charactersMax);
}

/** Keeps lines. Removes invisible characters and anything that looks like a pull request's marker. */
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
 * Markdown that keeps lists, emphasis and code, but has no HTML, no comments, no images that load automatically, and
 * nothing that a forge acts on: mentions, issue references and commands are shown as code.
 */
export function quietMarkdown(text: string, charactersMax: number): string {
  if (tooDeep.test(text)) return codeBlock(text, charactersMax);
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

/**
 * A title, or the first line of a commit. Forges read it as plain text, so a blank is inserted to stop them from acting
 * on it.
 */
export function quietLine(text: string, charactersMax: number): string {
  return plainLine(parted(plainLine(text, charactersMax)), charactersMax);
}

/** The body of a commit message. */
export function quietText(text: string, charactersMax: number): string {
  return parted(plainText(text, charactersMax));
}

/*
 * What forges act on, as their own sources say (test/forge-words.json lists the words, with their sources):
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

/**
 * Split into lines first: a regular expression that looks back for the key from each `#` is slow on a line full of
 * them.
 */
function withSmartCommits(text: string, show: (command: string) => string): string {
  return text.replaceAll(/[^\n]+/g, (line) => (jiraKey.test(line) ? line.replaceAll(smartCommand, show) : line));
}

/** When a pull request is merged, its text may become a commit message. */
function withoutMarks(text: string): string {
  return text
    .replaceAll(trailer, (_, name: string) => `${name.replaceAll("-", " ")}:`)
    .replaceAll(skipped, (one) => one.replaceAll(/[[\]*]+/g, " ").trim());
}

/** Lists and quotes in each other, on one line or by indentation. The parser's time and stack grow with the square of their depth. */
const tooDeep = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){33}|^[ \t]{129}/m;

const markdown = unified().use(remarkParse).use(remarkGfm).freeze();

/** A person's words: quoted where Markdown and the forge would show just these words, and as a block otherwise. */
export function quoted(text: string, charactersMax: number): string {
  const clean = plainText(text, charactersMax);
  const isPlain =
    quietMarkdown(text, charactersMax) === clean &&
    markdown
      .parse(clean)
      .children.every(
        (node) =>
          node.type === "paragraph" &&
          node.children.every(
            ({ type, position, ...rest }) =>
              type === "text" &&
              "value" in rest &&
              rest.value === clean.slice(position?.start.offset, position?.end.offset),
          ),
      );
  return isPlain ? clean.replaceAll(/^/gm, "> ").replaceAll(/ +$/gm, "") : codeBlock(text, charactersMax);
}

/** The ranges that Markdown shows as code, in order. */
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

/** A code span that is safe for any backticks in its text. */
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
