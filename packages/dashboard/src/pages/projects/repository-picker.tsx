import type { DashboardRepositories } from "@emend/contract";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { PickList } from "../../parts/pick-list.tsx";

/** A token that was typed, or the access of a project or a new GitHub App. */
export type RepositorySource = { forge: string; host: string; credential: string } | { from: string };
export type ListedRepository = DashboardRepositories["repositories"][number];

/** A hundred repositories each. */
const pagesMax = 20;
const shownMax = 100;

/** Loads all repositories of a credential, page after page. */
export function useRepositories(source: RepositorySource) {
  const id = useId();
  const listed = useInfiniteQuery({
    // Not the credential: it must not be kept. Each use loads its own list.
    queryKey: ["repositories", id, "from" in source ? source.from : source.host],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      request<DashboardRepositories>("/repositories", {
        body: { ...source, ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: (page) => page.next,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = listed;
  const pages = data?.pages ?? [];
  const isCut = hasNextPage && pages.length >= pagesMax;
  const wantsMore = hasNextPage && !isFetching && !isError && !isCut;
  useEffect(() => {
    if (wantsMore) void fetchNextPage();
  }, [wantsMore, fetchNextPage]);
  return {
    repositories: pages.flatMap(({ repositories }) => repositories),
    install: pages[0]?.install ?? null,
    isLoading: isFetching,
    isCut,
    error: listed.error,
    refetch: listed.refetch,
  };
}

/** Chooses one of the repositories that a credential reaches. */
export function RepositoryPicker(props: {
  source: RepositorySource;
  onChoose(repository: ListedRepository): void;
  onClose(): void;
}) {
  const [text, setText] = useState("");
  const { repositories, install, isLoading, isCut, error, refetch } = useRepositories(props.source);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = repositories.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)));
  const items = found.slice(0, shownMax).map((repository) => ({
    key: repository.url,
    label: repository.path,
    detail: repository.defaultBranch ?? "",
    repository,
  }));
  const count =
    found.length > shownMax ? `${found.length} match. The first ${shownMax} are shown.` : `${found.length} found.`;
  return (
    <PickList
      title="Choose a repository"
      placeholder="Type a part of its name"
      listLabel="Repositories"
      text={text}
      onText={setText}
      items={items}
      onChoose={({ repository }) => props.onChoose(repository)}
      onClose={props.onClose}
    >
      <div className="grid gap-3 border-t border-line px-4 py-3">
        <Problem error={error} />
        {install && <InstallApp install={install} onCheck={() => refetch()} />}
        {!error && !install && (
          <p role="status" className="text-quiet">
            {isLoading ? "Loading …" : repositories.length === 0 ? "This access reaches no repository." : count}
            {isCut && " Only the first 2,000 were loaded: type the address of another one."}
          </p>
        )}
        <Button className="justify-self-end" onClick={props.onClose}>
          Cancel
        </Button>
      </div>
    </PickList>
  );
}

/** The step on GitHub between creating an App and using it. */
export function InstallApp(props: { install: { name: string; url: string }; onCheck(): void }) {
  return (
    <div className="grid gap-3">
      <p>
        {props.install.name} is not installed yet. Install it on the repository of your docs. GitHub then brings you
        back here.
      </p>
      <div className="flex flex-wrap gap-2">
        <a href={props.install.url} rel="noreferrer" className={buttonLook("primary")}>
          Install on GitHub
        </a>
        <Button onClick={props.onCheck}>Check again</Button>
      </div>
    </div>
  );
}
