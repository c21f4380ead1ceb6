import { type ReactNode, startTransition, useEffect, useRef, useState } from "react";

/** How far off screen something begins to be there: a screen or more of fast scrolling. */
const marginPx = 1_000;

/**
 * A piece of a long page that is made only near the window, and keeps its place by its height while it is not: a page of
 * ten thousand rows costs what its few screens cost.
 */
export function Near(props: { estimatePx: number; startsNear?: boolean; children(): ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const [isNear, setIsNear] = useState(props.startsNear ?? false);
  const heightPx = useRef<number | null>(null);

  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (!entry) return;
        if (!entry.isIntersecting) {
          // What has the focus would lose it.
          if (element.contains(document.activeElement)) return;
          if (entry.boundingClientRect.height > 0) heightPx.current = entry.boundingClientRect.height;
        }
        // Several may come near at once: making them gives way to whoever scrolls or types.
        startTransition(() => setIsNear(entry.isIntersecting));
      },
      { rootMargin: `${marginPx}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return (
    <div ref={ref} style={isNear ? undefined : { height: heightPx.current ?? props.estimatePx }}>
      {isNear && props.children()}
    </div>
  );
}
