import type { Token } from "./tokens.ts";

/**
 * The closed vocabulary of instructions. Each phrase stands for one canonical word. Any other word must belong to a name, a
 * term or a quotation; otherwise the clause is refused. Phrases are written without articles.
 */
const verbPhrases: Readonly<Record<string, string>> = {
  replace: "replace|substitute",
  swap: "swap|swap out",
  change: "change|update|turn|convert|alter|modify|adjust",
  rename: "rename",
  retitle: "retitle|relabel",
  call: "call",
  rebrand: "rebrand",
  use: "use|say|says|uses",
  write: "write",
  move: "move|relocate|transfer|migrate|mv|shift",
  delete: "delete|remove|drop|kill|retire|scrap|erase|discard|take down|get rid of|do away with",
  fix: "fix|repair|correct|mend|resolve",
  add: "add|create|insert|set up",
  make: "make",
  list: "list|include|show",
  put: "put|place",
  order: "order|reorder|arrange|sort|rearrange",
  set: "set",
  unset: "unset|clear",
  give: "give",
  redirect: "redirect|redirects|redirecting|forward|send|point|repoint",
  take: "take",
  hide: "hide|unlist",
  split: "split|split out|extract|pull|pull out|break|break out",
  renew: "renew screenshots|retake screenshots|refresh screenshots",
  check: "check|search|search for|scan|look for|look through|go through|find|there are|there is",
};

/** They say what an instruction is about, or limit it. */
const topicPhrases: Readonly<Record<string, string>> = {
  page: "page|pages|file|files|doc|old page|outdated page|obsolete page|unused page|new page|brand-new page|empty page|blank page|new empty page|new blank page",
  folder: "folder|folders|directory|new folder",
  heading: "heading|subheading|section heading|header|section title",
  section: "section",
  group: "group|tab",
  navigation: "navigation|nav|sidebar|side bar|side navigation|side menu|menu|nav bar|navbar|navigation menu",
  entry: "entry|navigation entry",
  links:
    "link|links|hyperlink|hyperlinks|internal link|internal links|inbound links|references|cross-references|that links to|that link to|that points to|that point to|that refers to|pointing to",
  anchors: "anchor|anchors|#anchors",
  broken:
    "broken|dead|invalid|that are broken|that is broken|are broken|that lead nowhere|that point nowhere|that go nowhere|no longer work|no longer point at real heading",
  frontmatter: "front matter|front-matter|frontmatter|metadata",
  field: "field|front matter field|front-matter field|frontmatter field|metadata field",
  value: "value",
  text: "text|content|contents|body|markdown|block",
  term: "term|terms|word|words|phrase|name|label|string|wording|spelling|product|brand|typo|misspelling",
  mentions:
    "mentions of|mention of|mentions to|occurrences of|occurrence of|uses of|use of|instances of|instance of|references to|reference to",
  path: "path|address|url|location|old address|old path|old url|old place|old location|old link",
  code: "code|code samples|code sample|code blocks|code examples|code snippets|samples|snippets|examples",
  site: "docs|documentation|site|every page|all pages|all of pages|everywhere|throughout docs|throughout documentation",
  everything:
    "everything|all pages in|all of pages in|every page in|all files in|all pages under|all pages below|all pages of|all in",
  readers:
    "readers|visitors|people|users|anyone|who opens|who visits|who lands|whoever opens|anyone who lands|anyone who opens|people who open",
  it: "it|them|there|those|every one|all of them|them all|any you find|what you find|ones you find|you find|you can find",
  top: "first|at top|to top|at beginning|at start",
  also: "also|too|even|including|as well",
  only: "only|alone|instead",
  own: "own|separate",
  sorted: "alphabetically|by alphabet|descending|ascending|by alphabet descending|by alphabet ascending|by title",
  /** Without a meaning of their own. */
  "": "all|every|each|any|some|all of|listed|and|then|make sure|make sure that|ensure|ensure that|some of|from on|so that|who open|who visit|who go to|going to|opening|visiting",
};

/** Each gives its role to the name or term that follows. */
const rolePhrases: Readonly<Record<string, string>> = {
  to: "to|over to|to end of|into end of|so they say|so that they say|so it says|so that it says|so they read|so it reads",
  arrow: "->|→|=>",
  into: "into|inside|inside of",
  in: "in|on|within|across|throughout",
  under: "under|below|beneath",
  of: "of",
  for: "for",
  from: "from|out of|off",
  with: "with|by|containing|along with|together with|leaving|keeping",
  as: "as|as follows|like|in order|follows",
  before: "before|above|right before",
  after: "after|right after",
  insteadof: "instead of|in place of|rather than",
  favour: "in favour of|in favor of",
  called: "called|named|titled|entitled",
  saying: "saying|that says|that reads|reading",
  at: "at",
  become: "should be|must be|should read|should say|should become|must become|be",
};

/** Orders as what should be: a verb, the role of what follows, and how it is said. */
const wishes: readonly (readonly [verb: string, role: string, said: string])[] = [
  ["add", "", "i need|we need|i want|we want"],
  ["delete", "", "can go"],
  ["move", "in", "should be in|should be under"],
  ["move", "", "belongs|should live|should move"],
  ["put", "", "should come|should go|must come"],
  [
    "redirect",
    "to",
    "go to|goes to|lead to|leads to|should redirect to|should go to|must go to|should land on|must land on|should end up on|should point to",
  ],
  ...(["should be", "must be", "needs to be", "has to be", "can be", "be"] as const).flatMap((be) =>
    [
      ["move", "", "moved|relocated"],
      ["delete", "", "deleted|removed"],
      ["replace", "", "replaced"],
      ["list", "", "listed|shown|included"],
      ["hide", "", "hidden"],
      ["redirect", "", "redirected|sent"],
      ["rename", "", "renamed"],
      ["rename", "become", "called|named"],
    ].map(([verb = "", role = "", done = ""]) => [verb, role, said(be, done)] as const),
  ),
];

function said(be: string, done: string): string {
  return done
    .split("|")
    .map((participle) => `${be} ${participle}`)
    .join("|");
}

/** Fields by other names. */
const fieldPhrases: Readonly<Record<string, string>> = {
  sidebar_label: "sidebar label|navigation label|nav label|menu label",
  title: "page title",
  description: "page description|meta description",
};

/** `role`: of what follows a verb, as in "should land on". */
type Sense = { kind: "verb" | "topic" | "role" | "field"; word: string; role?: string };

const senses = new Map<string, Sense>();
const loose = new Map<string, string>();
for (const [kind, table] of [
  ["verb", verbPhrases],
  ["topic", topicPhrases],
  ["role", rolePhrases],
  ["field", fieldPhrases],
] as const) {
  for (const [word, said] of Object.entries(table)) {
    for (const phrase of said.split("|")) senses.set(phrase, { kind, word });
  }
}
for (const [word, role, ways] of wishes) {
  for (const phrase of ways.split("|")) senses.set(phrase, { kind: "verb", word, ...(role !== "" && { role }) });
}
const phraseWordsMax = 6;

/** The longest known phrase that starts here. */
export function senseAt(tokens: readonly Token[], at: number): (Sense & { length: number }) | null {
  for (let length = phraseWordsMax; length > 0; length -= 1) {
    const part = tokens.slice(at, at + length);
    if (part.length < length || !part.every((token) => token.kind === "word")) continue;
    const sense = senses.get(part.map((token) => ("lower" in token ? token.lower : "")).join(" "));
    if (sense) return { ...sense, length };
  }
  return null;
}

/** Synonyms that are too vague to act on. They only choose the example that a refusal shows. */
const looselySaid: Readonly<Record<string, string>> = {
  replace:
    "replaced|replacing|prefer|swapping|exchange|renamed|become|becomes|mentions|mention|typos|saying|->|→|is now|is now called",
  rename: "renaming|renames",
  move: "bring|live|lives|moving|moved",
  delete: "deprecate|archive|unpublish|nuke|purge|eliminate|trash|deleting|removing",
  redirect: "redirects|goes to|go to",
  order: "reorganize|reorganise|last|comes first",
  fix: "heal|fixing|clean up",
  set: "mark|tag",
  hide: "hiding",
};
for (const [word, said] of Object.entries(looselySaid)) {
  for (const phrase of said.split("|")) loose.set(phrase, word);
}

/** The canonical words that a text may mean, in its order. */
export function meant(text: string): ReadonlySet<string> {
  const said =
    text
      .replaceAll(/\S*\/\S*/g, " ")
      .toLowerCase()
      .match(/->|→|[\p{L}'-]+/gu)
      ?.slice(0, 100) ?? [];
  const found = said.flatMap((_, at) =>
    Array.from({ length: phraseWordsMax }, (_, less) => said.slice(at, at + phraseWordsMax - less).join(" "))
      .map((phrase) => loose.get(phrase) ?? senses.get(phrase)?.word ?? "")
      .filter((word) => word !== ""),
  );
  const [first = ""] = said;
  const typo = found.length > 0 ? [] : Object.keys(verbPhrases).filter((verb) => isTypo(first, verb));
  return new Set([...found, ...typo]);
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

export const articles = words("the a an this these our your my its their");
/** Removed before phrases are looked up. */
export const fillers = new Set([
  ...articles,
  ...words("please kindly thanks just simply now following whole entire still"),
]);

/** Fields that frameworks define. */
export const knownFields = words(
  "title sidebartitle sidebar_title sidebar_label sidebar_position description icon hidden draft slug tags keywords weight author authors updated layout toc noindex deprecated nav_order nav_exclude pagination_next pagination_prev",
);

/** Verbs of unknown instructions, or that retract one. A clause is split before them, so that it can be quoted. */
const otherVerbs = `do don't dont never avoid stop leave keep skip ignore rewrite
  translate improve explain describe document merge convert ensure revert undo try consider shorten expand
  review tell look publish commit push open close run generate summarize summarise get`;

/** The first words of all verbs: an instruction starts with one. */
export const verbs = new Set([
  ...Object.values(verbPhrases).flatMap((said) => said.split("|").map((phrase) => phrase.split(" ")[0] ?? "")),
  ...words(otherVerbs),
]);

export const connectors = words(
  "and then also next first firstly second secondly third thirdly fourth finally lastly afterwards additionally plus subsequently",
);

export const courtesies = words("please kindly thanks");

/** Phrases before an instruction, removed at the start of a clause. */
export const leads: readonly (readonly string[])[] = [
  ...["can you", "could you", "would you", "will you"],
  "i would like you to",
  "i'd like you to",
  "i want you to",
  "i need you to",
  "your task is to",
  "we need to",
  "we want to",
  "you need to",
  "you must",
  "make sure to",
  "be sure to",
  "in addition",
  "after that",
  "let us",
  "let's",
  "for now",
  "just",
  "simply",
  "now",
].map((lead) => lead.split(" "));

/** Outside quotes they negate an instruction: nothing is done. */
export const negations =
  words(`not don't dont doesn't doesnt didn't isn't aren't wasn't weren't can't cant cannot won't wont
  wouldn't shouldn't mustn't couldn't never no none nobody nothing neither nor without avoid except excepting excluding
  exclude unless stop skip ignore omit forbid refrain prevent undo revert cancel but rather leave keep`);

/** They make an instruction conditional: nothing is done. */
export const conditions = words(
  "if when whenever unless until while once should would could might may maybe perhaps otherwise",
);

/** Words that cannot be part of an unquoted term or name. */
export const reserved = new Set([
  ...words(`that he she we you i they anything something both via or onto
    later soon today tomorrow eventually again globally consistently properly accordingly carefully immediately asap here
    where wherever whatever possible needed necessary appropriate better because since so like such saying about is are was
    were has have had been be does did do`),
  ...fillers,
  ...verbs,
  ...connectors,
  ...courtesies,
  ...negations,
  ...conditions,
]);

export function isVerb(word: string): boolean {
  return word in verbPhrases;
}

/** Whether a word differs by one wrong, missing, extra or swapped letter. */
function isTypo(word: string, right: string): boolean {
  if (right.length < 3 || Math.abs(word.length - right.length) > 1) return false;
  let start = 0;
  while (start < right.length && word[start] === right[start]) start += 1;
  let end = 0;
  while (end < right.length - start && end < word.length - start && word.at(-1 - end) === right.at(-1 - end)) end += 1;
  const [extra, missing] = [word.length - start - end, right.length - start - end];
  if (extra <= 1 && missing <= 1) return true;
  return extra === 2 && missing === 2 && word[start] === right[start + 1] && word[start + 1] === right[start];
}
