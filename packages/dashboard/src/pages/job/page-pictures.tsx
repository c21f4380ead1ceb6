import type { DashboardPicture } from "@emend/contract";
import { useState } from "react";
import { apiUrl } from "../../api/request.ts";
import { Toggle } from "../../parts/button.tsx";
import { VisibleText } from "../../parts/text.tsx";

const windows = ["Desktop", "Phone"];
const pageToRead = "Page";

/** The changed pages as the site's own builder makes them, before and after, with what differs marked. */
export function PagePictures({ jobId, pictures }: { jobId: string; pictures: readonly DashboardPicture[] }) {
  const [chosen, setChosen] = useState("Desktop");
  if (pictures.length === 0) return null;
  const [widest = 0, narrowest = widest] = [...new Set(pictures.map(({ width }) => width))].sort((a, b) => b - a);
  const options = pictures.some(({ hasPage }) => hasPage) ? [...windows, pageToRead] : windows;
  const shown = pictures.filter(({ width }) => width === (chosen === "Phone" ? narrowest : widest));
  const paths = [...new Set(shown.map(({ path }) => path))];
  return (
    <section aria-label="Pages as readers see them" className="grid gap-3 pt-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2>Pages as readers see them</h2>
        <Toggle label="Window" options={options} chosen={chosen} onChoose={setChosen} />
      </div>
      {paths.map((path) => (
        <details key={path} open={path === paths[0]} className="rounded-md border border-line bg-sheet">
          <summary className="px-4 py-2 wrap-anywhere">
            <code>
              <VisibleText text={path} />
            </code>
          </summary>
          <div className={`grid gap-4 px-4 pb-4 ${chosen === "Phone" ? "grid-cols-2" : "xl:grid-cols-2"}`}>
            {(["before", "after"] as const).map((side) => (
              <Side key={side} jobId={jobId} path={path} side={side} pictures={shown} isPage={chosen === pageToRead} />
            ))}
          </div>
        </details>
      ))}
    </section>
  );
}

interface SideOfPage {
  jobId: string;
  path: string;
  side: "before" | "after";
  pictures: readonly DashboardPicture[];
  isPage: boolean;
}

function Side(props: SideOfPage) {
  const { jobId, path, side, isPage } = props;
  const words = side === "before" ? "Before" : "After";
  const picture = props.pictures.find((one) => one.path === path && one.side === side);
  if (!picture) {
    return (
      <div className="grid content-start gap-1">
        <h3 className="text-quiet">{words}</h3>
        <p className="rounded-md border border-dashed border-line px-4 py-10 text-center text-quiet">
          {side === "before" ? "This page is new." : "This page is gone."}
        </p>
      </div>
    );
  }
  const { width, height, marks, hasPage } = picture;
  const named = `path=${encodeURIComponent(path)}&side=${side}`;
  const alt = `${path} ${side === "before" ? "before the change" : "after the change"}`;
  if (isPage && hasPage) {
    return (
      <div className="grid content-start gap-1">
        <h3 className="text-quiet">{words}</h3>
        {/* Nothing is allowed: what the site's scripts left there neither runs nor reaches the dashboard. */}
        <iframe
          sandbox=""
          title={alt}
          src={apiUrl(`/jobs/${jobId}/page?${named}`)}
          className="h-[75vh] w-full rounded-md border border-line bg-white"
        />
      </div>
    );
  }
  const url = apiUrl(`/jobs/${jobId}/picture?${named}&width=${width}`);
  const colour = side === "before" ? "border-bad bg-bad/10" : "border-good bg-good/10";
  const share = (rows: number) => `${(100 * rows) / height}%`;
  return (
    <div className="grid content-start gap-1">
      <h3 className="text-quiet">{words}</h3>
      <a href={url} target="_blank" rel="noreferrer" className="relative block rounded-md border border-line">
        <img
          src={url}
          width={width}
          height={height}
          loading="lazy"
          alt={alt}
          className="block h-auto w-full rounded-md"
        />
        {marks.map(([from, to]) => (
          <span
            key={from}
            aria-hidden="true"
            className={`pointer-events-none absolute inset-x-0 border-l-4 ${colour}`}
            style={{ top: share(from), height: share(to - from) }}
          />
        ))}
      </a>
    </div>
  );
}
