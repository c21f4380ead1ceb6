import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";

const keys = [
  [["c"], "write a new job"],
  [["j", "k"], "next and previous row"],
  [["Enter"], "open the row"],
  [["⌘K", "Ctrl K"], "go to a page, a project or a job"],
  [["⌘Enter", "Ctrl Enter"], "start the job that is being written"],
  [["Esc"], "close what is open"],
  [["?"], "this list"],
] as const;

export function HelpDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {keys.map(([names, words]) => (
          <div key={words} className="contents">
            <dt className="flex flex-wrap content-start gap-1">
              {names.map((name) => (
                <kbd key={name} className="rounded-md border border-line bg-hush px-1.5 py-px">
                  {name}
                </kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
