import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo } from "react";
import { navigation } from "../../../../../docs/docs.json";
import { Links, Markdown } from "../../diff/preview/markdown.tsx";
import { parsePage } from "../../diff/preview/parse-page.ts";
import { Empty, Pending } from "../../parts/notice.tsx";

const folder = "../../../../../docs/";
/** Built into the dashboard: they describe the version that runs. Each is loaded when somebody reads it. */
const texts = import.meta.glob<string>("../../../../../docs/*.md", { query: "?raw", import: "default" });
const groups = navigation.groups
  .map(({ group, pages }) => ({ group, pages: pages.filter((page) => `${folder}${page}.md` in texts) }))
  .filter(({ pages }) => pages.length > 0);
const abbreviations = ["api", "cli"];
const route = getRouteApi("/docs/$page");

/** Emend's own docs. */
export function ReadDocsPage() {
  const { page } = route.useParams();
  const text = useQuery({
    queryKey: ["docs", page],
    queryFn: async () => (await texts[`${folder}${page}.md`]?.()) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-8 pt-8 lg:grid-cols-[200px_minmax(0,1fr)]">
      <title>{`${nameOf(page)} · Emend`}</title>
      <nav aria-label="Docs" className="order-last grid gap-4 lg:sticky lg:top-4 lg:order-none">
        {groups.map(({ group, pages }) => (
          <div key={group}>
            <h2 className="text-[14px] leading-6 text-quiet">{group}</h2>
            <ul>
              {pages.map((each) => (
                <li key={each}>
                  <Link
                    to="/docs/$page"
                    params={{ page: each }}
                    aria-current={each === page ? "page" : undefined}
                    className="block rounded-md px-2 py-1 hover:bg-hush aria-[current=page]:bg-hush aria-[current=page]:font-semibold"
                  >
                    {nameOf(each)}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      {text.data ? (
        <Text key={page} text={text.data} />
      ) : text.data === null ? (
        <Empty>
          <p>Page not found.</p>
        </Empty>
      ) : (
        // The list of pages is below it on a phone.
        <div className="min-h-dvh">
          <Pending error={text.error} rows={12} />
        </div>
      )}
    </div>
  );
}

function Text({ text }: { text: string }) {
  const { tree } = useMemo(() => parsePage("page.md", text), [text]);
  const { hash } = useLocation();
  useEffect(() => {
    if (hash !== "") document.getElementById(hash)?.scrollIntoView();
  }, [hash]);
  return (
    <article className="grid max-w-[760px] grid-cols-[minmax(0,1fr)] gap-4 text-[16px] leading-[26px] wrap-anywhere">
      <Links value={linkTo}>
        <Markdown tree={tree} />
      </Links>
    </article>
  );
}

const linkLook = "underline decoration-quiet underline-offset-3 hover:decoration-ink";

/** Of a link in the docs: another page, another site, or words alone where the dashboard has no such page. */
function linkTo(url: string, words: ReactNode): ReactNode {
  if (/^https?:/.test(url)) {
    return (
      <a href={url} rel="noreferrer" className={linkLook}>
        {words}
      </a>
    );
  }
  const [, page = "", hash = ""] = /^([\w-]*)(?:\.md)?(?:#(.*))?$/.exec(url) ?? [];
  if (page === "" && hash !== "") {
    return (
      <a href={`#${hash}`} className={linkLook}>
        {words}
      </a>
    );
  }
  if (!(`${folder}${page}.md` in texts)) return words;
  return (
    <Link to="/docs/$page" params={{ page }} hash={hash} className={linkLook}>
      {words}
    </Link>
  );
}

function nameOf(page: string): string {
  if (page === "index") return "Overview";
  if (abbreviations.includes(page)) return page.toUpperCase();
  return `${page.charAt(0).toUpperCase()}${page.slice(1).replaceAll("-", " ")}`;
}
