import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { useMatchingProjects } from "../api/projects.tsx";
import { newestJobsQuery } from "../api/queries.ts";
import { Dialog } from "../parts/dialog.tsx";
import { jobTitle } from "../parts/format.ts";
import { showInView } from "../parts/show-in-view.ts";
import { VisibleText } from "../parts/text.tsx";

interface Place {
  key: string;
  kind: string;
  label: string;
  go(): unknown;
}

const placesMax = 12;

/** Finds pages, projects and jobs by a few letters. */
export function CommandPalette({ onClose }: { onClose(): void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { places, isLooking } = usePlaces(useDeferredValue(text.trim()));
  // The number of results may change.
  const chosen = Math.min(at, places.length - 1);
  const go = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    place.go();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(places.length - 1, chosen + step)));
    } else if (event.key === "Enter") {
      // The focus returns to the previous element, and this key press must not activate it.
      event.preventDefault();
      go(places[chosen]);
    }
  };

  return (
    <Dialog title="Go to" isBare onClose={onClose}>
      <input
        autoFocus
        className="w-full rounded-b-none border-0 border-b px-4 py-3 text-[16px] outline-none"
        placeholder="Go to a page, a project or a job"
        aria-label="Go to"
        role="combobox"
        aria-expanded="true"
        aria-controls="places"
        aria-activedescendant={chosen >= 0 ? `place-${chosen}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="places" role="listbox" aria-label="Places" className="max-h-[50vh] overflow-y-auto p-1.5">
        {places.map((place, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys
          <div
            key={place.key}
            ref={index === chosen ? showInView : null}
            id={`place-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className="flex cursor-pointer items-center gap-3 rounded-md px-3 py-2 hover:bg-hush aria-selected:bg-hush"
            onClick={() => go(place)}
          >
            <span className="min-w-0 flex-1 truncate">
              <VisibleText text={place.label} />
            </span>
            <span className="text-quiet">{place.kind}</span>
          </div>
        ))}
        {places.length === 0 && !isLooking && <p className="px-3 py-6 text-center text-quiet">No matches.</p>}
      </div>
    </Dialog>
  );
}

/** `isLooking`: waiting for the server's jobs. */
function usePlaces(text: string): { places: readonly Place[]; isLooking: boolean } {
  const navigate = useNavigate();
  const projects = useMatchingProjects(text);
  const jobs = useQuery(newestJobsQuery(text === "" ? {} : { search: text.slice(0, 200) }));
  const has = (label: string) => label.toLowerCase().includes(text.toLowerCase());
  const pages: readonly Place[] = [
    { key: "jobs", kind: "page", label: "Jobs", go: () => navigate({ to: "/" }) },
    { key: "pulls", kind: "page", label: "Pull requests", go: () => navigate({ to: "/pulls", search: {} }) },
    { key: "projects", kind: "page", label: "Projects", go: () => navigate({ to: "/projects" }) },
    { key: "health", kind: "page", label: "Site health", go: () => navigate({ to: "/health", search: {} }) },
    { key: "usage", kind: "page", label: "Usage", go: () => navigate({ to: "/usage", search: {} }) },
    { key: "keys", kind: "page", label: "API keys", go: () => navigate({ to: "/keys" }) },
    { key: "settings", kind: "page", label: "Settings", go: () => navigate({ to: "/settings", search: {} }) },
    { key: "start", kind: "page", label: "First steps", go: () => navigate({ to: "/start" }) },
  ];
  const places = [
    ...pages.filter(({ label }) => has(label)),
    ...projects.map(({ id, name }) => ({
      key: id,
      kind: "project",
      label: name,
      go: () => navigate({ to: "/projects/$id", params: { id } }),
    })),
    ...(jobs.data?.jobs ?? []).map((job) => ({
      key: job.id,
      kind: "job",
      label: jobTitle(job),
      go: () => navigate({ to: "/jobs/$id", params: { id: job.id } }),
    })),
  ].slice(0, placesMax);
  return { places, isLooking: jobs.isPending };
}
