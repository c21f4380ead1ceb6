import type { ReactNode } from "react";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Sheet } from "../../parts/sheet.tsx";

interface StepProps {
  number: number;
  title: string;
  /** What came of it; null while it is to be done. */
  done: ReactNode;
  /** Whether this is the one to do now: then what to type elsewhere stands open. */
  isNext: boolean;
  /** What to type elsewhere for the same. */
  lines: readonly { name: string; text: string }[];
  children: ReactNode;
}

export function Step({ number, title, done, isNext, lines, children }: StepProps) {
  return (
    <li>
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
        <h2 className="flex items-center gap-3">
          <span
            aria-hidden="true"
            className={`grid size-6 flex-none place-items-center rounded-full border ${done ? "border-good text-good" : "border-line text-quiet"}`}
          >
            {done ? <Icon name="check" /> : number}
          </span>
          {title}
        </h2>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 empty:hidden sm:pl-9">
          {done && <div className="wrap-anywhere">{done}</div>}
          {children}
          {lines.length > 0 && (
            <details open={isNext}>
              <summary className="text-quiet">From the command line</summary>
              <div className="grid grid-cols-[minmax(0,1fr)] gap-2 pt-3">
                {lines.map(({ name, text }) => (
                  <div key={name} className="grid grid-cols-[minmax(0,1fr)] gap-1">
                    <p className="text-quiet">{name}</p>
                    <CopyBlock text={text} />
                  </div>
                ))}
              </div>
            </details>
          )}
        </div>
      </Sheet>
    </li>
  );
}
