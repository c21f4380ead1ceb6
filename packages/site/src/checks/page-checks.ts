import type { PageFacts } from "../parse/dialect.ts";
import type { Severity } from "../types.ts";
import { quoted, type Report } from "./report.ts";

/** A check of one page on its own: its findings depend only on the page's bytes. */
export interface OwnCheck {
  id: string;
  severity: Severity;
  run(facts: PageFacts): Iterable<Omit<Report, "path">>;
}

const duplicateHeading: OwnCheck = {
  id: "duplicate-heading",
  severity: "warning",
  *run(facts) {
    const seen = new Map<string, number>();
    for (const heading of facts.headings) {
      const first = seen.get(heading.id);
      // Repeated headings get numbered ids automatically. Only an explicit id can collide.
      if (first !== undefined && heading.explicit === true && heading.id !== "") {
        const message = `The id ${quoted(heading.id)} is already that of the heading on line ${first}; choose another.`;
        yield { line: heading.line, column: heading.column, message };
      } else seen.set(heading.id, heading.line);
    }
  },
};

const headingJump: OwnCheck = {
  id: "heading-jump",
  severity: "info",
  *run(facts) {
    let previous = 0;
    for (const { level, text, line, column } of facts.headings) {
      // The title of a page is of level 1, also where only the front matter has it.
      const above = Math.max(previous, 1);
      if (level > above + 1) {
        const below = previous === 0 ? "the page's title" : `one of level ${previous}`;
        const message = `${quoted(text)} is a heading of level ${level} below ${below}; use level ${above + 1}.`;
        yield { line, column, message };
      }
      previous = level;
    }
  },
};

const frontMatter: OwnCheck = {
  id: "front-matter",
  severity: "error",
  *run(facts) {
    const problem = facts.frontMatter?.problem;
    if (problem === undefined) return;
    const { line, column, message } = problem;
    yield { line, column, message: `The front matter cannot be read: ${message}` };
  },
};

const bareFence: OwnCheck = {
  id: "bare-fence",
  severity: "info",
  *run(facts) {
    for (const { line, column } of facts.bareFences) {
      const message = "This code block names no language; add one after the fence (`text` if it has none).";
      yield { line, column, message };
    }
  },
};

const unclosedFence: OwnCheck = {
  id: "unclosed-fence",
  severity: "warning",
  *run({ openFence }) {
    if (openFence === undefined) return;
    const message = "Nothing closes this code block before the next one or the page's end; add the closing fence.";
    yield { ...openFence, message };
  },
};

const bareLinkText: OwnCheck = {
  id: "bare-link-text",
  severity: "info",
  *run(facts) {
    for (const { here, target, line, column } of facts.links) {
      if (here !== true) continue;
      const message = `The text of the link to ${quoted(target)} does not say where it leads; name the destination.`;
      yield { line, column, message };
    }
  },
};

const textLink: OwnCheck = {
  id: "text-link",
  severity: "warning",
  *run(facts) {
    for (const { label, line, column } of facts.textLinks ?? []) {
      const message =
        label === null
          ? "This link stays plain text: nothing closes its address, or there is a space in it; write `[words](address)`."
          : `This link stays plain text: nothing defines ${quoted(label)}; add \`[${label}]: address\` to the page.`;
      yield { line, column, message };
    }
    for (const { noText, target, line, column } of facts.links) {
      if (noText !== true) continue;
      const message = `The link to ${quoted(target)} has no words, so nobody sees it; say where it leads.`;
      yield { line, column, message };
    }
  },
};

const imageAlt: OwnCheck = {
  id: "image-alt",
  severity: "warning",
  *run(facts) {
    for (const { noAlt, target, line, column } of facts.links) {
      if (noAlt !== true) continue;
      const message = `The image ${quoted(target)} has no alternative text; say what it shows.`;
      yield { line, column, message };
    }
  },
};

const reasons = {
  "too large": "This page is larger than 4 MB or has over 20,000 links, and was not checked; split it.",
  binary: "This file holds NUL bytes and was not read as text; save it as UTF-8.",
} as const;

const unreadPage: OwnCheck = {
  id: "unread-page",
  severity: "warning",
  *run(facts) {
    const { unread } = facts;
    if (unread !== undefined) yield { line: 1, column: 1, message: reasons[unread] };
  },
};

/**
 * Separate from the other checks, because every parsing thread loads these. Cached records contain their findings:
 * raise the version of the facts when you add or change one.
 */
export const ownChecks: readonly OwnCheck[] = [
  unreadPage,
  frontMatter,
  duplicateHeading,
  headingJump,
  bareFence,
  unclosedFence,
  imageAlt,
  bareLinkText,
  textLink,
];
