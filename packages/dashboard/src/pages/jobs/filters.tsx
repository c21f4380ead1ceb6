import type { DashboardProject } from "@emend/contract";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { JobSearch } from "../../api/queries.ts";

const statuses = ["active", "completed", "failed", "archived"] as const;
const typingPauseMs = 250;

export function Filters({ projects, filter }: { projects: readonly DashboardProject[]; filter: JobSearch }) {
  const navigate = useNavigate();
  const [text, setText] = useState(filter.search ?? "");
  const set = (change: JobSearch) => navigate({ to: "/", search: { ...filter, ...change }, replace: true });

  // A link, or going back, may ask for something else than what was typed.
  const asked = useRef(text);
  useEffect(() => {
    if (asked.current === (filter.search ?? "")) return;
    asked.current = filter.search ?? "";
    setText(asked.current);
  }, [filter.search]);

  useEffect(() => {
    if (text === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = text;
      void navigate({ to: "/", search: { ...filter, search: text || undefined }, replace: true });
    }, typingPauseMs);
    return () => clearTimeout(timer);
  }, [text, filter, navigate]);

  return (
    <search className="flex flex-wrap gap-2 pb-3">
      <input
        type="search"
        aria-label="Search jobs"
        placeholder="Search jobs"
        className="min-w-40 flex-1 basis-full sm:basis-0"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <select
        aria-label="Status"
        className="flex-1 sm:flex-none"
        value={filter.status ?? ""}
        onChange={(event) => set({ status: event.target.value || undefined })}
      >
        <option value="">All statuses</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {status.charAt(0).toUpperCase() + status.slice(1)}
          </option>
        ))}
      </select>
      {projects.length > 1 && (
        <select
          aria-label="Show project"
          className="min-w-0 flex-1 sm:max-w-60 sm:flex-none"
          value={filter.project ?? ""}
          onChange={(event) => set({ project: event.target.value || undefined })}
        >
          <option value="">All projects</option>
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </search>
  );
}
