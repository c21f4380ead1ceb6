import type { DashboardNames } from "@emend/contract";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { VisibleText } from "./text.tsx";

export const namesQuery = queryOptions({
  queryKey: ["names"],
  queryFn: ({ signal }) => request<DashboardNames>("/names", { signal }),
  staleTime: 60_000,
});

/** Who did something, by name: `you`, a person, an API key, or what an installation calls itself. */
export function Person({ subject }: { subject: string }) {
  const you = useQuery(sessionQuery).data?.subject;
  const names = useQuery(namesQuery).data;
  return (
    <span title={subject}>
      <VisibleText text={personName(subject, you, names)} />
    </span>
  );
}

const kinds: Readonly<Record<string, string>> = { automation: "an automation", ci: "CI" };

/** `subject`: an address, `console`, or one of these after its kind, such as `key/…`, `comment/…` and `issue/…`. */
function personName(subject: string, you: string | undefined, names: DashboardNames | undefined): string {
  const [, kind = "", id = subject] = /^(user|key|comment|issue|automation|ci)\/(.+)$/s.exec(subject) ?? [];
  if (kind === "key") return `API key ${names?.keys.find((key) => key.id === id)?.name ?? id}`;
  if (kinds[kind]) return kinds[kind];
  if (id === you) return "you";
  if (id === "console") return "the console";
  return names?.people.find(({ email }) => email === id)?.name ?? id;
}
