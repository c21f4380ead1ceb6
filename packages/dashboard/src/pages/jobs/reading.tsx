import type { DashboardReading } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { request } from "../../api/request.ts";
import { ChooseModel } from "../../parts/choose-model.tsx";
import { Icon } from "../../parts/icon.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { usePaused } from "../../parts/use-paused.ts";

const typingPauseMs = 200;
const promptLengthMax = 10_000;

/** "I read this as …": what the rules would do, shown while typing. Not for language models. */
export function Reading(props: {
  projectId: string;
  model: string;
  prompt: string;
  onExample(text: string): void;
  /** Whether a job with this prompt would fail at once. */
  onRefused?(isRefused: boolean): void;
}) {
  const { projectId, model } = props;
  const prompt = usePaused(props.prompt, typingPauseMs);
  const reading = useQuery({
    queryKey: ["reading", projectId, model, prompt],
    queryFn: ({ signal }) =>
      request<DashboardReading>(`/projects/${projectId}/reading`, { body: { prompt, model }, signal }),
    enabled: model === "emend/rules" && prompt.trim() !== "" && prompt.length <= promptLengthMax,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const told = props.prompt.trim() === "" || model !== "emend/rules" ? undefined : reading.data;
  // Of what is written now, not of the text before it.
  const isRefused = told?.kind === "not_understood" && !reading.isPlaceholderData && prompt === props.prompt;
  useEffect(() => props.onRefused?.(isRefused), [isRefused, props.onRefused]);
  return (
    <div aria-live="polite" className="text-quiet empty:hidden">
      {told?.kind === "understood" && (
        <div className="flex gap-2">
          <Icon name="check" className="mt-0.5 text-good" />
          <div className="min-w-0 wrap-anywhere">
            I read this as: <Orders orders={told.orders} />
          </div>
        </div>
      )}
      {told?.kind === "not_understood" && (
        <div className="flex gap-2">
          <Icon name="warning" className="mt-0.5 text-warn" />
          <div className="min-w-0 wrap-anywhere">
            The built-in rules do not understand “
            <VisibleText text={told.clause} />
            ”: <VisibleText text={told.reason} />.{/* In one line on a phone, so that what is below hardly moves. */}
            <ul className="flex gap-x-4 gap-y-1 overflow-x-auto sm:flex-wrap">
              {told.examples.map((example) => (
                <li key={example} className="max-w-4/5 shrink-0 sm:max-w-full sm:shrink">
                  <button
                    type="button"
                    className="text-left underline decoration-line underline-offset-3 hover:text-ink"
                    onClick={() => props.onExample(example)}
                  >
                    {example}
                  </button>
                </li>
              ))}
            </ul>
            For free text: <ChooseModel projectId={projectId} />
          </div>
        </div>
      )}
    </div>
  );
}

function Orders({ orders }: { orders: readonly string[] }) {
  if (orders.length === 1) {
    return (
      <span className="text-ink">
        <VisibleText text={orders[0] ?? ""} />
      </span>
    );
  }
  return (
    <ol className="list-decimal pl-5 text-ink">
      {orders.map((order, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same order may stand twice
        <li key={index}>
          <VisibleText text={order} />
        </li>
      ))}
    </ol>
  );
}
