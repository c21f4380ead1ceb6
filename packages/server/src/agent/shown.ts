/** Text of a prompt, a page or a model, safe to show: one line, no invisible characters, limited length. */
export function shown(text: string, charactersMax: number): string {
  const start = text.slice(0, charactersMax * 4);
  const visible = start
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .toWellFormed();
  const characters = [...visible];
  if (characters.length <= charactersMax && start.length === text.length) return visible;
  return `${characters.slice(0, charactersMax - 1).join("")}…`;
}
