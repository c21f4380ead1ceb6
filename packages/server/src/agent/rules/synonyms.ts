/**
 * A canonical word for each action or object, and its synonyms. Forms use only canonical words; each stands for all its
 * synonyms.
 */
const verbPhrases: Readonly<Record<string, string>> = {
  change: "change|update|turn|convert|alter|modify",
  swap: "swap|swap out",
  use: "use|say|write",
  move: "move|relocate|transfer|migrate",
  delete: "delete|remove|drop|kill|retire|scrap|erase|discard|take down|get rid of|do away with",
  fix: "fix|repair|correct|mend|resolve",
  add: "add|create|make|write|set up|insert",
  list: "list|add|include|show|insert",
  put: "put|place",
  order: "order|reorder|arrange|sort|rearrange",
  retitle: "retitle|rename|change|update|relabel",
  check: "check|search|scan|look|look through|go through|find",
};

const nounPhrases: Readonly<Record<string, string>> = {
  page: "page|file|doc",
  folder: "folder|directory",
  navigation: "navigation|nav|sidebar|side bar|side navigation|side menu|menu|nav bar|navbar|navigation menu",
  term: "term|terms|word|words|phrase|text|name|string|wording|spelling|product|brand",
  mentions: "mentions|mention|occurrences|occurrence|uses|use|instances|instance|references|reference",
  broken: "broken|dead|invalid",
  readers: "readers|visitors|people|users",
  frontmatter: "front matter|front-matter|frontmatter|metadata",
  insteadof: "instead of|in place of|rather than",
  favour: "in favour of|in favor of",
};

/** Synonyms that are too vague to act on. They only choose the example that a refusal shows. */
const looselySaid: Readonly<Record<string, string>> = {
  replace:
    "replace|substitute|use|say|saying|prefer|turn|convert|swap|swapping|exchange|rebrand|renamed|change|call|called|become|be|is now|mentions|mention|typo|typos|->|→",
  rename: "rename|name",
  move: "bring|live|lives|shift",
  delete: "deprecate|archive|unpublish|nuke|purge|eliminate|trash",
  redirect: "redirect|point|forward|send",
  order: "reorganize|reorganise|first|last",
  fix: "broken|dead|heal",
  set: "set|give|mark|tag",
  list: "navigation|nav|sidebar|menu",
};

const topics: Readonly<Record<string, string>> = {
  ...nounPhrases,
  heading: "heading|headings|header|section",
  field: "field|fields|tag|title|description",
  links: "link|links|anchor|anchors",
  redirect: "redirect|redirects",
  group: "group|groups|tab",
  typo: "typo|typos|misspelling",
};

function phrases(table: Readonly<Record<string, string>>): ReadonlyMap<string, readonly (readonly string[])[]> {
  return new Map(
    Object.entries(table).map(([canonical, said]) => [canonical, said.split("|").map((phrase) => phrase.split(" "))]),
  );
}

/** The synonyms of a form's canonical word. */
export const synonyms = phrases({ ...verbPhrases, ...nounPhrases });

/** The first words of all verbs: an instruction starts with one. */
export const firstVerbWords: readonly string[] = [...phrases(verbPhrases).values()].flat().map(([first = ""]) => first);

const said = { verbs: [...phrases(verbPhrases), ...phrases(looselySaid)], topics: [...phrases(topics)] };

/** The canonical words that some words may refer to. */
export function meanings(words: readonly string[], of: "verbs" | "topics"): ReadonlySet<string> {
  const text = ` ${words.join(" ")} `;
  const isSaid = (phrase: readonly string[]) => text.includes(` ${phrase.join(" ")} `);
  return new Set(said[of].flatMap(([canonical, ways]) => (ways.some(isSaid) ? [canonical] : [])));
}
