interface Section {
  heading: string;
  name: string;
  body: string;
}

const headingLine = /^ {0,3}(?:#{1,6}\s+\S.*|\*\*[^*]+\*\*:?)\s*$/;
const taskLine = /^\s*[-*+] \[[ xX]\] /;
const isAboutChange = /\b(?:what|summary|description|describe|changes?|overview|about|purpose|proposed)\b/;
const isAboutChecks = /\b(?:tests?|tested|testing|checks?|verif\w*|validat\w*|qa)\b/;

/**
 * Fills a repository's pull request template. Parts of the summary go under headings of the same name, the rest into
 * the description, and the checks where the template asks for them. What only the author can answer, such as a
 * checklist, is not filled in.
 */
export function fillTemplate(
  template: string,
  parts: { summary: string; checks: string },
): { text: string; hasChecks: boolean } {
  const { lead, sections } = split(template);
  const said = split(parts.summary);
  const saidByName = new Map(said.sections.map((section) => [section.name, section]));
  const names = new Set(sections.map(({ name }) => name));
  const loose = [said.lead, ...said.sections.filter(({ name }) => !names.has(name)).map(whole)];
  const rest = joined(loose);

  const place = sections.find(({ name }) => !saidByName.has(name) && isAboutChange.test(name));
  const checked = sections.find(
    (section) => section !== place && isForChecks(section) && !saidByName.has(section.name),
  );
  const filled = sections.map((section) => {
    const own = saidByName.get(section.name);
    if (own) return whole({ ...section, body: own.body });
    if (section === place && rest !== "") return whole({ ...section, body: joined([rest, tasksOf(section)]) });
    if (section === checked && parts.checks !== "") {
      return whole({ ...section, body: joined([parts.checks, tasksOf(section)]) });
    }
    return whole(section);
  });
  const hasChecks = checked !== undefined && parts.checks !== "";
  return { text: joined([lead, ...(place ? [] : [rest]), ...filled]), hasChecks };
}

function isForChecks({ name }: Section): boolean {
  return isAboutChecks.test(name) && !/check-?\s?list/.test(name);
}

function split(markdown: string): { lead: string; sections: readonly Section[] } {
  const lead: string[] = [];
  const sections: { heading: string; lines: string[] }[] = [];
  let fence = "";
  for (const line of markdown.split(/\r?\n/)) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1] ?? "";
    if (fence === "" && mark !== "") fence = mark;
    else if (fence !== "" && mark.startsWith(fence)) fence = "";
    else if (fence === "" && headingLine.test(line)) {
      sections.push({ heading: line.trim(), lines: [] });
      continue;
    }
    (sections.at(-1)?.lines ?? lead).push(line);
  }
  return {
    lead: lead.join("\n").trim(),
    sections: sections.map(({ heading, lines }) => ({
      heading,
      name: nameOf(heading),
      body: lines.join("\n").trim(),
    })),
  };
}

/** `## What changed?` and `**What changed:**` are the same section. */
function nameOf(heading: string): string {
  return heading
    .replaceAll(/[^\p{L}\p{N} -]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/** Checkboxes are the author's promises, so they are kept. The prose around them only explains what to write. */
function tasksOf({ body }: Section): string {
  return body
    .split("\n")
    .filter((line) => taskLine.test(line))
    .join("\n");
}

function whole({ heading, body }: Pick<Section, "heading" | "body">): string {
  return joined([heading, body]);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}
