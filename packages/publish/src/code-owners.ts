import { matchesGlob } from "@emend/site";

/** People and teams whom a repository's CODEOWNERS names for paths. GitHub's syntax, with GitLab's sections. */
export interface CodeOwners {
  people: readonly string[];
  /** With their organization: `acme/docs`. */
  teams: readonly string[];
}

const places = [".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
const bytesMax = 256 * 1024;
/** More reviewers help nobody. */
const ownersMax = 10;

/** Null: the repository has none. */
export async function readCodeOwners(base: { read(path: string): Promise<Buffer | null> }): Promise<string | null> {
  for (const path of places) {
    const bytes = await base.read(path).catch(() => null);
    if (bytes) return bytes.length > bytesMax ? null : bytes.toString("utf8");
  }
  return null;
}

interface Rule {
  globs: readonly string[];
  owners: readonly string[];
}

/** Of the rules that match a path, the last one counts, in each section. */
export function ownersOf(text: string, paths: readonly string[]): CodeOwners {
  const sections = parse(text);
  const names = new Set<string>();
  for (const path of paths) {
    for (const rules of sections) {
      const met = rules.findLast(({ globs }) => globs.some((glob) => matchesGlob(glob, path)));
      for (const owner of met?.owners ?? []) names.add(owner);
    }
  }
  // An email address names no account on a forge.
  const all = [...names].filter((name) => /^@[\w.-]+(?:\/[\w./-]+)?$/.test(name)).map((name) => name.slice(1));
  return {
    people: all.filter((name) => !name.includes("/")).slice(0, ownersMax),
    teams: all.filter((name) => name.includes("/")).slice(0, ownersMax),
  };
}

function parse(text: string): readonly (readonly Rule[])[] {
  const sections: Rule[][] = [[]];
  let usual: readonly string[] = [];
  for (const line of text.split("\n")) {
    const words = line.replace(/(?:^|\s)#.*$/, "").trim();
    if (words === "") continue;
    const section = /^\^?\[[^\]]+\](?:\[\d+\])?(.*)$/.exec(words);
    if (section) {
      usual = (section[1] ?? "").split(/\s+/).filter((word) => word !== "");
      sections.push([]);
      continue;
    }
    const [pattern = "", ...owners] = words.split(/\s+/);
    sections.at(-1)?.push({ globs: globsOf(pattern), owners: owners.length > 0 ? owners : usual });
  }
  return sections;
}

/** As in .gitignore: without a slash before its end, a pattern matches in every folder. */
function globsOf(pattern: string): readonly string[] {
  const isAnchored = pattern.slice(0, -1).includes("/");
  const place = `${isAnchored ? "" : "**/"}${pattern.replace(/^\//, "")}`;
  if (place.endsWith("/")) return [`${place}**`];
  return place.endsWith("/*") && isAnchored ? [place] : [place, `${place}/**`];
}

interface Reviewed {
  repositoryUrl: string;
  settings: {
    forge: { reviewers: readonly string[]; teamReviewers: readonly string[]; codeOwners: boolean };
  };
}

/** The project with its code owners among its reviewers, if it wants that. Teams are those of the repository's owner. */
export function withReviewers<T extends Reviewed>(project: T, owners: CodeOwners): T {
  const { forge } = project.settings;
  if (!forge.codeOwners) return project;
  const [organization = ""] = new URL(project.repositoryUrl).pathname.slice(1).toLowerCase().split("/");
  const teams = owners.teams.flatMap((team) => {
    const [of = "", name = "", ...more] = team.split("/");
    return of.toLowerCase() === organization && name !== "" && more.length === 0 ? [name] : [];
  });
  const reviewers = [...new Set([...forge.reviewers, ...owners.people])];
  const teamReviewers = [...new Set([...forge.teamReviewers, ...teams])];
  return { ...project, settings: { ...project.settings, forge: { ...forge, reviewers, teamReviewers } } };
}
