import { useQuery } from "@tanstack/react-query";
import { type ButtonHTMLAttributes, useState } from "react";
import { sessionQuery } from "../api/queries.ts";
import { asTyped } from "./commands.ts";
import { Icon } from "./icon.tsx";

const looks = {
  primary: "border-accent bg-accent font-semibold text-on-accent hover:brightness-95",
  ordinary: "border-line bg-sheet font-semibold text-ink hover:border-quiet",
  danger: "border-line bg-sheet font-semibold text-bad hover:border-bad",
  plain: "border-transparent bg-transparent text-quiet hover:text-ink",
} as const;

export const buttonLook = (look: keyof typeof looks) =>
  `inline-flex min-h-9 items-center justify-center gap-1.5 rounded-md border px-3.5 py-1.5 whitespace-nowrap no-underline disabled:opacity-55 ${looks[look]}`;

export function Button({
  look = "ordinary",
  className = "",
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: keyof typeof looks }) {
  return <button type="button" className={`${buttonLook(look)} ${className}`} {...rest} />;
}

/** Keeps options such as `--forge` from breaking at hyphens. A group, so that splitting keeps it. */
const option = /((?<=\s)-[\w-]+)/;
const outcomes = { copied: "Copied", refused: "Select and copy by hand" } as const;

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [state, setState] = useState<"ready" | "copied" | "refused">("ready");
  async function copy() {
    // Browsers refuse the clipboard on plain http except on localhost.
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setState(isCopied ? "copied" : "refused");
    setTimeout(() => setState("ready"), 2000);
  }
  return (
    <>
      <Button onClick={copy} aria-label={`${label}: ${text}`}>
        <Icon name={state === "copied" ? "check" : "copy"} />
        {state === "ready" ? label : outcomes[state]}
      </Button>
      {/* The button's name says what it copies, so the result is announced here. */}
      <span role="status" className="sr-only">
        {state === "ready" ? "" : outcomes[state]}
      </span>
    </>
  );
}

/** A command to copy; Emend's own commands as they run on the server. */
export function CopyBlock({ text: written }: { text: string }) {
  // Before the login there is no session, and none is requested.
  const session = useQuery({ ...sessionQuery, enabled: false }).data;
  const text = asTyped(written, session);
  return (
    <div className="flex flex-wrap items-start gap-2">
      <pre className="min-w-0 flex-1 basis-64 overflow-x-auto rounded-md bg-hush px-3 py-2 text-left text-ink">
        <code className="whitespace-pre-wrap wrap-anywhere">
          {text.split(option).map((part, index) =>
            index % 2 === 0 ? (
              part
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
              <span key={index} className="whitespace-nowrap">
                {part}
              </span>
            ),
          )}
        </code>
      </pre>
      <CopyButton text={text} />
    </div>
  );
}

/** The same by a command, for those who want it. */
export function CommandLine({ text }: { text: string }) {
  return (
    <details>
      <summary className="text-quiet">From the command line</summary>
      <div className="pt-2">
        <CopyBlock text={text} />
      </div>
    </details>
  );
}

/** Options for the same content. */
export function Toggle<T extends string>(props: {
  label: string;
  options: readonly T[];
  chosen: T;
  onChoose(option: T): void;
  className?: string;
}) {
  return (
    <fieldset className={`flex rounded-md border border-line bg-sheet p-0.5 ${props.className ?? ""}`}>
      <legend className="sr-only">{props.label}</legend>
      {props.options.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={props.chosen === option}
          className="rounded-md px-2.5 py-1 whitespace-nowrap text-quiet aria-pressed:bg-hush aria-pressed:text-ink"
          onClick={() => props.onChoose(option)}
        >
          {option}
        </button>
      ))}
    </fieldset>
  );
}
