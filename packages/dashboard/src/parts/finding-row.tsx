import type { DashboardSiteFinding } from "@emend/contract";
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";
import { Prose } from "./prose.tsx";
import { ScrollBox } from "./scroll-box.tsx";
import { VisibleText } from "./text.tsx";

type ShownFinding = Pick<DashboardSiteFinding, "severity" | "message" | "path" | "line" | "check">;

/** What a row says at first sight: always an icon and a word. */
export interface RowMark {
  icon: IconName;
  colour: string;
  word: string;
}

const severities: Record<ShownFinding["severity"], RowMark> = {
  error: { icon: "cross", colour: "text-bad", word: "Error" },
  warning: { icon: "warning", colour: "text-warn", word: "Warning" },
  info: { icon: "dots", colour: "text-quiet", word: "Info" },
};

/** What a check is about, in a writer's words. Other checks have names that say it. */
export const checkWords: Readonly<Record<string, string>> = {
  "broken-link": "a broken link",
  "broken-anchor": "a link to a missing heading",
  "broken-navigation": "a broken navigation entry",
  "bare-fence": "a code block without a language",
  "bare-link-text": "a link without words",
  "broken-redirect": "a broken redirect",
  "duplicate-heading": "two headings of one name",
  "duplicate-route": "two pages at one address",
  "duplicate-title": "two pages of one title",
  "front-matter": "the page's settings at its top",
  "heading-jump": "a heading that skips a level",
  "image-alt": "a picture without a description",
  "missing-file": "a missing file",
  "orphan-page": "a page in no navigation",
  "unclosed-fence": "a code block without an end",
  "unread-page": "a page that could not be read",
  "stale-reference": "a name that is gone",
  "stale-fact": "an old value",
  "missing-text": "something missing",
  "outdated-text": "an outdated text",
  "changed-claim": "code that changed",
  "gone-claim": "code that is gone",
  "api-mismatch": "not as in the API",
  "api-undocumented": "not documented",
};

/** A row of a list of findings or claims: its mark beside what it is about, above it on a phone. */
export function MarkedRow({ mark, children }: { mark: RowMark; children: ReactNode }) {
  return (
    <div className="grid gap-x-4 px-4 py-2 md:grid-cols-[96px_minmax(0,1fr)]">
      <span className={`inline-flex items-center gap-1.5 self-start font-medium ${mark.colour}`}>
        <Icon name={mark.icon} />
        {mark.word}
      </span>
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">{children}</div>
    </div>
  );
}

/** Lines of code that a finding or a claim is about. `source`: their place, with its address where the forge has one. */
export function CodeLines(props: { label: string; text: string; source?: { place: string; url: string | undefined } }) {
  const { label, text, source } = props;
  return (
    <ScrollBox label={label} className="rounded-md bg-hush px-3 py-1.5">
      {label !== "Code" && (
        <p className="text-[12px] leading-4 text-quiet">
          {label}
          {source && ", "}
          {source?.url !== undefined && (
            <a href={source.url} rel="noreferrer" className="underline underline-offset-3">
              <VisibleText text={source.place} />
            </a>
          )}
          {source && source.url === undefined && <VisibleText text={source.place} />}
        </p>
      )}
      <pre className="font-mono text-[13px]">
        <VisibleText text={text} />
      </pre>
    </ScrollBox>
  );
}

/** Findings of checks, each with severity, message and place. `place`: a link to it. `more`: what else is known about one. */
export function FindingList<T extends ShownFinding>(props: {
  findings: readonly T[];
  place?(finding: T): ReactNode;
  more?(finding: T): ReactNode;
}) {
  return (
    <ul className="divide-y divide-line">
      {props.findings.map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
        <li key={index}>
          <MarkedRow mark={severities[finding.severity]}>
            <div className="wrap-anywhere">
              <Prose text={finding.message} />
            </div>
            <p className="font-mono text-[13px] wrap-anywhere text-quiet">
              {props.place?.(finding) ?? <VisibleText text={`${finding.path}:${finding.line}`} />} ·{" "}
              <span className="whitespace-nowrap" title={finding.check}>
                {checkWords[finding.check] ?? finding.check}
              </span>
            </p>
            {props.more?.(finding)}
          </MarkedRow>
        </li>
      ))}
    </ul>
  );
}
