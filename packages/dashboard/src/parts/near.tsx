import { type ReactNode, startTransition, useEffect, useRef, useState } from "react";

/** How far off screen content is rendered: a screen or more of fast scrolling. */
const marginPx = 1_000;

/**
 * A part of a long page that is rendered only near the viewport and keeps its height otherwise, so that ten thousand
 * rows cost as much as a few screens.
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
          // Removing it would lose the focus.
          if (element.contains(document.activeElement)) return;
          if (entry.boundingClientRect.height > 0) heightPx.current = entry.boundingClientRect.height;
        }
        // Several may come near at once: rendering them yields to scrolling and typing.
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
