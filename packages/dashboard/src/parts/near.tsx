import { type ReactNode, useEffect, useRef, useState } from "react";

/** How far off screen something begins to be there: a few screens of fast scrolling. */
const marginPx = 1_200;

/**
 * A piece of a long page that is made only near the window, and keeps its place by its height while it is not: a page of
 * ten thousand rows costs what its few screens cost. `stays`: once made, it is kept, so that find-in-page finds it.
 */
export function Near(props: { estimatePx: number; stays?: boolean; startsNear?: boolean; children(): ReactNode }) {
  const { stays = false } = props;
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
          if (stays) return;
          // What has the focus would lose it.
          if (element.contains(document.activeElement)) return;
          if (entry.boundingClientRect.height > 0) heightPx.current = entry.boundingClientRect.height;
        }
        setIsNear(entry.isIntersecting);
      },
      { rootMargin: `${marginPx}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [stays]);

  return (
    <div ref={ref} style={isNear ? undefined : { height: heightPx.current ?? props.estimatePx }}>
      {isNear && props.children()}
    </div>
  );
}
