import type { DashboardProject, DashboardProjectPage } from "@emend/contract";
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { request } from "./request.ts";

/** On most installations the first page has all projects. More are searched for, or asked for by their ids. */
function pageQuery(query: { search?: string; ids?: string }) {
  return queryOptions({
    queryKey: ["projects", query],
    queryFn: ({ signal }) => request<DashboardProjectPage>(pathOf(query), { signal }),
  });
}

export const projectsQuery = queryOptions({ ...pageQuery({}), select: (page) => page.projects });

export function projectListQuery(search: string) {
  return infiniteQueryOptions({
    queryKey: ["projects", "list", search],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      request<DashboardProjectPage>(pathOf({ search, cursor: pageParam }), { signal }),
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

function pathOf(query: Readonly<Record<string, string>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  return given.length === 0 ? "/projects" : `/projects?${new URLSearchParams(given)}`;
}

const idsPerRequest = 50;

/** These projects by id, without those that do not exist. */
export function useProjects(ids: readonly string[]) {
  const first = useQuery(pageQuery({}));
  const found = new Map(first.data?.projects.map((project) => [project.id, project]));
  const missing = first.data?.nextCursor ? [...new Set(ids)].filter((id) => !found.has(id)) : [];
  const pieces = Array.from({ length: Math.ceil(missing.length / idsPerRequest) }, (_, index) =>
    missing.slice(index * idsPerRequest, (index + 1) * idsPerRequest),
  );
  const more = useQueries({ queries: pieces.map((piece) => pageQuery({ ids: piece.join(",") })) });
  for (const project of more.flatMap(({ data }) => data?.projects ?? [])) found.set(project.id, project);
  return {
    found: found as ReadonlyMap<string, DashboardProject>,
    isPending: first.isPending || more.some((each) => each.isPending),
    error: first.error ?? more.find(({ error }) => error)?.error ?? null,
  };
}

/** At most a page. All in it match, whoever looked: the server if there are more, else the browser. */
export function useMatchingProjects(text: string): readonly DashboardProject[] {
  const first = useQuery(pageQuery({}));
  const hasMore = Boolean(first.data?.nextCursor);
  const search = text.trim().slice(0, 200);
  const page = useQuery({
    ...pageQuery(search === "" ? {} : { search }),
    enabled: hasMore,
    placeholderData: keepPreviousData,
  });
  if (hasMore) return page.data?.projects ?? [];
  const has = (part: string) => part.toLowerCase().includes(search.toLowerCase());
  return (first.data?.projects ?? []).filter(({ id, name }) => has(name) || has(id));
}

export interface ProjectChoices {
  list: readonly DashboardProject[];
  /** A search field, if there are more projects than a list can show. */
  search: ReactNode;
}

/** What a select or a list of checkboxes offers: the chosen ones always. */
export function useProjectChoices(chosenIds: readonly string[]): ProjectChoices {
  const [text, setText] = useState("");
  const hasMore = Boolean(useQuery(pageQuery({})).data?.nextCursor);
  const listed = useMatchingProjects(text);
  const { found } = useProjects(chosenIds);
  const others = chosenIds.flatMap((id) => (listed.some((each) => each.id === id) ? [] : (found.get(id) ?? [])));
  return {
    list: [...others, ...listed],
    search: hasMore && (
      <input
        type="search"
        aria-label="Find a project"
        placeholder="Find a project"
        className="w-40 min-w-0"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
        // In a form, Enter would submit it.
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
    ),
  };
}

export function ProjectSelect(props: {
  choices: ProjectChoices;
  label: string;
  /** For no project in particular, with an empty value. */
  all?: string;
  value: string;
  className: string;
  onChoose(id: string): unknown;
}) {
  return (
    <>
      {props.choices.search}
      <select
        aria-label={props.label}
        className={props.className}
        value={props.value}
        onChange={(event) => props.onChoose(event.target.value)}
      >
        {props.all !== undefined && <option value="">{props.all}</option>}
        {props.choices.list.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}
