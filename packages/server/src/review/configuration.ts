import { parse as parseToml } from "smol-toml";
import { isMap, isScalar, isSeq, type Node, type Pair, parseAllDocuments, visit } from "yaml";
import { kindOf } from "./policy.ts";

/** Keys of a configuration whose values are navigation or redirects. */
const navigationKeys =
  /^(?:(?:nav|sidebar).*|items|links|pages|tabs|groups|anchors|dropdowns|menus?|redirects|redirect_maps)$/i;
/** What a new file of navigation may say around its data. */
const moduleAround =
  /^∅$|^(?:importtype\{?\w+\}?from["'][\w@/.-]+["'];?)?(?:const(\w+)(?::\w+)?=∅(?:satisfies\w+)?;?)?(?:module\.exports=|exportdefault)(?:∅(?:satisfies\w+)?|\1);?$/;

/**
 * Whether a change of a site's configuration stays within its navigation and redirects and adds nothing but data there:
 * all the rest must be the same before and after.
 */
export function onlyNavigationChanges(path: string, before: string | null, after: string | null): boolean {
  const isWhole = kindOf(path) === "navigation";
  if (after === null) return isWhole;
  const now = restOf(path, after, isWhole);
  if (now === null) return false;
  if (before === null) return isWhole && (now === "" || moduleAround.test(now));
  return now === restOf(path, before, isWhole);
}

/** Every text that a configuration holds, as its reader gets it. */
export function textsOf(path: string, text: string): readonly string[] {
  if (isYaml(path)) {
    const texts: string[] = [];
    for (const document of parseAllDocuments(text, { logLevel: "silent" })) {
      if ("contents" in document) visit(document, { Scalar: (_, { value }) => void texts.push(String(value)) });
    }
    return texts;
  }
  if (path.endsWith("_redirects")) return text.split(/\s+/);
  const strings = tokensOf(text).filter((one) => /^["'`]/.test(one));
  return path.endsWith(".toml") ? [text] : strings.map(textOf);
}

function restOf(path: string, text: string, isWhole: boolean): string | null {
  if (path.endsWith("_redirects")) return "";
  if (isYaml(path)) return yamlRest(text, isWhole);
  return path.endsWith(".toml") ? tomlRest(text, isWhole) : sourceRest(text, isWhole);
}

function isYaml(path: string): boolean {
  return /\.(?:ya?ml|pages)$/i.test(path);
}

function yamlRest(text: string, isWhole: boolean): string | null {
  const documents = parseAllDocuments(text, { logLevel: "silent" });
  if (!Array.isArray(documents)) return "";
  for (const document of documents) {
    if (document.errors.length > 0) return null;
    if (isWhole && isYamlData(document.contents)) document.contents = null;
    visit(document, {
      Node: (_, node) => void Object.assign(node, { comment: null, commentBefore: null, spaceBefore: false }),
      Pair: (_, pair) => (isNavigationPair(pair) ? visit.REMOVE : undefined),
    });
    Object.assign(document, { comment: null, commentBefore: null });
  }
  return documents
    .map(String)
    .join("---\n")
    .replace(/^null\n$/, "");
}

function isNavigationPair({ key, value }: Pair): boolean {
  return isScalar(key) && navigationKeys.test(String(key.value)) && isYamlData(value as Node | null);
}

/** Neither tags, which may call a constructor, nor what stands elsewhere. */
function isYamlData(node: Node | null): boolean {
  if (node === null) return true;
  if (isScalar(node)) return node.tag === undefined && node.anchor === undefined;
  if (!isMap(node) && !isSeq(node)) return false;
  if (node.tag !== undefined || node.anchor !== undefined) return false;
  return node.items.every((item) =>
    isMap(node)
      ? isYamlData((item as Pair).key as Node) && isYamlData((item as Pair).value as Node | null)
      : isYamlData(item as Node),
  );
}

function tomlRest(text: string, isWhole: boolean): string | null {
  try {
    const value = parseToml(text);
    return isWhole ? "" : JSON.stringify(value, (key, inner) => (navigationKeys.test(key) ? undefined : inner));
  } catch {
    return null;
  }
}

const tokenPattern =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|module\.exports|[\w$]+|\s+|[\s\S]/g;

function tokensOf(text: string): readonly string[] {
  return (text.match(tokenPattern) ?? []).filter((one) => !/^\s/.test(one));
}

function textOf(token: string): string {
  try {
    return String(
      JSON.parse(
        `"${token
          .slice(1, -1)
          .replaceAll(/\\'/g, "'")
          .replaceAll(/(?<!\\)"/g, '\\"')}"`,
      ),
    );
  } catch {
    return token.slice(1, -1);
  }
}

const data = /^(?:"[\s\S]*"|'[\s\S]*'|`(?:(?!\$\{)[\s\S])*`|\d[\w]*|true|false|null|undefined|[-,:.]|\/[/*][\s\S]*)$/;

interface Bracket {
  /** Where its tokens begin in what is kept. */
  from: number;
  name: string;
  isData: boolean;
}

/** JSON, JavaScript or TypeScript, with each list of navigation that is nothing but data taken out. */
function sourceRest(text: string, isWhole: boolean): string | null {
  const kept: string[] = [];
  const open: Bracket[] = [];
  const tokens = tokensOf(text);
  for (const [index, token] of tokens.entries()) {
    if (/^[[{(]$/.test(token)) {
      open.push({
        from: kept.length,
        name: nameBefore(tokens, index) ?? open.at(-1)?.name ?? "",
        isData: token !== "(",
      });
      kept.push(token);
      continue;
    }
    const bracket = open.at(-1);
    if (!/^[\]})]$/.test(token)) {
      const isKey = tokens[index + 1] === ":" && /^[\w$]+$/.test(token);
      if (bracket && !isKey && !data.test(token)) bracket.isData = false;
      if (token !== ",") kept.push(token);
      continue;
    }
    open.pop();
    if (!bracket) return null;
    const outer = open.at(-1);
    if (bracket.isData && (isWhole || navigationKeys.test(bracket.name))) {
      kept.length = bracket.from;
      // An entry that came or went leaves no trace; where the value is assigned, its place stays.
      if (kept.at(-1) === ":" && outer) kept.length -= 2;
      else if (!outer || !/^[[{]$/.test(kept.at(-1) ?? "")) kept.push("∅");
    } else {
      if (outer && !bracket.isData) outer.isData = false;
      kept.push(token);
    }
  }
  return open.length === 0 ? kept.join("") : null;
}

/** The name that a value is given: of a key, a variable, or the function that returns it. */
function nameBefore(tokens: readonly string[], index: number): string | null {
  let at = index - 1;
  if (/^(?:[[,]|undefined)$/.test(tokens[at] ?? "undefined")) return null;
  while (at >= 0 && /^(?:[(){:=>]|return|async|as|const)$/.test(tokens[at] ?? "")) at -= 1;
  return (tokens[at] ?? "").replaceAll(/^["'`]|["'`]$/g, "");
}
