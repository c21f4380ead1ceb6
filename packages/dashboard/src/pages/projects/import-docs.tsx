import type { DashboardProject } from "@emend/contract";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ChangeEvent, type DragEvent, useState } from "react";
import { healthQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button, buttonLook, CopyBlock } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Problem } from "../../parts/notice.tsx";
import { countsOf } from "../health/health-page.tsx";
import { framesOf, readChosen, readDropped } from "./chosen-files.ts";

interface ImportState {
  isEmpty: boolean;
  templates: readonly { name: string; label: string }[];
}

/** The first content of a repository that Emend hosts. Shown until it has some. */
export function ImportDocs({ project, content }: { project: DashboardProject; content: ImportState }) {
  return content.isEmpty ? <Importer project={project} templates={content.templates} /> : null;
}

export function importQuery(projectId: string) {
  return queryOptions({
    queryKey: ["import", projectId],
    queryFn: ({ signal }) => request<ImportState>(`/projects/${projectId}/import`, { signal }),
  });
}

function Importer({ project, templates }: { project: DashboardProject; templates: ImportState["templates"] }) {
  const queries = useQueryClient();
  const [isOver, setIsOver] = useState(false);
  const [url, setUrl] = useState("");
  const [template, setTemplate] = useState(templates[0]?.name ?? "");
  const path = `/projects/${project.id}/import`;
  const onSuccess = () => queries.invalidateQueries({ queryKey: ["health", project.id] });
  const upload = useMutation({
    mutationFn: async (given: Promise<{ path: string; file: File }[]>) =>
      request(`${path}/files`, { body: framesOf(await readChosen(await given)) }),
    onSuccess,
  });
  const fetchUrl = useMutation({ mutationFn: () => request(path, { body: { url: url.trim() } }), onSuccess });
  const begin = useMutation({ mutationFn: () => request(path, { body: { template } }), onSuccess });
  const isBusy = [upload, fetchUrl, begin].some(({ isPending }) => isPending);
  if ([upload, fetchUrl, begin].some(({ isSuccess }) => isSuccess)) return <Imported project={project} />;
  function choose({ target }: ChangeEvent<HTMLInputElement>) {
    const files = [...(target.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
    target.value = "";
    if (files.length > 0) upload.mutate(Promise.resolve(files));
  }
  function drop(event: DragEvent) {
    event.preventDefault();
    setIsOver(false);
    // The list is empty after this event.
    if (!isBusy) upload.mutate(readDropped(event.dataTransfer.items));
  }
  return (
    <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-5 p-5">
      <div>
        <h2 className="text-[18px] leading-7">Add your docs</h2>
        <p className="text-quiet">This repository is empty. Choose how it gets its first pages.</p>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside do the same for the keyboard */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
        className={`grid justify-items-center gap-3 rounded-md border border-dashed px-4 py-6 text-center ${isOver ? "border-accent bg-hush" : "border-line"}`}
      >
        <p>{upload.isPending ? "Importing …" : "Drop a folder or a zip file here, or"}</p>
        <div className="flex flex-wrap justify-center gap-2">
          <FileButton label="Choose a folder" look="primary" isFolder isDisabled={isBusy} onChoose={choose} />
          <FileButton label="Choose a zip file" isDisabled={isBusy} onChoose={choose} />
        </div>
        <p className="text-quiet">Up to 60 MB. Files in node_modules are left out.</p>
      </div>
      <Problem error={upload.error} />
      <Form
        action={fetchUrl}
        submit={fetchUrl.isPending ? "Importing …" : "Import"}
        look="ordinary"
        isDisabled={isBusy || url.trim() === ""}
      >
        <TextInput
          label="Or import a public git repository"
          type="url"
          isCode
          maxLength={1000}
          placeholder="https://github.com/owner/docs"
          help="Emend copies its branches once. It does not follow later changes."
          value={url}
          onText={setUrl}
        />
      </Form>
      <Form action={begin} submit="Start from this template" look="ordinary" isDisabled={isBusy}>
        <SelectInput
          label="Or start from a template"
          value={template}
          onValue={setTemplate}
          options={templates.map(({ name, label }) => ({ value: name, words: label }))}
        />
      </Form>
      <details>
        <summary className="text-quiet">Push with git instead</summary>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-2 pt-2">
          <p className="text-quiet">From a checkout of your docs. Use an API key as the password:</p>
          <CopyBlock text={`git push ${project.repositoryUrl} HEAD:${project.baseRef ?? "main"}`} />
        </div>
      </details>
    </Sheet>
  );
}

function Imported({ project }: { project: DashboardProject }) {
  const health = useQuery({
    ...healthQuery(project.id),
    refetchInterval: ({ state: { data } }) => ((data?.checks.length ?? 0) > 0 ? false : 1_000),
  });
  const last = health.data?.checks.at(-1);
  const count = last && Object.values(countsOf(last)).reduce((sum, each) => sum + each, 0);
  return (
    <Sheet className="flex flex-wrap items-center justify-between gap-3 p-5">
      <p role="status">
        Your docs are here.{" "}
        {count === undefined
          ? "Emend checks them now."
          : `Emend checked them: ${count === 1 ? "1 finding" : `${count || "no"} findings`}.`}
      </p>
      <p className="flex flex-wrap gap-2">
        <Link to="/health" search={{ project: project.id }} className={buttonLook("ordinary")}>
          See what it finds
        </Link>
        <Link to="/" search={{ project: project.id }} className={buttonLook("primary")}>
          Write a job
        </Link>
      </p>
    </Sheet>
  );
}

/** A button that opens the browser's dialog for files. */
function FileButton(props: {
  label: string;
  look?: "primary";
  isFolder?: boolean;
  isDisabled: boolean;
  onChoose(event: ChangeEvent<HTMLInputElement>): void;
}) {
  const [input, setInput] = useState<HTMLInputElement | null>(null);
  return (
    <>
      <Button look={props.look ?? "ordinary"} disabled={props.isDisabled} onClick={() => input?.click()}>
        {props.label}
      </Button>
      <input
        ref={setInput}
        type="file"
        aria-label={`${props.label}: files`}
        tabIndex={-1}
        className="hidden"
        onChange={props.onChoose}
        {...(props.isFolder ? { webkitdirectory: "" } : { accept: ".zip" })}
      />
    </>
  );
}
