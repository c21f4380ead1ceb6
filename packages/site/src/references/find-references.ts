import type { Dialect } from "../parse/dialect.ts";
import { decodePiece, indexLines, toByteString } from "../text/bytes.ts";
import {
  historyPage,
  historyTitle,
  isHistory,
  type PageCode,
  programs,
  readPageCode,
  type Sample,
  variablesOf,
} from "./page-code.ts";
import { saysGenerated } from "./read-source-file.ts";

export type ReferenceKind = "identifier" | "path" | "flag" | "env" | "config-key" | "file" | "route" | "package";

/** A code element that a page names. Lines and columns start at 1; offsets are bytes of the page. */
export interface CodeReference {
  kind: ReferenceKind;
  /** The text as written, without surrounding text: `createApp`, `app.listen`, `--watch`, `GET /v2/jobs/{id}`. */
  text: string;
  page: string;
  line: number;
  column: number;
  start: number;
  end: number;
  /** In a fenced block, not in inline code. */
  inSample: boolean;
  /** The page says that a program writes it: it is not edited by hand, nor by Emend. */
  inGenerated?: true;
  /** The package that a sample imports it from. It is known only if the package is the project's own. */
  from?: string;
}

/** Longer code is not a name. */
const textMax = 200;
const referencesMax = 20_000;

/** Every code element that a page names, in page order. False positives are harmless: the sources never know them. */
export function findCodeReferences(page: string, bytes: Uint8Array, dialect: Dialect): CodeReference[] {
  const text = toByteString(bytes);
  return text.includes("\0") ? [] : referencesIn(page, text, readPageCode(text, dialect));
}

function referencesIn(page: string, text: string, { spans, samples, history }: PageCode): CodeReference[] {
  if (historyPage.test(page) || historyTitle.test(text.slice(0, 500))) return [];
  const lines = indexLines(text);
  const found: CodeReference[] = [];
  const readers = variablesOf(samples);
  const add =
    (at: (offset: number) => number, inSample: boolean) =>
    (kind: ReferenceKind, name: string, offset: number, from?: string) => {
      if (found.length >= referencesMax || name.length < 2) return;
      if (kind === "identifier" && from === undefined && readers.has(name)) return;
      const start = at(offset);
      if (!inSample && isHistory(text, lines, start)) return;
      if (history.some(([from, to]) => start >= from && start < to)) return;
      found.push({
        kind,
        text: decodePiece(name),
        page,
        ...lines.place(start),
        start,
        end: start + name.length,
        inSample,
        ...(from === undefined ? {} : { from }),
      });
    };
  for (const span of spans)
    if (span.text.length <= textMax)
      readSpan(
        span.text,
        add((offset) => span.start + offset, false),
      );
  for (const sample of samples) readSample(sample, add(sample.at, true));
  const about = saysGenerated(text) ? { inGenerated: true as const } : {};
  return found.map((one) => ({ ...one, ...about })).sort((a, b) => a.start - b.start);
}

type Add = (kind: ReferenceKind, name: string, offset: number, from?: string) => void;

const identifier = /^[A-Za-z_$][\w$]*$/;
const call = /^([A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*)\s*(?:\(|<[\w, <>[\]]*>\(?|\[\]?)/;
const dotted = /^[A-Za-z_$][\w$-]*(?:(?:\.|::|#)[A-Za-z_$][\w$-]*)+$/;
const environment = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
const packageName = /^@[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*(?:\/[\w./-]+)?$/;
const request = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(?:https?:\/\/[^/\s]+)?(\/[^\s?#]*)/;
// Without a method, only the route of an API: others may be pages or folders of the reader.
const route = /^\/(?:api|v\d+)\/(?:[\w{}<>:*$.~-]+\/)*[\w{}<>:*$.~-]+\/?$/;
const filePath =
  /^(?:\.{1,2}\/)*(?:[\w@.+()[\]-]+\/)+[\w@.+()[\]-]*\.[A-Za-z]\w{0,9}$|^(?:\.{1,2}\/)*(?:[\w@.+-]+\/){2,}$/;
const fileEnding =
  /\.(?:[cm]?[jt]sx?|json[5c]?|ya?ml|toml|ini|md|mdx|py|rb|go|rs|java|kt|cs?|h|hpp|cpp|php|sh|css|scss|html?|vue|svelte|astro|xml|txt|lock|env|cfg|conf|sql|png|svg|jpe?g|gif|ico|webp|zip|gz|com|org|net|io|dev)$/i;
// Every program has such a file; on a page it is the reader's.
const readersFile = /^(?:src|app|lib)\/(?:index|main|App)\.\w+$/;
const kebab = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;
// The tokens of sources have no dots: `--web.port` is not the flag `--web`.
const flagWord = /(?<![\w-])--[A-Za-z][\w-]*(?![\w-]|\.\w)/g;

/** Inline code is parsed as one element: a name, a command, a request or a setting. */
function readSpan(text: string, add: Add): void {
  const asked = request.exec(text);
  if (asked !== null) {
    add("route", text.slice(0, asked[0].length), 0);
    return;
  }
  if (/^--?[A-Za-z]/.test(text)) {
    readFlags(text, 0, add);
    return;
  }
  const bare = /^\$\{?([A-Z][A-Z0-9_]+)\}?$/.exec(text);
  if (bare !== null) {
    if (environment.test(bare[1] as string)) add("env", bare[1] as string, text.indexOf(bare[1] as string));
    return;
  }
  const assigned = /^(?:export\s+)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=/.exec(text);
  if (assigned !== null) {
    add("env", assigned[1] as string, assigned[0].length - 1 - (assigned[1] as string).length);
    return;
  }
  if (/\s/.test(text)) readPhrase(text, add);
  else readWord(text, 0, add);
}

/** One word, such as `retry` or `Router`: too many things have it as their name, unless it is called or imported. */
function isPlainWord(word: string): boolean {
  return /^(?:[A-Z]?[a-z\d]*|[A-Z\d]+)$/.test(word);
}

// Every program has them.
const everyonesFlags = new Set(["--help", "--version"]);

function readWord(word: string, offset: number, add: Add): void {
  const quoted = /^(["'])(.+)\1$/.exec(word);
  if (quoted !== null) {
    readWord(quoted[2] as string, offset + 1, add);
    return;
  }
  // `_name` is private by convention, and `name_` is a prefix.
  if (/^_[a-z]|_$/i.test(word)) return;
  if (environment.test(word)) add("env", word, offset);
  else if (identifier.test(word)) {
    if (!isPlainWord(word)) add("identifier", word, offset);
  } else if (packageName.test(word)) add("package", word, offset);
  else if (filePath.test(word)) {
    // From the folder where the reader is.
    if (!word.startsWith(".") && !readersFile.test(word)) add("file", word, offset);
  } else if (route.test(word)) add("route", word, offset);
  else if (dotted.test(word)) {
    if (!fileEnding.test(word) && !beforePlatforms.test(word.slice(0, word.indexOf(".") + 1)))
      add("path", word, offset);
  } else if (kebab.test(word)) add("config-key", word, offset);
  else {
    const called = call.exec(word);
    const name = called?.[1] ?? "";
    if (name !== "") add(identifier.test(name) ? "identifier" : "path", name, offset);
    // `<PROJECT_ID>` is a placeholder.
    const tag = /^<\/?([A-Z][\w.]*[a-z][\w.]*)[\s/>]?/.exec(word);
    if (tag !== null) add("identifier", tag[1] as string, word.indexOf(tag[1] as string));
    const decorator = /^@([A-Za-z_]\w*(?:\.\w+)*)(?:\(|$)/.exec(word);
    if (decorator !== null) readWord(decorator[1] as string, offset + 1, add);
  }
}

/**
 * Several words: a command with flags, a call, `key: value`, or a component with properties. Anything else is no
 * reference.
 */
function readPhrase(text: string, add: Add): void {
  if (readCommand(text, 0, add)) return;
  const setting = /^["']?([A-Za-z_][\w.-]*)["']?\s*(?::|=)\s/.exec(text);
  if (setting !== null) {
    const key = setting[1] as string;
    if (key.includes(".")) add("path", key, text.indexOf(key));
    else if (!isPlainWord(key)) add("config-key", key, text.indexOf(key));
    return;
  }
  const tag = /^<([A-Z][\w.]*)\s/.exec(text);
  if (tag !== null) {
    add("identifier", tag[1] as string, 1);
    return;
  }
  const called = call.exec(text);
  if (called !== null) {
    const name = called[1] as string;
    add(identifier.test(name) ? "identifier" : "path", name, 0);
  }
}

/** Third-party programs: the project's sources do not define their flags. */
const foreignPrograms = new Set(
  `npm npx pnpm yarn bun bunx deno node corepack pip pip3 pipx uv uvx poetry python python3 pytest conda git gh docker podman
  docker-compose kubectl helm cargo rustup rustc go make cmake brew apt apt-get dnf yum apk snap choco winget scoop curl wget ssh scp
  rsync tar unzip cp mv rm ls cat grep sed awk find mkdir chmod chown echo export set cd source sudo env systemctl journalctl openssl
  terraform ansible aws gcloud az vercel netlify wrangler firebase heroku fly bundle gem rake ruby php composer mvn gradle java javac
  dotnet nuget swift tsc eslint prettier vite webpack rollup jest vitest playwright cypress psql mysql redis-cli sqlite3 nginx jq
  hugo jekyll mkdocs`.split(/\s+/),
);

const commandLine = /^(?:\$ |> |% |# )?((?:[A-Z][A-Z0-9_]*=\S*\s+)*)([a-z@./][\w@./-]*)(?=\s|$)/;

/** Whether the text is a command. Its flags and variables are references unless its program is a third party's. */
function readCommand(text: string, offset: number, add: Add): boolean {
  const found = commandLine.exec(text);
  const program = found?.[2]?.split("/").at(-1) ?? "";
  if (found === null || !/\s--?[A-Za-z]|^[\w@./-]+$/.test(text)) return false;
  for (const set of (found[1] ?? "").matchAll(/([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=/g)) {
    add("env", set[1] as string, offset + text.indexOf(found[1] as string) + set.index);
  }
  const runner =
    /^(?:npx|pnpx|bunx|uvx|pipx run|npm exec|pnpm dlx|yarn dlx|python3? -m)\s+(?:-y\s+|--yes\s+)?([\w@./-]+)/.exec(
      text.slice(found[0].length - program.length),
    );
  if (!foreignPrograms.has(program) || runner !== null) readFlags(text, offset, add);
  return true;
}

function readFlags(text: string, offset: number, add: Add): void {
  for (const flag of text.matchAll(flagWord))
    if (!everyonesFlags.has(flag[0])) add("flag", flag[0], offset + flag.index);
}

const shells = new Set(
  "bash sh shell zsh console shell-session shellsession terminal fish powershell ps1 cmd".split(" "),
);
const data = new Set(["json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "properties"]);

function readSample({ language, text }: Sample, add: Add): void {
  if (shells.has(language)) readShell(text, add);
  else if (data.has(language)) readKeys(text, add);
  else if (language === "dotenv" || language === "env") readVariables(text, add);
  else if (language === "http") {
    for (const line of text.matchAll(
      /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(?:https?:\/\/[^/\s]+)?\/[^\s?#]*/gm,
    )) {
      add("route", line[0], line.index);
    }
  } else if (programs.has(language)) readProgram(text, add);
}

function readVariables(text: string, add: Add): void {
  for (const set of text.matchAll(/^\s*(?:export\s+|set\s+)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=/gm)) {
    add("env", set[1] as string, set.index + set[0].length - 1 - (set[1] as string).length);
  }
}

function readShell(text: string, add: Add): void {
  readVariables(text, add);
  // A trailing backslash continues the line. Replacing both characters by spaces keeps the offsets.
  const joined = text.replace(/\\\r?\n/g, (found) => " ".repeat(found.length));
  let offset = 0;
  for (const line of joined.split("\n")) {
    const lead = line.length - line.trimStart().length;
    // Each command of a chain is parsed separately.
    let at = offset + lead;
    for (const part of line.trim().split(/(\s(?:&&|\|\||\||;)\s)/)) {
      if (!part.startsWith("#")) readCommand(part, at, add);
      at += part.length;
    }
    offset += line.length + 1;
  }
}

function readKeys(text: string, add: Add): void {
  for (const key of text.matchAll(
    /(?:^|[{,])[ \t]*(?:- )?(["']?)([A-Za-z_$][\w.$-]*)\1[ \t]*[:=](?=\s|$|["'[{\d])/gm,
  )) {
    const name = key[2] as string;
    if (isDistinct(name)) add("config-key", name, key.index + key[0].lastIndexOf(name));
  }
}

/** A name that is not a plain word: `snake_case`, `camelCase`, two-word `PascalCase`, `kebab-case`. */
function isDistinct(name: string): boolean {
  return /[a-z\d][A-Z]|[A-Za-z\d]_[A-Za-z\d]|[a-z]-[a-z]/.test(name);
}

const strings = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
const comments = /\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->|(?<![:\w"'])\/\/[^\n]*|(?<=^|\s)# [^\n]*/gm;
const imports =
  /\bimport\s+(?:type\s+)?([\w$*{},\s]{1,2000}?)\s*from\s*(["'])([^"'\n]+)\2|^[ \t]*from\s+([\w.]+)\s+import\s+(\([^()]*\)|[^\n(]+)|\bimport\s+(["'])([^"'\n]+)\6|\brequire\(\s*(["'])([^"'\n]+)\8\s*\)/gm;
// Declaration keywords, `name = …` at the start of a line (Python's keyword arguments have no spaces), parameters, and Go's methods
// with a body: a signature alone is the docs' of a method.
const declared =
  /\b(?:const|let|var|function\*?|class|def|fn|func|type|interface|enum|struct|for|as)\s+([A-Za-z_$][\w$]*)|^[ \t]*([A-Za-z_$][\w$]*)(?:\s*:[^=\n;,()]*)?\s+:?=(?!=)|[(,]\s*([A-Za-z_$][\w$]*)\s*(?=[,):])|^func \([^()\n]*\) (\w+)(?=.*\{$)/gm;

/** Names in a program: its imports, and multi-word names that it does not declare itself. */
function readProgram(text: string, add: Add): void {
  const blank = (found: string): string => found.replace(/[^\n]/g, " ");
  const readable = text.replace(comments, blank);
  const own = new Set<string>();
  const code = readable.replace(imports, (found, ...groups) => {
    for (const name of readImport(found, groups.at(-2) as number, groups as (string | undefined)[], add)) own.add(name);
    return blank(found);
  });
  const plain = code.replace(strings, blank);
  for (const found of plain.matchAll(declared)) own.add((found[1] ?? found[2] ?? found[3] ?? found[4]) as string);
  const hasImports = code !== readable;
  for (const found of plain.matchAll(/(?<![\w$])[A-Za-z_$][\w$]*/g)) {
    const name = found[0];
    if (!isDistinct(name) || name.startsWith("_") || environment.test(name)) continue;
    if (beforePlatforms.test(plain.slice(Math.max(0, found.index - 400), found.index))) continue;
    if (isFree(plain, found.index, found.index + name.length, hasImports)) continue;
    if (!own.has(name) || plain.charCodeAt(found.index - 1) === 46) add("identifier", name, found.index);
  }
}

/** A member of a global object, or an attribute of an HTML element, comes next. */
const beforePlatforms =
  /\b(?:window|document|console|navigator|location|history|process|event|e\.target|Math|JSON|Object|Array|Promise|Symbol|import)\.$|<[a-z][\w-]*\s[^<>]*$/;
const valuePlace = /(?:[=(:[?!]|\b(?:await|return|new))\s*$/;

/**
 * Whether a name stands for something that the reader has: a sample that imports would import it, and without imports
 * it is a variable or a function such as `jobId` in `id: jobId`.
 */
function isFree(program: string, start: number, end: number, hasImports: boolean): boolean {
  const next = /^\s*(\S?)/.exec(program.slice(end, end + 20))?.[1] ?? "";
  const isStatement =
    next === "(" &&
    /\n\s*$/.test(program.slice(Math.max(0, start - 200), start)) &&
    !/^.*\)\s*[:{-]/.test(program.slice(end, end + 300));
  if (!isStatement && !valuePlace.test(program.slice(Math.max(0, start - 20), start))) return false;
  if (next === ":" || next === "=") return false;
  return hasImports || /^[a-z]/.test(program.charAt(start));
}

/** The package and the names that a statement imports. Local aliases belong to the sample. */
function readImport(found: string, at: number, groups: readonly (string | undefined)[], add: Add): string[] {
  const from = groups[2] ?? groups[3] ?? groups[6] ?? groups[8] ?? "";
  const names = groups[0] ?? groups[4] ?? "";
  const start = found.indexOf(names);
  const imported = [...names.matchAll(/(?<![\w$])[A-Za-z_$][\w$]*/g)].filter(
    ([name]) => name !== "as" && name !== "type",
  );
  if (from !== "" && !/^[./#~]|^node:|^https?:|^@\/|[<{]/.test(from)) {
    add("package", from, at + found.lastIndexOf(from, groups[3] === undefined ? undefined : found.indexOf(" import")));
    for (const name of imported) {
      const isAlias = /\bas\s+$/.test(names.slice(0, name.index));
      // A default import may have any name.
      const isDefault = groups[0] !== undefined && !/[{]/.test(names.slice(0, name.index));
      if (!isAlias && !isDefault) add("identifier", name[0], at + start + name.index, from);
    }
  }
  return imported.map(([name]) => name);
}
