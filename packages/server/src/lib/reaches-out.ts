const codeSpans = /`[^`\n]*`/g;
const reaching = /!\[|<[a-z!/]|(?:https?|ftp|data|javascript):|\/\/\w|\bwww\.|\]\(|\]:/i;

/**
 * Whether words would load or link to something where they are rendered: a pull request's page loads images by itself,
 * and its links carry what is in them. Code spans are shown as they are.
 */
export function reachesOut(markdown: string): boolean {
  return reaching.test(markdown.replaceAll(codeSpans, ""));
}
