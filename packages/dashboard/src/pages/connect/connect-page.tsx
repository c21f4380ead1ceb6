import type { DashboardConsent } from "@emend/contract";
import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useProjectChoices } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { basePath } from "../../base-path.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput } from "../../parts/form.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";

const consentQuery = queryOptions({
  queryKey: ["consent"],
  queryFn: ({ signal }) => request<DashboardConsent>("/connect", { signal }),
  // Another program may have asked since.
  gcTime: 0,
  retry: false,
});

/** A program sent the browser here to ask for access. */
export function ConnectPage() {
  const { to } = useSearch({ from: "/connect" });
  // The program came before the login: its request can be made now.
  useEffect(() => {
    if (to !== undefined) location.replace(`${basePath}oauth/authorize?${to}`);
  }, [to]);
  if (to !== undefined) return <Pending error={null} />;
  return <Consent />;
}

const scopes = [
  { value: "write", words: "read and create jobs" },
  { value: "read", words: "read only" },
] as const;

function Consent() {
  const { data, error } = useQuery(consentQuery);
  const asked = data?.asked;
  const choices = useProjectChoices([]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [wanted, setWanted] = useState<"read" | "write">("write");
  const isWriter = asked?.scope === "write" && asked.mayWrite;
  const scope = isWriter ? wanted : "read";
  const projectId = chosen ?? choices.list[0]?.id;
  const leave = ({ location: next }: { location: string }) => location.assign(next);
  const allow = useMutation({
    mutationFn: () => request<{ location: string }>("/connect", { body: { id: asked?.id, projectId, scope } }),
    onSuccess: leave,
  });
  const refuse = useMutation({
    mutationFn: () => request<{ location: string }>("/connect/refuse", { body: { id: asked?.id } }),
    onSuccess: leave,
  });
  if (!data) return <Pending error={error} />;
  if (!asked) {
    return (
      <Empty>
        <title>Connect a program · Emend</title>
        <h1>No pending request</h1>
        <p>No program asks for access now. A request expires after ten minutes: connect the program again.</p>
      </Empty>
    );
  }

  return (
    <section className="mx-auto grid max-w-[520px] grid-cols-[minmax(0,1fr)] gap-5">
      <title>Connect a program · Emend</title>
      <Head title="Connect a program" />
      <p className="wrap-anywhere">
        A program that calls itself{" "}
        <b>
          <VisibleText text={asked.name} />
        </b>{" "}
        asks for access to Emend. Continue only if you have just started this yourself.
      </p>
      <Sheet className="grid gap-5 p-5">
        <dl className="grid gap-x-4 gap-y-2 sm:grid-cols-[auto_minmax(0,1fr)]">
          <dt className="text-quiet">Publisher</dt>
          <dd className="wrap-anywhere">
            <VisibleText text={asked.clientHost} />
          </dd>
          <dt className="text-quiet">Access goes to</dt>
          <dd className="wrap-anywhere">
            <VisibleText text={asked.returnsTo} />
          </dd>
        </dl>
        <Form
          action={allow}
          submit="Connect"
          cancel="Refuse"
          isDisabled={projectId === undefined || refuse.isPending}
          note={projectId === undefined ? "There is no project yet." : ""}
          onCancel={() => refuse.mutate()}
        >
          {choices.search}
          <SelectInput
            label="Project"
            value={projectId ?? ""}
            onValue={setChosen}
            options={choices.list.map(({ id, name }) => ({ value: id, words: name }))}
          />
          <SelectInput
            label="Access"
            {...(!isWriter && { help: asked.mayWrite ? "The program asks to read only." : "Viewers can only read." })}
            value={scope}
            onValue={setWanted}
            options={isWriter ? scopes : scopes.slice(1)}
          />
          <p className="text-quiet">
            It acts for you, in this project only, for up to a year. You can revoke it on the page API keys.
          </p>
        </Form>
      </Sheet>
    </section>
  );
}
