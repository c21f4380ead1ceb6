import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMatchingProjects } from "../api/projects.tsx";
import { newestJobsQuery, sessionQuery } from "../api/queries.ts";
import { jobTitle } from "../parts/format.ts";
import { PickList } from "../parts/pick-list.tsx";

interface Place {
  key: string;
  detail: string;
  label: string;
  go(): unknown;
}

const placesMax = 12;

const settingsTabs = [
  { tab: "members", label: "Members" },
  { tab: "directory", label: "Directory" },
  { tab: "installation", label: "Installation" },
  { tab: "status", label: "Status" },
  { tab: "audit", label: "Audit log" },
] as const;
/** The parts of a project's page, by the words that people look for. */
const projectSections: readonly { label: string; search: { tab?: string }; hash?: string }[] = [
  { label: "Automations", search: { tab: "automations" } },
  { label: "Policy", search: { tab: "policy" } },
  { label: "Model", search: {}, hash: "model" },
  { label: "Budget", search: {}, hash: "budget" },
  { label: "Guidance", search: { tab: "guidance" } },
  { label: "Connection", search: { tab: "connection" } },
  { label: "Webhooks", search: { tab: "webhooks" } },
];

/** Finds pages, projects with their parts, and jobs by a few letters. */
export function CommandPalette({ onClose }: { onClose(): void }) {
  const [text, setText] = useState("");
  // Not deferred: Enter must choose what the words of now find.
  const { places, isLooking } = usePlaces(text.trim());
  return (
    <PickList
      title="Go to"
      placeholder="Go to a page, a project or a job"
      listLabel="Places"
      text={text}
      onText={setText}
      items={places}
      onChoose={(place) => place.go()}
      onClose={onClose}
    >
      {!places.some(({ key }) => key !== "search") && !isLooking && (
        <p className="px-3 pt-1 pb-6 text-center text-quiet">No matches.</p>
      )}
    </PickList>
  );
}

/** `isLooking`: waiting for the server's jobs. */
function usePlaces(text: string): { places: readonly Place[]; isLooking: boolean } {
  const navigate = useNavigate();
  const projects = useMatchingProjects(text);
  const jobs = useQuery(newestJobsQuery(text === "" ? {} : { search: text.slice(0, 200) }));
  const known = useMatchingProjects("");
  const role = useQuery(sessionQuery).data?.role;
  const has = (label: string) => label.toLowerCase().includes(text.toLowerCase());
  const words = text.toLowerCase().split(/\s+/);
  const hasWords = (label: string) => words.every((word) => label.toLowerCase().includes(word));
  const pages: readonly Place[] = [
    { key: "jobs", detail: "page", label: "Jobs", go: () => navigate({ to: "/" }) },
    { key: "inbox", detail: "page", label: "Inbox", go: () => navigate({ to: "/inbox" }) },
    { key: "pulls", detail: "page", label: "Pull requests", go: () => navigate({ to: "/pulls", search: {} }) },
    { key: "projects", detail: "page", label: "Projects", go: () => navigate({ to: "/projects" }) },
    { key: "health", detail: "page", label: "Site health", go: () => navigate({ to: "/health", search: {} }) },
    { key: "usage", detail: "page", label: "Usage", go: () => navigate({ to: "/usage", search: {} }) },
    { key: "keys", detail: "page", label: "API keys", go: () => navigate({ to: "/keys" }) },
    { key: "search-page", detail: "page", label: "Search", go: () => navigate({ to: "/search", search: {} }) },
    { key: "settings", detail: "page", label: "Settings", go: () => navigate({ to: "/settings", search: {} }) },
    ...(role === "owner" ? settingsTabs : []).map(({ tab, label }) => ({
      key: tab,
      detail: "settings",
      label,
      go: () => navigate({ to: "/settings", search: { tab } }),
    })),
    { key: "start", detail: "page", label: "First steps", go: () => navigate({ to: "/start" }) },
  ];
  const places = [
    ...pages.filter(({ label }) => has(label)),
    ...projects.map(({ id, name }) => ({
      key: id,
      detail: "project",
      label: name,
      go: () => navigate({ to: "/projects/$id", params: { id } }),
    })),
    // A part that is named, of each project or of the one that is named too.
    ...projectSections
      .filter(({ label }) => text !== "" && words.some((word) => label.toLowerCase().startsWith(word)))
      .flatMap(({ label, search, hash = "" }) =>
        known.map(({ id, name }) => ({
          key: `${id} ${label}`,
          detail: "in a project",
          label: `${label} · ${name}`,
          go: () => navigate({ to: "/projects/$id", params: { id }, search, hash }),
        })),
      )
      .filter(({ label }) => hasWords(label)),
    ...(jobs.data?.jobs ?? []).map((job) => ({
      key: job.id,
      detail: "job",
      label: jobTitle(job),
      go: () => navigate({ to: "/jobs/$id", params: { id: job.id } }),
    })),
  ].slice(0, placesMax);
  const search = {
    key: "search",
    detail: "jobs, pages, findings",
    label: `Search for “${text}”`,
    go: () => navigate({ to: "/search", search: { text } }),
  };
  return { places: text.length < 2 ? places : [...places, search], isLooking: jobs.isPending };
}
