const codeSpans = /`[^`\n]*`/g;
const reaching = /!\[|<[a-z!/]|(?:https?|ftp|data|javascript):|\/\/\w|\bwww\.|\]\(|\]:/i;

/**
 * Whether Markdown would load or link to something when rendered: a pull request's page loads images automatically, and
 * links can carry data. Code spans are safe.
 */
export function reachesOut(markdown: string): boolean {
  return reaching.test(markdown.replaceAll(codeSpans, ""));
}
