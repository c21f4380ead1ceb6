import { type Upload, uploadBytesMax, uploadsPerPromptMax, uploadTypes } from "@emend/contract";
import { type ClipboardEvent, type DragEvent, useId, useState } from "react";
import { apiUrl, request } from "../api/request.ts";
import { buttonLook } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** Files that will go with a prompt. They stay in the page until it is sent. */
export interface ChosenFiles {
  files: readonly File[];
  problem: string | null;
  add(files: Iterable<File>): void;
  remove(file: File): void;
  clear(): void;
  /** For the element in which people paste and drop. */
  handlers: {
    onPaste(event: ClipboardEvent): void;
    onDrop(event: DragEvent): void;
    onDragOver(event: DragEvent): void;
  };
}

export function useChosenFiles(): ChosenFiles {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  function add(more: Iterable<File>) {
    const wanted = [...more];
    const wrong = wanted.map(problemOf).find((words) => words !== null) ?? null;
    const next = [...files, ...wanted.filter((file) => problemOf(file) === null)];
    setProblem(next.length > uploadsPerPromptMax ? `At most ${uploadsPerPromptMax} files can be attached.` : wrong);
    setFiles(next.slice(0, uploadsPerPromptMax));
  }
  function take(event: ClipboardEvent | DragEvent, from: DataTransfer | null) {
    if (!from || from.files.length === 0) return;
    event.preventDefault();
    add(from.files);
  }
  return {
    files,
    problem,
    add,
    remove: (file) => setFiles(files.filter((one) => one !== file)),
    clear() {
      setFiles([]);
      setProblem(null);
    },
    handlers: {
      onPaste: (event) => take(event, event.clipboardData),
      onDrop: (event) => take(event, event.dataTransfer),
      onDragOver(event) {
        if (event.dataTransfer.types.includes("Files")) event.preventDefault();
      },
    },
  };
}

function problemOf({ name, type, size }: File): string | null {
  if (!uploadTypes.some((known) => known === type)) return `${name} can't be attached. Attach PNG, JPEG, WebP or PDF.`;
  return size > uploadBytesMax ? `${name} is too large. A file can have ${uploadBytesMax / 2 ** 20} MB.` : null;
}

/** Their ids in this project, for the body of a prompt or a message. */
export async function uploadAll(projectId: string, files: readonly File[]): Promise<{ files?: readonly string[] }> {
  const ids: string[] = [];
  for (const file of files) {
    const path = `/projects/${projectId}/uploads?name=${encodeURIComponent(file.name)}`;
    ids.push((await request<Upload>(path, { body: file })).id);
  }
  return ids.length === 0 ? {} : { files: ids };
}

export function AttachButton({ chosen }: { chosen: ChosenFiles }) {
  const id = useId();
  return (
    <>
      <input
        id={id}
        type="file"
        multiple
        accept={uploadTypes.join(",")}
        className="peer sr-only"
        onChange={(event) => {
          chosen.add(event.target.files ?? []);
          // So that the same file can be chosen again after it was removed.
          event.target.value = "";
        }}
      />
      <label
        htmlFor={id}
        className={`${buttonLook("plain")} cursor-pointer px-2! peer-focus-visible:outline-2 peer-focus-visible:outline-accent`}
      >
        Attach files
      </label>
    </>
  );
}

export function ChosenFileList({ chosen }: { chosen: ChosenFiles }) {
  return (
    <>
      {chosen.files.length > 0 && (
        <ul aria-label="Attached files" className="flex flex-wrap gap-2">
          {chosen.files.map((file) => (
            <li
              key={`${file.name} ${file.size} ${file.lastModified}`}
              className="flex max-w-full min-w-0 items-center gap-1 rounded-md border border-line pl-2"
            >
              <span className="truncate">{file.name}</span>
              <span className="whitespace-nowrap text-quiet">{sizeOf(file.size)}</span>
              <button
                type="button"
                aria-label={`Remove ${file.name}`}
                className="p-2 text-quiet hover:text-ink"
                onClick={() => chosen.remove(file)}
              >
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {chosen.problem && (
        <p role="alert" className="text-bad">
          {chosen.problem}
        </p>
      )}
    </>
  );
}

function sizeOf(bytes: number): string {
  return bytes < 10 ** 6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 10 ** 6).toFixed(1)} MB`;
}

export interface AttachedFile {
  id: string;
  name: string;
  /** What the prompt says of it, such as its size. */
  shape: string;
}

const attachedLine = /^- (upl_[0-9a-z]+): (.+) \(([^()]+)\)$/;

/** A stored prompt's own words, and the files that the server listed below them. */
export function splitAttached(prompt: string): { words: string; attached: readonly AttachedFile[] } {
  const at = prompt.lastIndexOf("\n\nAttached:\n");
  const lines = at === -1 ? [] : prompt.slice(at).trim().split("\n").slice(1);
  const attached = lines.map((line) => attachedLine.exec(line));
  if (lines.length === 0 || attached.some((one) => one === null)) return { words: prompt, attached: [] };
  return {
    words: prompt.slice(0, at),
    attached: attached.map((one) => ({ id: one?.[1] ?? "", name: one?.[2] ?? "", shape: one?.[3] ?? "" })),
  };
}

/** Pictures as small ones, each a link to the whole. */
export function AttachedFiles({ projectId, attached }: { projectId: string; attached: readonly AttachedFile[] }) {
  if (attached.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="flex flex-wrap gap-3">
      {attached.map(({ id, name, shape }) => (
        <li key={id} className="max-w-full">
          <a
            href={apiUrl(`/projects/${projectId}/uploads/${id}`)}
            target="_blank"
            rel="noreferrer"
            className="grid max-w-60 gap-1"
          >
            {shape.startsWith("picture") && (
              <img
                src={apiUrl(`/projects/${projectId}/uploads/${id}`)}
                alt=""
                className="h-28 w-auto max-w-full rounded-md border border-line object-contain object-left"
              />
            )}
            <span className="truncate">{name}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
