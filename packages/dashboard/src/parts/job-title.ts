/** What a job is called: by its change, and before there is one by the first line of what was asked. */
export function jobTitle({ title, prompt }: { title: string | null; prompt: string }): string {
  return title ?? (prompt.trim().split("\n", 1)[0] || "(blank)");
}
