import type { DashboardJob } from "@emend/contract";
import { AttachedFiles, splitAttached } from "../../parts/attached-files.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { jobTitle } from "../../parts/format.ts";
import { Person } from "../../parts/person.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Age, Clipped, VisibleText } from "../../parts/text.tsx";

const outcomeWords = { changed: "", unchanged: "No changes. ", failed: "Failed. " } as const;

/** Everything that was asked, in order, each with what came of it. One prompt that is the page's own heading is said there. */
export function Rounds({ job }: { job: DashboardJob }) {
  const { run, messages } = job;
  const first = { number: 0, prompt: run.prompt, createdBy: run.createdBy, at: run.timings.createdAt };
  const isOnlyOne = messages.length === 0;
  if (isOnlyOne && run.prompt.trim() === jobTitle(run)) return null;
  return (
    <Sheet className="grid gap-3 px-4 py-3">
      {[first, ...messages].map(({ number, prompt, createdBy, at }) => {
        // The page shows the last one's result above.
        const isTold = number === messages.length;
        const { words, attached } = splitAttached(prompt);
        const outcome = isTold ? undefined : job.outcomes.find(({ message }) => message === number);
        return (
          <div key={number} className={number === 0 ? "grid gap-1" : "grid gap-1 border-t border-line pt-3"}>
            <h2 className="flex justify-between gap-3 text-quiet">
              {number === 0 ? "Instruction" : `Follow-up ${number}`}
              {!isOnlyOne && (
                <span className="font-normal">
                  <Person subject={createdBy} />, <Age at={at} />
                </span>
              )}
            </h2>
            <Words text={words} />
            <AttachedFiles projectId={job.projectId} attached={attached} />
            {outcome && (
              <Clipped height="max-h-40" className="grid gap-2 border-l-2 border-line pl-3 wrap-anywhere">
                <Prose text={`${outcomeWords[outcome.kind]}${outcome.words}`} />
              </Clipped>
            )}
          </div>
        );
      })}
    </Sheet>
  );
}

function Words({ text }: { text: string }) {
  return (
    <Clipped className="text-[16px] leading-6 whitespace-pre-wrap wrap-anywhere">
      <VisibleText text={text} />
    </Clipped>
  );
}
