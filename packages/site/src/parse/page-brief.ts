import { ownChecks } from "../checks/page-checks.ts";
import { isExternal } from "../links/target.ts";
import { append } from "../text/bytes.ts";
import type { Finding } from "../types.ts";
import type { FrontMatter, LinkKind, PageFacts } from "./dialect.ts";
import type { Silencer } from "./silencers.ts";

/** Targets that are not links to pages, or that are in an HTML tag and may resolve differently from a Markdown link. */
type OtherKind = "image" | "src" | "include" | "href";

/**
 * The part of each page that linking a site needs. It is small, because all are in memory at once, and JSON, so that
 * threads and caches can exchange it. Everything else of a page is parsed again on demand.
 */
export interface PageBrief {
  title: string | null;
  fields: FrontMatter["fields"];
  /** Heading ids, then ids in the text. */
  ids: readonly string[];
  /** Targets of internal links, without duplicates. */
  links: readonly string[];
  others: readonly { kind: OtherKind; target: string }[];
  /** Findings of the checks that need only the page itself. */
  own: readonly Omit<Finding, "path">[];
  unread: boolean;
  /** Ignore comments. Absent if there are none. */
  silencers?: readonly Silencer[];
}

/** Every target of a page, with the kind that decides its resolution. */
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

/** Stands for the id of a templated heading, which only the build knows. */
export const unknownId = "{{";

/** Begins an entry of the ids that is no id, but names what may make more of them. */
export const madeMark = "{{ ";

function idsOf(facts: PageFacts): string[] {
  const ids: string[] = [];
  let isMade = false;
  for (const { id, text, explicit } of facts.headings) {
    if (id !== "") ids.push(id);
    isMade ||= explicit !== true && text.includes("{") && /\{\{|\{%/.test(text);
  }
  append(ids, facts.ids);
  if (isMade) ids.push(unknownId);
  for (const name of ["openapi", "api", "asyncapi"]) {
    if (facts.frontMatter?.fields[name] !== undefined) ids.push(`${madeMark}the API description of \`${name}\``);
  }
  return ids;
}

/** Runs the checks that need only the page itself. */
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
    // In a tag, only an absolute path or a fragment always resolves as in a Markdown link.
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
