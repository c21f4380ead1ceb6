import type { JobEvent } from "@emend/contract";
import { durationOf } from "../../parts/age.tsx";
import { Icon } from "../../parts/icon.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { describeEvent } from "./describe-event.ts";

export function Timeline({ events }: { events: readonly JobEvent[] }) {
  const start = events[0] ? Date.parse(events[0].at) : 0;
  return (
    <ol className="grid">
      {events.map((event) => {
        const told = describeEvent(event);
        return (
          <li
            key={event.seq}
            className="grid grid-cols-[52px_minmax(0,1fr)] gap-2 px-4 py-1 [contain-intrinsic-size:auto_28px] [content-visibility:auto]"
          >
            <time dateTime={event.at} className="text-right font-mono text-[12px] text-quiet">
              {durationOf(Date.parse(event.at) - start)}
            </time>
            <div className="min-w-0 wrap-anywhere">
              <span className={told.isEnd ? "font-semibold" : ""}>
                <VisibleText text={told.title} />
              </span>
              {told.text && (
                <p className="text-quiet">
                  <VisibleText text={told.text} />
                </p>
              )}
              {told.tools.length > 0 && (
                <details>
                  <summary className="text-quiet">
                    {told.tools.map(({ name }) => name).join(", ")}
                    {told.tools.some(({ ok }) => !ok) && <span className="text-warn"> · refused</span>}
                  </summary>
                  {told.tools.map((tool, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a step never move
                    <p key={index} className="flex gap-1.5 py-0.5 font-mono text-[12px]">
                      <Icon name={tool.ok ? "check" : "cross"} className={tool.ok ? "text-good" : "text-bad"} />
                      <span className="min-w-0 wrap-anywhere">
                        <VisibleText text={`${tool.name} ${tool.input}`} />
                      </span>
                    </p>
                  ))}
                </details>
              )}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
