import type { Claim, DashboardPage } from "@emend/contract";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useProjects } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { buttonLook } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { CodeLines, FindingList, MarkedRow, type RowMark } from "../../parts/finding-row.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { PagePlace } from "../../parts/page-place.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { ProposeFix } from "./findings.tsx";
import { PageEditor } from "./page-editor.tsx";
import { Cause, ClaimActions } from "./truth.tsx";

const route = getRouteApi("/health/page");
const everyMs = 3_000;

function pageQuery(projectId: string, path: string) {
  return queryOptions({
    queryKey: ["page", projectId, path],
    queryFn: ({ signal }) =>
      request<DashboardPage>(`/projects/${projectId}/page?path=${encodeURIComponent(path)}`, { signal }),
    // A worker reads a new claim within moments.
    refetchInterval: (query) =>
      query.state.data?.claims.some(({ state, problem }) => state === "new" && problem === null) ? everyMs : false,
  });
}

/** A page of the docs: its text, the claims that it makes, and what the checks found on it. */
export function DocsPage() {
  const { project: projectId = "", path = "", line = 0, edit = false } = route.useSearch();
  const project = useProjects([projectId]).found.get(projectId);
  const navigate = useNavigate();
  const page = useQuery(pageQuery(projectId, path));
  const mayWrite = useMayWrite();
  const [lines, setLines] = useState("");
  if (!page.data) return <Pending error={page.error} />;
  const { text, claims, findings, commit, repositories } = page.data;
  return (
    <>
      <title>{`${path} · Emend`}</title>
      <header className="grid grid-cols-[minmax(0,1fr)] gap-2 pt-8 pb-5">
        <h1 className="font-mono text-[20px] wrap-anywhere">
          <VisibleText text={path} />
        </h1>
        <p className="flex flex-wrap gap-x-4 text-quiet">
          <Link to="/health" search={{ project: projectId }} className="underline underline-offset-3">
            Site health
          </Link>
          {commit && (
            <span>
              at <code>{commit.slice(0, 10)}</code>
            </span>
          )}
        </p>
      </header>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
        {findings.length > 0 && (
          <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Findings">
            <h2>
              {findings.length} {findings.length === 1 ? "finding" : "findings"}
            </h2>
            <Sheet className="overflow-hidden">
              <FindingList
                findings={findings}
                place={(finding) => <PagePlace projectId={projectId} path={path} line={finding.line} />}
                more={(finding) => <ProposeFix projectId={projectId} finding={finding} />}
              />
            </Sheet>
          </section>
        )}
        {text !== null && commit !== null && mayWrite && edit && (
          <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Editor">
            <h2>Edit this page</h2>
            <PageEditor
              key={path}
              {...{ project, projectId, path, commit, text, line }}
              onClose={() => navigate({ to: "/health/page", search: { project: projectId, path } })}
            />
          </section>
        )}
        {text !== null && !(mayWrite && edit) && (
          <PageText text={text} claims={claims} shown={line} lines={lines} onLines={mayWrite ? setLines : null}>
            {mayWrite && (
              <Link
                to="/health/page"
                search={{ project: projectId, path, line, edit: true }}
                className={buttonLook("ordinary")}
              >
                Edit
              </Link>
            )}
          </PageText>
        )}
        <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Claims">
          <h2>
            {claims.length} {claims.length === 1 ? "claim" : "claims"}
          </h2>
          <Sheet className="overflow-hidden">
            {claims.length === 0 && (
              <Empty>
                <p>
                  A claim binds lines of this page to the lines of code that they rely on. Emend tells you when the code
                  changes.
                </p>
              </Empty>
            )}
            <ul className="divide-y divide-line">
              {claims.map((claim) => (
                <li key={claim.id}>
                  <ClaimRow projectId={projectId} claim={claim} mayWrite={mayWrite} />
                </li>
              ))}
            </ul>
          </Sheet>
        </section>
        {mayWrite && (
          <AddClaim {...{ projectId, path, lines, repositories }} onLines={setLines} onAdded={() => setLines("")} />
        )}
      </div>
    </>
  );
}

const states: Record<Claim["state"], RowMark> = {
  new: { icon: "queued", colour: "text-quiet", word: "New" },
  same: { icon: "check", colour: "text-good", word: "Same" },
  changed: { icon: "warning", colour: "text-warn", word: "Changed" },
  gone: { icon: "cross", colour: "text-bad", word: "Gone" },
};

function ClaimRow({ projectId, claim, mayWrite }: { projectId: string; claim: Claim; mayWrite: boolean }) {
  const { page, source, state, found, cause, problem } = claim;
  const repository = source.repository === null ? "" : `@${source.repository}/`;
  return (
    <MarkedRow mark={states[state]}>
      <p className="wrap-anywhere">
        {page.text === null ? <span className="text-quiet">Not read yet</span> : <VisibleText text={page.text} />}
      </p>
      <p className="font-mono text-[13px] wrap-anywhere text-quiet">
        {page.line === page.lineEnd ? "line" : "lines"} {spanOf(page)} ·{" "}
        <VisibleText text={`${repository}${source.path}:${spanOf(source)}`} />
      </p>
      {source.text !== null && <CodeLines label={found ? "Was" : "Code"} text={source.text} />}
      {found && <CodeLines label="Is now" text={found.text} />}
      {cause && <Cause cause={cause} repository={source.repository} />}
      {problem !== null && (
        <p className="wrap-anywhere text-warn">
          <VisibleText text={problem} />
        </p>
      )}
      {mayWrite && <ClaimActions projectId={projectId} id={claim.id} mayConfirm={state === "changed"} />}
    </MarkedRow>
  );
}

function spanOf({ line, lineEnd }: { line: number; lineEnd: number }): string {
  return line === lineEnd ? String(line) : `${line}-${lineEnd}`;
}

const ownRepository = "";

interface AddClaimProps {
  projectId: string;
  path: string;
  lines: string;
  repositories: readonly string[];
  onLines(lines: string): void;
  onAdded(): void;
}

function AddClaim({ projectId, path, lines, repositories, onLines, onAdded }: AddClaimProps) {
  const queries = useQueryClient();
  const [repository, setRepository] = useState(repositories[0] ?? ownRepository);
  const [file, setFile] = useState("");
  const [fileLines, setFileLines] = useState("");
  const add = useMutation({
    mutationFn() {
      const inside = repository === ownRepository ? "" : `@${repository}/`;
      const body = { page: `${path}:${lines}`, source: `${inside}${file}:${fileLines}` };
      return request<Claim>(`/projects/${projectId}/claims`, { body });
    },
    async onSuccess() {
      setFile("");
      setFileLines("");
      onAdded();
      await queries.invalidateQueries({ queryKey: ["page", projectId] });
    },
  });
  const isFilled = lines !== "" && file !== "" && fileLines !== "";
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Add a claim">
      <h2>Add a claim</h2>
      <Sheet className="p-4">
        <Form action={add} submit="Add claim" isDisabled={!isFilled}>
          <div className="grid gap-4 md:grid-cols-[160px_minmax(0,1fr)_minmax(0,2fr)_140px]">
            <TextInput label="Lines of the page" isCode placeholder="12-14" value={lines} onText={onLines} />
            <SelectInput
              label="Repository"
              value={repository}
              onValue={setRepository}
              options={[
                ...repositories.map((name) => ({ value: name, words: name })),
                { value: ownRepository, words: "This repository" },
              ]}
            />
            <TextInput label="File" isCode placeholder="src/net.ts" value={file} onText={setFile} />
            <TextInput label="Lines of the file" isCode placeholder="4" value={fileLines} onText={setFileLines} />
          </div>
        </Form>
      </Sheet>
    </section>
  );
}

interface PageTextProps {
  text: string;
  claims: readonly Claim[];
  /** The line that the address names; 0 if none. */
  shown: number;
  lines: string;
  /** Null: nothing can be chosen. */
  onLines: ((lines: string) => void) | null;
  children: ReactNode;
}

function showLine(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "center" });
}

/** The page's source. A click on a line's number chooses it; a second click on a later one, all lines up to it. */
function PageText({ text, claims, shown, lines, onLines, children }: PageTextProps) {
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(lines) ?? [];
  const chosen = { from: Number(first ?? 0), to: Number(last ?? first ?? 0) };
  const isClaimed = (line: number) => claims.some(({ page }) => page.line <= line && line <= page.lineEnd);
  const choose = (line: number) =>
    onLines?.(chosen.from > 0 && last === undefined && line > chosen.from ? `${chosen.from}-${line}` : String(line));
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Text">
      <div className="flex items-center justify-between gap-3">
        <h2>Text</h2>
        {children}
      </div>
      <Sheet className="overflow-hidden">
        <ol className="py-2 font-mono text-[13px] leading-6">
          {text
            .replace(/\r?\n$/, "")
            .split(/\r?\n/)
            .map((words, index) => {
              const line = index + 1;
              const isChosen = chosen.from <= line && line <= chosen.to;
              const look = isChosen || line === shown ? "bg-accent/15" : isClaimed(line) ? "bg-hush" : "";
              return (
                <li
                  // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
                  key={index}
                  ref={line === shown ? showLine : undefined}
                  aria-current={line === shown ? "location" : undefined}
                  className={`grid grid-cols-[48px_minmax(0,1fr)] gap-2 pr-4 ${look}`}
                >
                  {onLines ? (
                    <button
                      type="button"
                      aria-label={`Choose line ${line}`}
                      aria-pressed={isChosen}
                      className="self-start text-right text-quiet hover:text-ink"
                      onClick={() => choose(line)}
                    >
                      {line}
                    </button>
                  ) : (
                    <span className="text-right text-quiet">{line}</span>
                  )}
                  <span className="whitespace-pre-wrap wrap-anywhere">
                    <VisibleText text={words} />
                  </span>
                </li>
              );
            })}
        </ol>
      </Sheet>
    </section>
  );
}
