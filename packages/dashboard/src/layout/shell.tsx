import type { DashboardBudget } from "@emend/contract";
import { type Query, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { budgetsQuery, inboxQuery, sessionQuery } from "../api/queries.ts";
import { ApiError, isAway, request } from "../api/request.ts";
import { appPath, basePath } from "../base-path.ts";
import { LoginPage } from "../pages/login/login-page.tsx";
import { SessionEnded } from "../pages/login/session-ended.tsx";
import { Button, Toggle } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { keepText, keptText } from "../parts/kept-text.ts";
import { Pending, Problem } from "../parts/notice.tsx";
import { RecoveryCodes } from "../parts/recovery-codes.tsx";
import { showInView } from "../parts/show-in-view.ts";
import { VisibleText } from "../parts/text.tsx";
import { CommandPalette } from "./command-palette.tsx";
import { OwnJobs } from "./own-jobs.tsx";
import { readTheme, saveTheme, type Theme, themes } from "./theme.ts";
import { useShortcuts } from "./use-shortcuts.ts";

const pages = [
  { to: "/", label: "Jobs" },
  { to: "/pulls", label: "Pull requests" },
  { to: "/projects", label: "Projects" },
  { to: "/health", label: "Health" },
  { to: "/usage", label: "Usage" },
  { to: "/keys", label: "API keys" },
] as const;

/** The shortcut on this machine's keyboard. */
const paletteKey = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘K" : "Ctrl K";

export function Shell() {
  const session = useQuery(sessionQuery);
  const { pathname } = useLocation();
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  useShortcuts({ onPalette: () => setOpen("palette"), onHelp: () => setOpen("help") });
  const close = () => setOpen(null);
  const leave = useMutation({
    mutationFn: () => request("/session/end", { body: {} }),
    onSuccess: () => location.reload(),
  });
  const isLoggedOut = session.error instanceof ApiError && session.error.status === 401;
  // A link's page is for people who are not logged in yet.
  const isOpen = session.data !== undefined || pathname.startsWith("/welcome");
  const main = useMain();
  // Pages with a diff use the full width; others are easier to read in a narrow column.
  const width = /^\/(jobs|pulls\/[^/]+)\/[^/]+$/.test(pathname) ? "" : "max-w-[1200px]";

  return (
    <>
      <button
        type="button"
        className="sr-only focus:not-sr-only focus:absolute focus:top-1 focus:left-1 focus:z-20 focus:rounded-md focus:bg-sheet focus:px-3 focus:py-2"
        onClick={() => main.current?.focus()}
      >
        Skip to content
      </button>
      <header className="border-b border-line bg-sheet">
        <div
          // As high as it will be, whoever it turns out to be.
          className={`flex flex-wrap items-center gap-x-4 px-4 min-[430px]:gap-x-6 sm:px-6 lg:min-h-12 ${isLoggedOut ? "min-h-12 content-center" : "min-h-[94px] content-start pt-1.5 lg:pt-0"} ${session.data ? "" : "lg:content-center"}`}
        >
          <Link to="/" className="flex items-center gap-2 text-[17px] leading-6 font-semibold">
            <Mark />
            {/* On a phone, the row is for what people use. */}
            <span className={session.data ? "max-[430px]:sr-only" : ""}>Emend</span>
          </Link>
          {session.data && (
            <>
              <nav
                aria-label="Pages"
                // Fits a phone. In a window that is narrower still, a faded edge shows that there is more.
                className="order-last -mx-4 flex w-[calc(100%+32px)] scroll-px-8 gap-2.5 overflow-x-auto pr-8 pl-4 text-[13px] [mask-image:linear-gradient(to_right,transparent,black_16px,black_calc(100%-32px),transparent)] [scrollbar-width:none] min-[430px]:gap-4 min-[430px]:text-[14px] sm:-mx-6 sm:w-[calc(100%+48px)] sm:gap-5 sm:pl-6 lg:order-none lg:mx-0 lg:w-auto lg:flex-1 lg:px-0 lg:[mask-image:none]"
              >
                {pages.map((page) => (
                  <Link
                    key={page.to}
                    ref={page === pageOf(pathname) ? showInView : null}
                    to={page.to}
                    // On a job's page, "Jobs" is current too; the router marks only exact matches.
                    aria-current={page === pageOf(pathname) ? "true" : undefined}
                    className={`border-y-2 border-t-transparent py-3 whitespace-nowrap hover:text-ink ${page === pageOf(pathname) ? "border-b-ink" : "border-b-transparent text-quiet"}`}
                  >
                    {page.label}
                  </Link>
                ))}
              </nav>
              <div className="ml-auto flex items-center gap-2.5 text-[13px] text-quiet min-[430px]:gap-4 min-[430px]:text-[14px]">
                <InboxLink isHere={pathname === "/inbox"} />
                <button type="button" className="min-h-9 hover:text-ink" onClick={() => setOpen("palette")}>
                  <span className="sm:hidden">Go to</span>
                  <span className="hidden sm:inline">
                    Go to <kbd className="rounded-md border border-line px-1 text-[12px]">{paletteKey}</kbd>
                  </span>
                </button>
                <button type="button" className="min-h-9 hover:text-ink" onClick={() => setOpen("help")}>
                  Help
                </button>
                <Link
                  to="/settings"
                  className={`border-y-2 border-t-transparent py-2 hover:text-ink lg:py-3 ${pathname.startsWith("/settings") ? "border-b-ink text-ink" : "border-b-transparent"}`}
                  aria-label={`Settings, ${session.data.subject}`}
                  title={session.data.subject}
                >
                  Settings
                </Link>
                <button
                  type="button"
                  className="min-h-9 whitespace-nowrap hover:text-ink"
                  disabled={leave.isPending}
                  onClick={() => leave.mutate()}
                >
                  Log out
                </button>
              </div>
            </>
          )}
        </div>
      </header>
      {/* Over the end of the page: they come at any time, and must not move it. */}
      {session.data && (
        <div className="fixed inset-x-0 bottom-0 z-10">
          <SessionEnded />
          <ServerAway />
          <BudgetNotice />
        </div>
      )}
      <main ref={main} tabIndex={-1} className={`mx-auto flow-root ${width} px-4 pb-16 outline-none sm:px-6`}>
        {leave.error && (
          <div className="pt-4">
            <Problem error={leave.error} />
          </div>
        )}
        {isOpen ? <Outlet /> : isLoggedOut ? <LoginPage /> : <Pending error={session.error} />}
      </main>
      {session.data && <OwnJobs />}
      {session.data && <RecoveryCodes />}
      {open === "palette" && <CommandPalette onClose={close} />}
      {open === "help" && <HelpDialog onClose={close} />}
    </>
  );
}

/** Where the focus goes on a new page, because the focused element is gone. */
function useMain() {
  const main = useRef<HTMLElement>(null);
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
        const hasGone = fromLocation !== undefined && pathChanged && document.activeElement === document.body;
        if (hasGone) main.current?.focus({ preventScroll: true });
      }),
    [router],
  );
  return main;
}

/** With the number of things that wait. It is above the word, so that nothing moves when it comes. */
function InboxLink({ isHere }: { isHere: boolean }) {
  const inbox = useQuery(inboxQuery).data;
  const count = inbox?.items.length ?? 0;
  const number = inbox?.hasMore ? `${count}+` : `${count}`;
  return (
    <Link
      to="/inbox"
      className={`relative border-y-2 border-t-transparent py-2 hover:text-ink lg:py-3 ${isHere ? "border-b-ink text-ink" : "border-b-transparent"}`}
    >
      Inbox{" "}
      {count > 0 && (
        <span className="absolute -top-0.5 -right-2.5 min-w-4 rounded-full bg-accent px-1 text-center text-[11px] leading-4 font-semibold text-on-accent lg:top-0.5">
          {number}
          <span className="sr-only"> {count === 1 ? "item" : "items"}</span>
        </span>
      )}
    </Link>
  );
}

/** A job's page belongs to Jobs; settings belong to no entry. */
function pageOf(pathname: string): (typeof pages)[number] | undefined {
  if (pathname === "/" || pathname === "/batch" || pathname.startsWith("/jobs/")) return pages[0];
  if (pathname === "/github-app") return pages.find(({ to }) => to === "/projects");
  return pages.find(({ to }) => to !== "/" && pathname.startsWith(to));
}

/** The proofreader's caret, the logo. */
function Mark() {
  return (
    <svg viewBox="0 0 20 20" className="size-5 text-accent" aria-hidden="true">
      <path
        d="M3 17 10 5l7 12"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

const askEveryMs = 5_000;

/** Shown above a page with old data while the server is unavailable. A page without data shows its own error. */
function ServerAway() {
  const queries = useQueryClient();
  const cache = queries.getQueryCache();
  const isOld = useSyncExternalStore(
    (hear) => cache.subscribe(hear),
    () => cache.getAll().some(mayBeOld),
  );
  useEffect(() => {
    if (!isOld) return;
    const timer = setInterval(() => queries.refetchQueries({ predicate: mayBeOld }), askEveryMs);
    return () => clearInterval(timer);
  }, [isOld, queries]);
  if (!isOld) return null;
  return (
    <div role="status" className="told-late border-t border-warn bg-sheet text-warn">
      <p className="mx-auto max-w-[1200px] px-4 py-2 sm:px-6">
        Can't reach the server. Retrying… This page may be out of date.
      </p>
    </div>
  );
}

/** Shown until closed, once a month in this browser: at 80 % and at 100 %. */
function BudgetNotice() {
  const budgets = useQuery(budgetsQuery).data ?? [];
  const [closed, setClosed] = useState(() => keptText("budgets-closed").split(" "));
  const keyOf = (budget: DashboardBudget) =>
    `${budget.projectId ?? "installation"}/${budget.month}/${budget.isSpent ? 100 : 80}`;
  function close(key: string) {
    // Entries of past months are dropped.
    const kept = [...closed.filter((one) => budgets.some((budget) => keyOf(budget) === one)), key];
    keepText("budgets-closed", kept.join(" "));
    setClosed(kept);
  }
  return budgets
    .filter((budget) => !closed.includes(keyOf(budget)))
    .map((budget) => (
      <div key={keyOf(budget)} role="status" className="border-t border-warn bg-sheet text-warn">
        <div className="mx-auto flex max-w-[1200px] items-center justify-between gap-4 px-4 py-2 sm:px-6">
          <p>
            {budget.project === null ? (
              "The installation's budget"
            ) : (
              <>
                The budget of <VisibleText text={budget.project} />
              </>
            )}{" "}
            for this month is {budget.isSpent ? "used up. New jobs are refused" : "almost used"}: {usedOf(budget)}.
          </p>
          <Button onClick={() => close(keyOf(budget))}>Dismiss</Button>
        </div>
      </div>
    ));
}

function usedOf({ jobs, jobsMax, costUsd, costUsdMax }: DashboardBudget): string {
  const dollars = costUsdMax === null ? [] : [`$${costUsd.toFixed(2)} of $${costUsdMax}`];
  return [...dollars, ...(jobsMax === null ? [] : [`${jobs} of ${jobsMax} jobs`])].join(", ");
}

/** A job's page shows its own connection state. */
function mayBeOld(query: Query): boolean {
  const { data, error, fetchFailureReason } = query.state;
  return query.isActive() && data !== undefined && query.queryKey[0] !== "job" && isAway(fetchFailureReason ?? error);
}

const keys = [
  [["c"], "write a new job"],
  [["j", "k"], "next and previous row"],
  [["Enter"], "open the row"],
  [["⌘K", "Ctrl K"], "go to a page, a project or a job"],
  [["⌘Enter", "Ctrl Enter"], "start the job that is being written"],
  [["Esc"], "close what is open"],
  [["?"], "this list"],
] as const;

const links = [
  { href: `${appPath}/start`, words: "First steps" },
  { href: `${appPath}/docs/index`, words: "Docs" },
  { href: `${basePath}reference/`, words: "API reference" },
] as const;

function HelpDialog({ onClose }: { onClose(): void }) {
  const [theme, setTheme] = useState(readTheme);
  const session = useQuery(sessionQuery).data;
  const choose = (chosen: Theme) => {
    saveTheme(chosen);
    setTheme(chosen);
  };
  return (
    <Dialog title="Help" onClose={onClose}>
      <ul className="grid justify-items-start gap-2">
        {links.map(({ href, words }) => (
          <li key={href}>
            <a href={href} className="underline underline-offset-3">
              {words}
            </a>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h3 className="font-semibold">Theme</h3>
        <Toggle<Theme> label="Theme" options={themes} chosen={theme} onChoose={choose} />
      </div>
      <h3 className="font-semibold">Keyboard shortcuts</h3>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {keys.map(([names, words]) => (
          <div key={words} className="contents">
            <dt className="flex flex-wrap content-start gap-1">
              {names.map((name) => (
                <kbd key={name} className="rounded-md border border-line bg-hush px-1.5 py-px">
                  {name}
                </kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <div className="flex items-center justify-between gap-3">
        <p className="text-quiet">
          Emend {session?.version}
          {session?.cell && `, cell ${session.cell}`}
        </p>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
