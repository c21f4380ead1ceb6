import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

/** The beginning of something long, and the rest for whoever asks. */
export function Clipped({ className = "", children }: { className?: string; children: ReactNode }) {
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
      <div ref={ref} className={`${isWhole ? "" : "max-h-88 overflow-hidden"} ${className}`}>
        {children}
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
