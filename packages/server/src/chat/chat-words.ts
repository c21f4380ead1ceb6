import { assertNever } from "@emend/base/fault.ts";
import type { Content } from "@emend/chat";
import { plainLine, plainText } from "@emend/publish";
import type { ShownJob, StoredPost } from "./chat-store.ts";

/** What a thread must show: a message for each key. */
export interface WantedPost {
  key: string;
  content: Content;
}

type Line = Content["lines"][number];

const summaryCharactersMax = 600;
const summaryLinesMax = 6;

/**
 * One status for each round, which is edited; one message for each question, which has buttons while it is open; and
 * the replies that were stored.
 */
export function wantedPosts(
  job: ShownJob | null,
  posts: readonly StoredPost[],
  publicUrl: string,
): readonly WantedPost[] {
  const replies = posts
    .filter(({ words }) => words !== null)
    .map(({ key, words }) => ({ key, content: said([[words ?? ""]]) }));
  if (!job) return replies;
  const status = statusKey(job, job.round);
  // A round whose end nobody saw here, because the next one began at once.
  const before = posts
    .filter(({ key, shown }) => shown && key.startsWith(`status/${job.id}/`) && key !== status && isUnderWay(shown))
    .map(({ key }) => ({ key, content: said([["Continued below."]]) }));
  const questions = job.questions.map(({ id, question, options, isOpen, answer, constructs }) => ({
    key: `question/${id}`,
    content: {
      lines: [
        [{ strong: constructs ? "Waiting for you: " : "Question: " }, plainLine(question, 1_000)],
        ...constructLines(constructs ?? []),
        ...(isOpen ? [[constructs ? approvalHint : answerHint(options)]] : []),
        // Whoever presses a button leaves no message.
        ...(!isOpen && answer !== null ? [[{ strong: "Answer: " }, plainLine(answer, 300)]] : []),
      ],
      buttons: isOpen ? options.map((label, index) => ({ label: plainLine(label, 75), value: `${id}/${index}` })) : [],
    },
  }));
  return [...before, { key: status, content: statusOf(job, publicUrl) }, ...questions, ...replies];
}

function statusKey(job: { id: string }, round: number): string {
  return `status/${job.id}/${round}`;
}

const constructsMax = 5;

function constructLines(constructs: NonNullable<ShownJob["questions"][number]["constructs"]>): Line[] {
  const shown = constructs.slice(0, constructsMax).map(({ path, line, text, count }): Line => {
    const times = count === 1 ? "" : ` (${count} times)`;
    return [`• ${plainLine(path, 200)}, line ${line}${times}: ${plainLine(text, 200)}`];
  });
  const more = constructs.length - shown.length;
  return more > 0 ? [...shown, [`• and ${more} more. Open the job in Emend to see all.`]] : shown;
}

const approvalHint = "Press a button. A reply in this thread is a message to the agent, which then changes its work.";
const underWay = ["Working on it", "Waiting for an answer", "Waiting for you"];

function isUnderWay({ lines }: Content): boolean {
  const [first] = lines[0] ?? [];
  return underWay.some((words) => typeof first === "string" && first.startsWith(words));
}

function answerHint(options: readonly string[]): string {
  return options.length === 0
    ? "Reply in this thread to answer."
    : "Choose an option, or reply in this thread in your own words.";
}

function statusOf(job: ShownJob, publicUrl: string): Content {
  const page = { link: "Open in Emend", to: `${publicUrl}/app/jobs/${job.id}` };
  const project = plainLine(job.project, 100);
  switch (job.status) {
    case "active": {
      const asking = job.questions.find(({ isOpen }) => isOpen);
      return said([
        [
          asking
            ? asking.constructs
              ? "Waiting for you. "
              : "Waiting for an answer. "
            : `Working on it in ${project}. `,
          page,
        ],
      ]);
    }
    case "failed":
      return said([
        [{ strong: "The job failed. " }, plainLine(job.failure?.message ?? "", 500)],
        ...pullLine(job),
        ["Mention me in this thread to continue in other words. ", page],
      ]);
    case "archived":
      return said([["The job was archived. ", page]]);
    case "completed":
      return said([
        ...(job.failure ? [[{ strong: "The follow-up failed. " }, plainLine(job.failure.message, 500)]] : []),
        ...pullLine(job),
        ...(job.pullRequest || job.failure
          ? []
          : [
              [
                {
                  strong:
                    job.isPlan && job.round === 0
                      ? "The plan:"
                      : job.refused
                        ? "Emend refused the change."
                        : "No change was needed.",
                },
              ],
            ]),
        ...summaryOf(job),
        [countsOf(job), page],
      ]);
    default:
      return assertNever(job.status);
  }
}

function pullLine({ pullRequest, title }: ShownJob): Line[] {
  if (!pullRequest || !/^https?:/.test(pullRequest.url)) return [];
  const words = {
    open: pullRequest.draft ? " is a draft." : " is ready for review.",
    merged: " was merged.",
    closed: " was closed.",
  };
  return [[{ link: plainLine(title ?? "Pull request", 200), to: pullRequest.url }, words[pullRequest.state]]];
}

/** What was done, in a few lines. */
function summaryOf({ reply, summary }: ShownJob): Line[] {
  const text = plainText(reply ?? summary ?? "", summaryCharactersMax);
  return text === ""
    ? []
    : text
        .split("\n")
        .slice(0, summaryLinesMax)
        .map((line) => [line]);
}

function countsOf({ change, introduced }: ShownJob): string {
  if (!change || change.files === 0) return "";
  const problems =
    introduced === 0 ? "no new problems" : `${introduced} new ${introduced === 1 ? "problem" : "problems"}`;
  const files = `${change.files} ${change.files === 1 ? "file" : "files"} changed, +${change.additions} −${change.deletions}`;
  return `${files} · ${problems} · `;
}

function said(lines: readonly Line[]): Content {
  return { lines, buttons: [] };
}
