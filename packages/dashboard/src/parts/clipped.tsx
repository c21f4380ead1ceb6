import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

interface ClippedProps {
  className?: string;
  /** How much of it is shown at first. */
  height?: string;
  children: ReactNode;
}

/** Fades out where it goes on. */
const fade = "[mask-image:linear-gradient(to_bottom,black_calc(100%-32px),transparent)]";

/** The beginning of something long, and the rest for whoever asks. */
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
      {/* What it holds is laid out inside: rows of a grid that is cut itself are pressed together. */}
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
