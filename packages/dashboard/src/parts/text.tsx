import { unseenCharacters, unseenName } from "@emend/contract";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { durationOf } from "./format.ts";

/** A group, so that splitting keeps them. */
const unseen = new RegExp(`(${unseenCharacters.source})`, unseenCharacters.flags);

/** Untrusted text: invisible characters, or those that reorder text, are shown by their code. */
export function VisibleText({ text }: { text: string }) {
  const parts = text.split(unseen);
  if (parts.length === 1) return text;
  return parts.map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name
      <span key={index} className="rounded-md border border-warn px-1 text-[11px] text-warn" title="not seen otherwise">
        {unseenName(part)}
      </span>
    ),
  );
}

interface ClippedProps {
  className?: string;
  /** The initial height. */
  height?: string;
  children: ReactNode;
}

/** Fades out if it is longer. */
const fade = "[mask-image:linear-gradient(to_bottom,black_calc(100%-32px),transparent)]";

/** The start of a long content, with a button for the rest. */
export function Clipped({ className = "", height = "max-h-88", children }: ClippedProps) {
  const ref = useRef<HTMLDivElement>(null);
  const [isLong, setIsLong] = useState(false);
  const [isWhole, setIsWhole] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other children may be longer
  useLayoutEffect(() => {
    const element = ref.current;
    if (element && !isWhole) setIsLong(element.scrollHeight > element.clientHeight + 1);
  }, [children, isWhole]);
  return (
    <>
      {/* The content is laid out inside, because the rows of a clipped grid would be squeezed. */}
      <div ref={ref} className={isWhole ? "" : `${height} overflow-hidden ${isLong ? fade : ""}`}>
        <div className={className}>{children}</div>
      </div>
      {isLong && (
        <button
          type="button"
          aria-expanded={isWhole}
          className="justify-self-start pt-1 font-sans text-[14px] text-quiet underline underline-offset-3 hover:text-ink"
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all"}
        </button>
      )}
    </>
  );
}

const units = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
] as const;

/** "3 min ago", updated while visible; the exact time on hover. */
export function Age({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap">
      {ageOf(now - Date.parse(at))}
    </time>
  );
}

function ageOf(ms: number): string {
  const unit = units.find((each) => ms >= each.ms);
  return unit ? `${Math.floor(ms / unit.ms)} ${unit.name} ago` : "just now";
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 20_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The elapsed time in seconds. */
export function Clock({ since }: { since: string }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 1_000));
  return <span role="timer">{seconds < 10 ? `${seconds} s` : durationOf(seconds * 1_000)}</span>;
}
