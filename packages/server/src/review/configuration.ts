import { parse as parseToml } from "smol-toml";
import { isAlias, isScalar, parseAllDocuments, visit } from "yaml";
import { kindOf } from "./policy.ts";

/** Keys of a configuration whose values are navigation or redirects. */
const navigationKeys =
  /^(?:(?:nav|sidebar).*|items|links|pages|tabs|groups|anchors|dropdowns|menus?|redirects|redirect_maps)$/i;
/** Code that a new navigation file may have around its data. */
const moduleAround =
  /^∅$|^(?:importtype\{?\w+\}?from["'][\w@/.-]+["'];?)?(?:const(\w+)(?::\w+)?=∅(?:satisfies\w+)?;?)?(?:module\.exports=|exportdefault)(?:∅(?:satisfies\w+)?|\1);?$/;

/**
 * Whether a change to a site's configuration touches only navigation and redirects, and adds only data there.
 * Everything else must be equal before and after.
 */
export function onlyNavigationChanges(path: string, before: string | null, after: string | null): boolean {
  const isWhole = kindOf(path) === "navigation";
  if (after === null) return isWhole;
  const now = configurationOf(path, after)?.rest;
  if (now === undefined) return false;
  if (before === null) return isWhole && (now === "" || moduleAround.test(now));
  return now === configurationOf(path, before)?.rest;
}

/**
 * `rest`: the configuration without navigation and redirects; `texts`: all strings in it. Null if it cannot be parsed.
 */
export function configurationOf(path: string, text: string): { rest: string; texts: readonly string[] } | null {
  const isWhole = kindOf(path) === "navigation";
  try {
    if (path.endsWith("_redirects")) return { rest: "", texts: text.split(/\s+/) };
    if (path.endsWith(".toml")) return fromData(parseToml(text), isWhole);
    if (path.endsWith(".json")) return fromData(JSON.parse(text), isWhole);
    return /\.(?:ya?ml|pages)$/i.test(path) ? fromYaml(text, isWhole) : fromSource(text, isWhole);
  } catch {
    return null;
  }
}

function fromData(data: unknown, isWhole: boolean) {
  const texts: string[] = [];
  JSON.stringify(data, (key, value) => {
    texts.push(key, ...(typeof value === "string" ? [value] : []));
    return value;
  });
  const rest = JSON.stringify(data, (key, value) => (navigationKeys.test(key) ? undefined : value));
  return { rest: isWhole ? "" : rest, texts };
}

/** YAML tags can call constructors, and anchors refer to other parts of the file. Neither may change. */
function fromYaml(text: string, isWhole: boolean) {
  const documents = [parseAllDocuments(text, { logLevel: "silent" })].flat();
  const odd: string[] = [];
  for (const document of documents) {
    if (document.errors.length > 0) throw document.errors[0];
    visit(document, {
      Node(_, node) {
        const anchor = isAlias(node) ? node.source : node.anchor;
        if (node.tag || anchor) odd.push(`${node.tag} ${anchor} ${isScalar(node) ? node.value : ""}`);
      },
    });
  }
  const values: unknown[] = documents.map((document) => document.toJS());
  const { rest, texts } = fromData(values, isWhole);
  return { rest: odd.length === 0 ? rest : `${rest} ${odd.join("\n")}`, texts };
}

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|module\.exports|[\w$]+|[^\s]/g;
const data = /^(?:["'][\s\S]*|`(?:(?!\$\{)[\s\S])*`|\d\w*|true|false|null|undefined|[-,:.]|\/[/*][\s\S]*)$/;

/** JavaScript or TypeScript, with every navigation list that is pure data removed. */
function fromSource(text: string, isWhole: boolean) {
  const kept: string[] = [];
  const open: { from: number; name: string; isData: boolean }[] = [];
  const tokens = text.match(token) ?? [];
  for (const [index, part] of tokens.entries()) {
    const bracket = open.at(-1);
    if (/^[[{(]$/.test(part)) {
      const name = nameBefore(tokens, index) ?? bracket?.name ?? "";
      open.push({ from: kept.length, name, isData: part !== "(" });
    } else if (/^[\]})]$/.test(part)) {
      open.pop();
      if (!bracket) throw new Error("a bracket too many");
      const outer = open.at(-1);
      if (bracket.isData && (isWhole || navigationKeys.test(bracket.name))) {
        kept.length = bracket.from;
        // An added or removed entry leaves no trace. An assigned value leaves its place.
        if (kept.at(-1) === ":" && outer) kept.length -= 2;
        else if (!outer || !/^[[{]$/.test(kept.at(-1) ?? "")) kept.push("∅");
        continue;
      }
      if (outer && !bracket.isData) outer.isData = false;
    } else {
      const isKey = tokens[index + 1] === ":" && /^[\w$]+$/.test(part);
      if (bracket && !isKey && !data.test(part)) bracket.isData = false;
    }
    if (part !== ",") kept.push(part);
  }
  if (open.length > 0) throw new Error("a bracket too few");
  const texts = tokens.filter((part) => /^["'`]/.test(part)).map((part) => part.slice(1, -1));
  return { rest: kept.join(""), texts };
}

/** The name of a value: its key, its variable, or the function that returns it. */
function nameBefore(tokens: readonly string[], index: number): string | null {
  let at = index - 1;
  if (at < 0 || /^[[,]$/.test(tokens[at] ?? "")) return null;
  const declared = tokens[at] === "=" ? tokens.slice(Math.max(0, at - 20), at).lastIndexOf("const") : -1;
  if (declared >= 0) return tokens[Math.max(0, at - 20) + declared + 1] ?? null;
  while (at >= 0 && /^(?:[(){:=>]|return|async|as|const)$/.test(tokens[at] ?? "")) at -= 1;
  return (tokens[at] ?? "").replaceAll(/^["'`]|["'`]$/g, "");
}
