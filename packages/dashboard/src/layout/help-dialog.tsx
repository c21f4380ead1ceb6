import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";

const keys = [
  ["c", "write a new job"],
  ["j / k", "next and previous row"],
  ["Enter", "open the row"],
  ["⌘K or Ctrl K", "go to a page, a project or a job"],
  ["⌘Enter or Ctrl Enter", "start the job that is being written"],
  ["Esc", "close what is open"],
  ["?", "this list"],
] as const;

export function HelpDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
        {keys.map(([key, words]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded-md border border-line bg-hush px-1.5 py-0.5">{key}</kbd>
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
