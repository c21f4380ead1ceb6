import { ownChecks } from "../checks/page-checks.ts";
import { isExternal } from "../links/target.ts";
import { append } from "../text/bytes.ts";
import type { Finding } from "../types.ts";
import type { FrontMatter, LinkKind, PageFacts } from "./facts.ts";
import type { Silencer } from "./silencers.ts";

/** What is no link to a page, or is one in an HTML tag that may mean something else than in a Markdown link. */
type OtherKind = "image" | "src" | "include" | "href";

/**
 * What linking a site needs of each page: small, so that it is held for every page at once, and made of what JSON has, so
 * that it crosses threads and lies in caches as it is. What else a page says is read anew where it is asked for.
 */
export interface PageBrief {
  title: string | null;
  fields: FrontMatter["fields"];
  /** Ids of headings, then those that are written in the text. */
  ids: readonly string[];
  /** Targets of links inside the site, each once. */
  links: readonly string[];
  others: readonly { kind: OtherKind; target: string }[];
  /** What the checks found that look at the page alone. */
  own: readonly Omit<Finding, "path">[];
  unread: boolean;
  /** Comments that silence findings; absent where there are none. */
  silencers?: readonly Silencer[];
}

/** Every target of a page, with a kind that it resolves by. */
export function* targetsOf(brief: PageBrief): Generator<{ kind: "link" | OtherKind; target: string }> {
  for (const target of brief.links) yield { kind: "link", target };
  yield* brief.others;
}

const isOther: Record<LinkKind, boolean> = {
  link: false,
  definition: false,
  href: false,
  image: true,
  src: true,
  include: true,
};

function titleOf(facts: PageFacts): string | null {
  const title = facts.frontMatter?.fields.title;
  if (typeof title === "string" && title !== "") return title;
  return facts.headings.find((heading) => heading.level === 1)?.text ?? null;
}

/** A heading that a template makes has an id that only the build knows: this one stands for it. */
export const unknownId = "{{";

function idsOf(facts: PageFacts): string[] {
  const ids: string[] = [];
  let isMade = false;
  for (const { id, text, explicit } of facts.headings) {
    if (id !== "") ids.push(id);
    isMade ||= explicit !== true && text.includes("{") && /\{\{|\{%/.test(text);
  }
  append(ids, facts.ids);
  if (isMade) ids.push(unknownId);
  return ids;
}

/** What the checks find that look at the page alone. */
export function ownFindings(facts: PageFacts): Omit<Finding, "path">[] {
  const found: Omit<Finding, "path">[] = [];
  for (const { id, severity, run } of ownChecks) {
    for (const report of run(facts)) found.push({ check: id, severity, ...report });
  }
  return found;
}

export function briefOf(facts: PageFacts): PageBrief {
  const links = new Set<string>();
  const others = new Map<string, PageBrief["others"][number]>();
  for (const { kind, target } of facts.links) {
    if (isExternal(target)) continue;
    if (isOther[kind]) others.set(`${kind} ${target}`, { kind: kind as OtherKind, target });
    else links.add(target);
    // In a tag only an address from the top, or a fragment, always means what it means in a link.
    if (kind === "href" && /^[^/#]|\.mdx?(?:[?#]|$)/.test(target)) others.set(`${kind} ${target}`, { kind, target });
  }
  return {
    title: titleOf(facts),
    fields: facts.frontMatter?.fields ?? {},
    ids: idsOf(facts),
    links: [...links],
    others: [...others.values()],
    own: ownFindings(facts),
    unread: facts.unread !== undefined,
  };
}
