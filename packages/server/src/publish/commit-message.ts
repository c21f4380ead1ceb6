import { plainLine, plainText } from "./quiet-text.ts";

const subjectCharactersMax = 120;
const summaryCharactersMax = 8_000;

/** Title, summary and the job it came from; the same job gives the same bytes. */
export function commitMessage(input: { title: string; summary: string; job: { id: string } }): string {
  const parts = [
    plainLine(input.title, subjectCharactersMax) || "Update documentation",
    plainText(input.summary, summaryCharactersMax),
    `Emend-Job: ${input.job.id}`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
