import type { DashboardJob } from "@emend/contract";
import { Age } from "../../parts/age.tsx";
import { Clipped } from "../../parts/clipped.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

/** What was asked, at first and since. */
export function Asked({ job }: { job: DashboardJob }) {
  return (
    <Sheet className="grid gap-3 px-4 py-3">
      <div className="grid gap-1">
        <h2 className="text-quiet">Instruction</h2>
        <Words text={job.run.prompt} />
      </div>
      {job.messages.map((message) => (
        <div key={message.number} className="grid gap-1 border-t border-line pt-3">
          <h2 className="flex justify-between gap-3 text-quiet">
            Follow-up
            <span className="font-normal">
              <Age at={message.at} />
            </span>
          </h2>
          <Words text={message.prompt} />
        </div>
      ))}
    </Sheet>
  );
}

function Words({ text }: { text: string }) {
  return (
    <Clipped className="font-serif text-[16px] leading-6 whitespace-pre-wrap wrap-anywhere">
      <VisibleText text={text} />
    </Clipped>
  );
}
