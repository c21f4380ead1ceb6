/** A list of correctly spelled words. */
export interface WordList {
  has(word: string): boolean;
  /** Words that are one typo away, the most likely first; at most two. */
  near(word: string): string[];
}

interface Affix {
  isPrefix: boolean;
  /** Can be combined with an affix at the other end (cross product). */
  crosses: boolean;
  rules: { strip: string; add: string; when: RegExp }[];
}

/** The affixes of a Hunspell dictionary with single-character flags. */
function readAffixes(aff: string): Map<string, Affix> {
  const affixes = new Map<string, Affix>();
  for (const line of aff.split("\n")) {
    const [kind, flag = "", third = "", fourth = "", condition = "."] = line.trim().split(/\s+/);
    if (kind !== "PFX" && kind !== "SFX") continue;
    const isPrefix = kind === "PFX";
    const known = affixes.get(flag);
    if (known === undefined) affixes.set(flag, { isPrefix, crosses: third === "Y", rules: [] });
    else {
      const when = new RegExp(isPrefix ? `^${condition}` : `${condition}$`);
      known.rules.push({ strip: third === "0" ? "" : third, add: fourth === "0" ? "" : fourth, when });
    }
  }
  return affixes;
}

function* applied(word: string, { isPrefix, rules }: Affix): Generator<string> {
  for (const { strip, add, when } of rules) {
    if (!when.test(word)) continue;
    if (isPrefix && word.startsWith(strip)) yield add + word.slice(strip.length);
    else if (!isPrefix && word.endsWith(strip)) yield word.slice(0, word.length - strip.length) + add;
  }
}

/** Every form of a dictionary's words. Compounds are left out: English has them only for ordinals. */
export function readDictionary(aff: string, dic: string): Set<string> {
  const affixes = readAffixes(aff);
  const onlyInCompound = /^ONLYINCOMPOUND\s+(\S)/m.exec(aff)?.[1] ?? "";
  const forms = new Set<string>();
  for (const line of dic.split("\n").slice(1)) {
    const entry = line.split(/[\t ]/)[0] as string;
    if (entry === "" || entry.startsWith("#")) continue;
    const slash = entry.indexOf("/");
    const word = slash === -1 ? entry : entry.slice(0, slash);
    const flags = slash === -1 ? "" : entry.slice(slash + 1);
    if (onlyInCompound !== "" && flags.includes(onlyInCompound)) continue;
    forms.add(word);
    const own = [...flags].flatMap((flag) => affixes.get(flag) ?? []);
    for (const affix of own) {
      for (const form of applied(word, affix)) {
        forms.add(form);
        if (affix.isPrefix || !affix.crosses) continue;
        for (const other of own) {
          if (other.isPrefix && other.crosses) for (const both of applied(form, other)) forms.add(both);
        }
      }
    }
  }
  return forms;
}

const letters = "esianrtolcdugmphbyfvkwzxqj'";

/**
 * A list of a language's words and a project's own words. A lower-case word may also be capitalized or in capitals. A
 * word with capitals must match exactly, or be in capitals.
 */
export function createWordList(language: ReadonlySet<string>, own: Iterable<string>): WordList {
  const project = new Set(own);
  const has = (word: string): boolean => language.has(word) || project.has(word);
  function isWord(written: string): boolean {
    const word = written.replaceAll("’", "'");
    if (has(word)) return true;
    const small = word.toLowerCase();
    const rest = word.slice(1);
    if (rest === rest.toLowerCase() && word !== small) return has(small);
    if (word !== word.toUpperCase()) return false;
    return has(small) || has(word.charAt(0) + small.slice(1)) || [...project].some((one) => one.toUpperCase() === word);
  }
  return {
    has: isWord,
    near(written) {
      const word = written.toLowerCase().replaceAll("’", "'");
      const found = new Map<string, number>();
      const last = word.length - 1;
      // Typos are rare in the first letter. Swapped and undoubled letters are common.
      const offer = (candidate: string, cost: number): void => {
        if (!has(candidate)) return;
        const ends = Number(candidate[0] !== word[0]) * 4 + Number(candidate.at(-1) !== word.at(-1));
        found.set(candidate, Math.min(found.get(candidate) ?? Infinity, cost + ends));
      };
      for (let i = 0; i < last; i++)
        offer(word.slice(0, i) + word.charAt(i + 1) + word.charAt(i) + word.slice(i + 2), 0);
      for (let i = 0; i <= last; i++) offer(word.slice(0, i) + word.slice(i + 1), word[i] === word[i + 1] ? 0 : 3);
      for (const c of letters) {
        for (let i = 0; i <= last + 1; i++) offer(word.slice(0, i) + c + word.slice(i), c === word[i] ? 0 : 1);
        for (let i = 0; i <= last; i++) offer(word.slice(0, i) + c + word.slice(i + 1), 2);
      }
      const best = [...found].sort(([, a], [, b]) => a - b).slice(0, 2);
      const isCapital = written !== written.toLowerCase();
      return best.map(([one]) => (isCapital ? one.charAt(0).toUpperCase() + one.slice(1) : one));
    },
  };
}

/** Technical terms that English dictionaries lack and every docs site uses. */
export const tradeWords: readonly string[] = `
  admin admins allowlist analytics API APIs app async auth authenticator autocomplete autocompletion autoscaling backend backends
  backoff backtick backticks boolean booleans callback callbacks changelog changelogs charset checkbox checkboxes chatbot
  chatbots CLI codebase codebases composable config configs cron cryptographic customizable dataset datasets datastore
  deduplicate deduplicated deduplication denylist deployable deserialize dev devs docs dropdown dropdowns endpoint endpoints
  enum enums env failover favicon filename filenames filesystem filesystems Firefox formatter formatters frontend frontends
  frontmatter fullscreen GitHub gzip hardcode hardcoded hashtag hostname hostnames hotfix hotkey iframe iframes init inline
  integrations integrator integrators JavaScript JSON Kubernetes lifecycle linter linters linting localhost lockfile lookups
  macOS markdown metadata microservice microservices middleware middlewares monorepo monorepos multithreaded namespace
  namespaces nginx npm observability onboarding param params parallelize passthrough passwordless plaintext playbook plugin
  plugins polyfill polyfills popup popups Postgres PostgreSQL preconfigured prepend prepended prerender preprocess preprocessor
  rebase rebased refactor refactored refactoring renderer repo repos resize resized runtime runtimes sandboxed sandboxing schema
  schemas screenshot screenshots serverless serializer sidebar sidebars stateful stateless stderr stdin stdout stylesheet
  stylesheets subcommand subcommands subdirectories subdirectory subdomain subdomains subfolder subfolders submodule
  submodules subnet subnets syntax sysadmin templating timestamp timestamps timezone timezones toolchain toolkit toolkits
  tooltip tooltips touchscreen tuple tuples typings uncomment unencrypted unhandled uninstall upsert url URLs username
  usernames utils validator validators webhook webhooks webpage webpages website websites websocket websockets whitelist
  whitespace wildcard wildcards workaround workarounds workflow workflows YAML`
  .trim()
  .split(/\s+/);

/** A project's own words: one per line; # starts a comment. */
export function readProjectWords(text: string): string[] {
  return text.split("\n").flatMap((line) => line.replace(/#.*$/, "").trim() || []);
}
