import type { DashboardStep } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Icon } from "../../parts/icon.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import type { ToldEvent } from "./describe-event.ts";

/** A step's calls, folded; opened, each with what it was given and what it answered, asked for only then. */
export function StepTools(props: { jobId: string; step: number; tools: ToldEvent["tools"] }) {
  const { jobId, step, tools } = props;
  const [isOpen, setIsOpen] = useState(false);
  const details = useQuery({
    queryKey: ["step", jobId, step],
    queryFn: ({ signal }) => request<DashboardStep>(`/jobs/${encodeURIComponent(jobId)}/steps/${step}`, { signal }),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary className="text-quiet">
        <VisibleText text={tools.map(({ name }) => name).join(", ")} />
        {tools.some(({ ok }) => !ok) && <span className="text-warn"> · refused</span>}
      </summary>
      <div className="grid gap-2 py-1">
        {tools.map((tool, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a step never move
          <div key={index}>
            <p className="flex gap-1.5 font-mono text-[12px]">
              <Icon name={tool.ok ? "check" : "cross"} className={tool.ok ? "text-good" : "text-bad"} />
              <span className="min-w-0 wrap-anywhere">
                <VisibleText text={`${tool.name} ${tool.input}`} />
              </span>
            </p>
            <Answer tool={details.data?.tools[index]} />
          </div>
        ))}
        {isOpen && details.error && <p className="text-quiet">{details.error.message}</p>}
      </div>
    </details>
  );
}

function Answer({ tool }: { tool: DashboardStep["tools"][number] | undefined }) {
  if (!tool?.output) return null;
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      className="mt-1 max-h-60 overflow-auto rounded-md bg-hush px-2 py-1 text-[12px] leading-[18px] whitespace-pre-wrap wrap-anywhere"
    >
      <VisibleText text={tool.output} />
    </pre>
  );
}
