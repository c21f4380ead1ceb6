import type { JobRun } from "@emend/contract";
import { localTime } from "../../parts/local-time.ts";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

/** What a reader should know although the job did not fail: what it waits for, and what did not work beside it. */
export function Told({ run }: { run: JobRun }) {
  const { waiting, notices } = run;
  return (
    <>
      {waiting && (
        <Sheet className="grid gap-1 px-4 py-3">
          <p className="wrap-anywhere font-semibold" role="status">
            <VisibleText text={waiting.message} />
          </p>
          <p className="text-quiet">
            {waiting.nextTryAt ? `Next try at ${localTime(waiting.nextTryAt)}.` : "Trying now."} The work is finished
            and saved. The model is not called again.
          </p>
        </Sheet>
      )}
      {notices.length > 0 && (
        <Sheet className="grid gap-1 px-4 py-3">
          <h2 className="text-quiet">Notices</h2>
          <ul className="grid gap-1">
            {notices.map((notice) => (
              <li key={notice} className="wrap-anywhere">
                <VisibleText text={notice} />
              </li>
            ))}
          </ul>
        </Sheet>
      )}
    </>
  );
}
