import { plainLine, quietLine, quietText } from "./quiet-text.ts";

const subjectCharactersMax = 120;
const summaryCharactersMax = 8_000;

/** A project's settings for the commits of its jobs. */
export interface CommitSettings {
  authorName: string;
  authorEmail: string;
  signOff: boolean;
}

export function authorOf(settings: CommitSettings): { name: string; email: string } {
  return { name: settings.authorName, email: settings.authorEmail };
}

/** Title, summary, job and sign-off. The same job always gives the same bytes. */
export function commitMessage(input: {
  title: string;
  summary: string;
  job: { id: string };
  commit: CommitSettings;
}): string {
  const { authorName, authorEmail, signOff } = input.commit;
  const trailers = [`Emend-Job: ${input.job.id}`];
  if (signOff) trailers.push(`Signed-off-by: ${plainLine(authorName, 200).replace(/[<>]/g, "")} <${authorEmail}>`);
  const parts = [
    quietLine(input.title, subjectCharactersMax) || "Update documentation",
    quietText(input.summary, summaryCharactersMax),
    trailers.join("\n"),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
