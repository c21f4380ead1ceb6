import type { DashboardSiteCheck } from "@emend/contract";
import { Age } from "../../parts/age.tsx";
import { Chart } from "../../parts/chart.tsx";
import { FigureRow } from "../../parts/figures.tsx";
import { localTime } from "../../parts/local-time.ts";
import { Sheet } from "../../parts/sheet.tsx";
import { countsOf } from "./counts.ts";

/** As those who make them write them. */
const frameworkNames: Readonly<Record<string, string>> = {
  docusaurus: "Docusaurus",
  gitbook: "GitBook",
  markdown: "Markdown",
  mintlify: "Mintlify",
  mkdocs: "MkDocs",
  nextra: "Nextra",
  starlight: "Starlight",
  vitepress: "VitePress",
};

/** How the site stands, and how it came to stand there. */
export function Trend({ checks }: { checks: readonly DashboardSiteCheck[] }) {
  const counts = checks.map(countsOf);
  const [latest, now] = [checks.at(-1), counts.at(-1)];
  if (!latest || !now) return null;
  return (
    <>
      <FigureRow
        figures={[
          { word: "Pages", figure: latest.pages, note: frameworkNames[latest.framework] ?? latest.framework },
          { word: "Broken links", figure: now.broken, note: "links and anchors" },
          { word: "Orphans", figure: now.orphans, note: "in no navigation" },
          { word: "Other errors", figure: now.errors },
          { word: "Other warnings", figure: now.warnings },
        ]}
      />
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-3 p-4">
        <Chart
          title="Findings over time"
          kind="lines"
          points={checks.map(({ checkedAt }) => localTime(checkedAt))}
          series={[
            { name: "broken links", colour: "text-bad", values: counts.map(({ broken }) => broken) },
            { name: "orphans", colour: "text-warn", dash: "6 3", values: counts.map(({ orphans }) => orphans) },
            { name: "other errors", colour: "text-ink", dash: "2 3", values: counts.map(({ errors }) => errors) },
            {
              name: "other warnings",
              colour: "text-quiet",
              dash: "8 3 2 3",
              values: counts.map(({ warnings }) => warnings),
            },
          ]}
        />
        <p className="text-quiet">
          Checked <Age at={latest.checkedAt} />: <code>{latest.branch}</code> at{" "}
          <code>{latest.commit.slice(0, 10)}</code>. Emend checks daily and after each job.
        </p>
      </Sheet>
    </>
  );
}
