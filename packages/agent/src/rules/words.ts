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
const firstVerbWords: readonly string[] = [...phrases(verbPhrases).values()].flat().map(([first = ""]) => first);

const said = { verbs: [...phrases(verbPhrases), ...phrases(looselySaid)], topics: [...phrases(topics)] };

/** The canonical words that some words may refer to. */
export function meanings(words: readonly string[], of: "verbs" | "topics"): ReadonlySet<string> {
  const text = ` ${words.join(" ")} `;
  const isSaid = (phrase: readonly string[]) => text.includes(` ${phrase.join(" ")} `);
  return new Set(said[of].flatMap(([canonical, ways]) => (ways.some(isSaid) ? [canonical] : [])));
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

/** Verbs that start a form, besides those with synonyms. */
const knownVerbs = "replace rename rebrand set unset clear give redirect send take unlist hide get mv";

/** Verbs that start an unknown instruction or retract one. A clause is split before them, so that it can be quoted. */
const otherVerbs = `do substitute don't dont never avoid stop leave keep skip ignore make rewrite
  translate improve explain describe document merge split convert check ensure revert undo try consider shorten expand
  review tell show scan search find look adjust publish commit push open close run generate summarize summarise`;

export const verbs = new Set([...firstVerbWords, ...words(`${knownVerbs} ${otherVerbs}`)]);

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
  ...words(`a an the this that these those it its them they he she we you i my our your their everything anything something
    all any every each some both with by to in into on onto under below within inside from of for at as via or and then also
    too only even everywhere throughout across instead including page pages file files folder folders directory term terms
    word words phrase heading headings title link links navigation nav sidebar menu redirect redirects docs documentation
    site section group before after called named titled saying code prose text content body
    now later soon today tomorrow again globally consistently properly accordingly carefully immediately asap here there
    references mentions occurrences instances
    where wherever whatever possible needed necessary appropriate better because since so like such`),
  ...verbs,
  ...connectors,
  ...courtesies,
  ...negations,
  ...conditions,
]);
