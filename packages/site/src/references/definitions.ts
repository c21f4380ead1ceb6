/** What the lines of a source file show about a name. */
export interface Evidence {
  /** The project defines it: a declaration, a member of a type, a method, a key of a schema, a whole string. */
  isDefined: boolean;
  /** It is a key of an object or an argument. Alone, this may be an option of somebody else's function. */
  isPassed: boolean;
  /** It is read from an object: `options.name`. */
  isRead: boolean;
}

const comment = /^\s*(?:\/\/|\/\*|\*|<!--|#(?![[!]|define|if)|#!|"""|--\s)/;
const importing =
  /^\s*(?:import|from|use|using|require|include|#include|declare module|(?:pub )?extern crate)\s|\brequire\(|\}\s*from\s+["']/;
const constant = /^[A-Z][A-Z\d]*_[A-Z\d_]*$/;
// Data files pass values to whatever program reads them, unless they are schemas or the values of a Helm chart.
const dataFile = /\.(?:json[5c]?|ya?ml|toml|ini|properties|env|nix|conf|prisma)$/i;
const schemaFile =
  /(?:schema|openapi|swagger|crd)[^/]*\.(?:json|ya?ml)$|(?:^|\/)values\.ya?ml$|\.(?:proto|graphqls?|xsd)$/i;

/** Reads the lines with a name. Comments and imports show nothing. */
export function readEvidence(name: string, path: string, text: string): Evidence {
  const evidence: Evidence = { isDefined: false, isPassed: false, isRead: false };
  const isSchema = schemaFile.test(path);
  const isData = dataFile.test(path) && !isSchema;
  let places = 0;
  for (let at = text.indexOf(name); at !== -1 && !evidence.isDefined; at = text.indexOf(name, at + name.length)) {
    const start = text.lastIndexOf("\n", at) + 1;
    const newline = text.indexOf("\n", at);
    const line = text.slice(start, newline === -1 ? undefined : newline).trimEnd();
    const before = line.slice(0, at - start);
    const after = line.slice(at - start + name.length);
    if (/[\w$]$/.test(before) || /^[\w$]/.test(after) || comment.test(line) || /\s(?:\/\/|#)\s/.test(before)) continue;
    if (isData) evidence.isPassed = true;
    // A tag of a struct in Go: `yaml:"name,omitempty"`.
    else if (/\w:"$/.test(before) && /^[,"]/.test(after)) evidence.isDefined = true;
    else if (name.startsWith("--")) evidence.isDefined = isOwnFlag(text.slice(Math.max(0, start - 100), at), after);
    else if (name.includes("-")) evidence.isDefined = !importing.test(line) && isKeyOrCase(before, after);
    else if (isSchema || (constant.test(name) && !importing.test(line) && isConstant(before, after)))
      evidence.isDefined = true;
    else if (places++ < placesMax && isVariant(text.slice(Math.max(0, start - aroundMax), start), before, after))
      evidence.isDefined = true;
    else readPlace(name, path, before, after, line, evidence);
  }
  return evidence;
}

// A source may be hostile, so patterns see only this much around a name, and only so many of its places.
const aroundMax = 10_000;
const placesMax = 200;

const enumeration = /^[ \t]*(?:[\w()]+ )*enum (?:class )?\w[^\n{}]*\{?[ \t]*$/;

/** A line with nothing but a name, between the line that opens an enumeration and the end of its block. */
function isVariant(above: string, before: string, after: string): boolean {
  if (!/^[ \t]+$/.test(before) || !/^,?$/.test(after)) return false;
  const opened = above.lastIndexOf("enum ");
  if (opened === -1) return false;
  const line = above.slice(above.lastIndexOf("\n", opened) + 1, above.indexOf("\n", opened));
  return enumeration.test(line) && !new RegExp(`\\n[ \\t]{0,${before.length - 1}}\\}`).test(above.slice(opened));
}

/** What precedes and follows the first places of a name. */
function* around(name: string, text: string): Iterable<[before: string, after: string]> {
  let at = text.indexOf(name);
  for (let places = 0; at !== -1 && places < placesMax; at = text.indexOf(name, at + name.length)) {
    const end = at + name.length;
    if (/[\w$]/.test(text.charAt(at - 1)) || /[\w$]/.test(text.charAt(end))) continue;
    places++;
    yield [text.slice(Math.max(0, at - aroundMax), at), text.slice(end, end + aroundMax)];
  }
}

/** The package or module from which a file imports a name, or null. */
export function importedFrom(name: string, text: string): string | null {
  for (const [before, after] of around(name, text)) {
    const list = before.slice(1 + Math.max(...[...";\"'()"].map((end) => before.lastIndexOf(end))));
    const from = /\bimport\s/.test(list) && /^[^;"'()]*?\sfrom\s*["']([^"']+)["']/.exec(after);
    if (from) return from[1] as string;
    const statement = before.slice(Math.max(before.lastIndexOf("\nfrom "), before.lastIndexOf(" from "), 0));
    const module = /^\s*from\s+([\w.]+)\s+import\s+(?:\([^()]*|[^\n(]*)$/.exec(statement);
    if (module) return module[1] as string;
    if (/(?:^|\n)[ \t]*import\s+$/.test(before) && /^\s/.test(after)) return name;
  }
  return null;
}

/** Whether a file exports a name that it may only import: `export { Name } from "other"`, `from other import Name as Name`. */
export function passesOn(name: string, text: string): boolean {
  for (const [before, after] of around(name, text)) {
    if (/\bexport\s+(?:type\s+)?\{/.test(before.slice(before.lastIndexOf("}") + 1))) return true;
    if (after.startsWith(` as ${name}`) && !/[\w$]/.test(after.charAt(4 + name.length))) return true;
  }
  return false;
}

/** Where a program defines a flag, a word such as `option` precedes, a placeholder follows, or it is a key. */
function isOwnFlag(before: string, after: string): boolean {
  // `--name=value` is passed to another program.
  if (/^=(?![<[{A-Z])/.test(after)) return false;
  if (!/(?:(?:^|\n)\s*|["'`([{,|=<]|-\w,?\s+)$/.test(before)) return false;
  return (
    /option|argument|\barg\b|flag|param|switch/i.test(before) || /^[ =](?:<|\[|\{)|^["'`]?\s*:|^\s{2,}\w/.test(after)
  );
}

/** Whether a file defines a flag without its dashes: `flags.BoolVar(&quiet, "quiet", …)`. */
export function definesFlag(name: string, text: string): boolean {
  for (const [before, after] of around(name.toLowerCase(), text.toLowerCase())) {
    if (!/["'`]$/.test(before) || !/^["'`]/.test(after)) continue;
    if (/flag|option|\barg|var|param/.test(before.slice(before.lastIndexOf("\n") + 1))) return true;
  }
  return false;
}

/** `env.NAME`, `"NAME"`, `NAME = …`, `NAME,`: a use such as `call(NAME)` may be of somebody else's constant. */
function isConstant(before: string, after: string): boolean {
  return (
    (isWhole(before, after) && !/\breturn\s+.$/.test(before)) ||
    /env\w*(?:\.|::|!?\(["']|\[["']?)$|\$\{?$/i.test(before.slice(-100)) ||
    (/^\s*$/.test(before) && /^\s*(?:[:,]|=(?!=)|$)/.test(after)) ||
    /(?:^|\s)(?:const|let|var|static|final|define|val)\s(?:.*\s)?$/.test(before)
  );
}

/** A key, or a string that the code tests against. Other strings may be names of packages, programs and folders. */
function isKeyOrCase(before: string, after: string): boolean {
  if (/^["']?\s*[:=](?!=)/.test(after) && /(?:^|[\s{(,])["']?$/.test(before)) return true;
  const isTested = /(?:\bcase\s+|[=!]=\s*|\|\s*|\w\()["'`]$|flag|option|\barg|Var|param/i.test(before);
  return (isTested && isWhole(before, after)) || /^-?-$/.test(before);
}

/** A whole string. In a sentence within another string, backquotes only mark a name. */
function isWhole(before: string, after: string): boolean {
  const quote = before.at(-1) ?? "";
  return (
    /["'`]/.test(quote) && after.startsWith(quote) && (quote !== "`" || !/^[^"]*"(?:[^"]*"[^"]*")*[^"]*$/.test(before))
  );
}

const declaration =
  /(?:^|[\s(;])(?:def|class|func|fn|function\*?|interface|type|enum|struct|trait|union|module|namespace|record|protocol|macro_rules!|get|set|static|async|property|field|define|alias|object|defp?|defmodule)\s+[*&]?$|^func\s+\([^)]*\)\s*$/;
const exported = /^(?:export|pub)\b[^=:(<."']*$/;
const variable = /(?:^|\s)(?:const|let|var|val|final|auto|mut)\s+$/;
const visible = /(?:^|\s)(?:export|pub|public|protected|static|extern|declare)\b/;
const hidden = /(?:^|\s)private\s|#$/;
const ofType =
  /(?:^|\s)(?!(?:return|new|await|throw|yield|else|typeof|in|of|case|not|and|or)\s)[\w<>[\],.?*&]+\s+[*&]?$/;
// `name: z.string(),` and `name: { type: "string" },`: a validator describes the key.
const ofSchema = /^["']?\s*:\s*(?:(?:z|v|yup|[jJ]oi|Type|Schema)(?:\.\w|$)|\{\s*type:)/;

/** Whether a file declares a name: as a function, a class, a type and the like. */
export function declares(name: string, text: string): boolean {
  for (const [before] of around(name, text)) {
    const line = before.slice(before.lastIndexOf("\n") + 1);
    if ((declaration.test(line) || exported.test(line)) && !comment.test(line) && !hidden.test(line)) return true;
  }
  return false;
}

/** A name in a program. Variables in a function, private members and arguments are not an interface. */
function readPlace(name: string, path: string, before: string, after: string, line: string, evidence: Evidence): void {
  if (hidden.test(before) || importing.test(line)) return;
  const isIndented = /^\s/.test(line);
  // A parameter with a type. Python's callers name it.
  const isPythons = /\.pyi?$/.test(path) && /^:\s+\w/.test(after);
  // `"name": app.nameFunction,`
  const isRegistered = /["']$/.test(before) && after.toLowerCase().includes(name.toLowerCase());
  const isFirst = /^\s*(?:(?:readonly|async|static|public|protected|abstract|override|declare|get|set)\s+)*["']?$/.test(
    before,
  );
  // One level deep: a member of a class, not a statement in a function.
  const isMember = /^(?: {0,4}|\t)\S/.test(line);
  if (variable.test(before)) evidence.isDefined = !isIndented || visible.test(before);
  else if (declaration.test(before) || exported.test(before) || /^\s+extends\b/.test(after)) evidence.isDefined = true;
  else if (isWhole(before, after) && !/^.\s*:/.test(after) && !/\breturn\s+.$/.test(before)) evidence.isDefined = true;
  else if (/^["']?\?\s*:/.test(after)) evidence.isDefined = isFirst || /[{;]\s*$/.test(before);
  else if (/^["']?\s*:(?![:=])/.test(after)) {
    if (isFirst && (!/[,{[(]$/.test(line) || ofSchema.test(after) || isPythons || isRegistered))
      evidence.isDefined = true;
    else evidence.isPassed = true;
  } else if (/^\s*=(?![=>])/.test(after)) {
    if ((isFirst && isMember && !/[,(]$/.test(line)) || /(?:\.prototype|\bexports)\.$/.test(before))
      evidence.isDefined = true;
    else if (/[.>]$/.test(before)) evidence.isRead = true;
    else evidence.isPassed = true;
  } else if (/^\s*(?:<[^()]*>)?\(/.test(after) && !/[.>:]$/.test(before)) {
    const isBody = /^[^()]*\((?:[^()]|\([^()]*\))*\)\s*(?:\{$|(?:->|:)\s*\S)/.test(after);
    if (isFirst ? isBody || (isMember && /\($/.test(line)) : /\{$/.test(line) && ofType.test(before))
      evidence.isDefined = true;
  } else if (/^[^{}]*\}\s*(?:=(?!=)|:|\)\s*(?:=>|[{:]))/.test(after) && /\{[^{}:]*$/.test(before))
    evidence.isRead = true;
  else if (/^\s*;/.test(after) && ofType.test(before)) evidence.isDefined = true;
  else if (/^\s*$/.test(before) && /^\s+[\w*[\]]/.test(after) && /^[A-Z]/.test(line.trimStart()))
    evidence.isDefined = true;
  else if (/[.>]$/.test(before)) evidence.isRead = true;
}
