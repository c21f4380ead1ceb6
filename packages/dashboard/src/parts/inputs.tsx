import type { InputHTMLAttributes, TextareaHTMLAttributes } from "react";
import { Field } from "./field.tsx";

interface Shared {
  label: string;
  help?: string;
  value: string;
  onText(text: string): void;
}

const mono = "font-mono text-[13px]";

/** One line; `isCode` for what is no prose. */
export function TextInput({
  label,
  help,
  onText,
  isCode,
  ...rest
}: Shared & { isCode?: boolean } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} {...(help && { help })}>
      {(control) => (
        <input
          {...control}
          className={`w-full ${isCode ? mono : ""}`}
          onChange={(event) => onText(event.target.value)}
          {...rest}
        />
      )}
    </Field>
  );
}

/** A list, one a line. */
export function LinesInput({ label, help, onText, ...rest }: Shared & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} {...(help && { help })}>
      {(control) => (
        <textarea
          {...control}
          rows={2}
          className={`field-sizing-content max-h-60 min-h-14 w-full resize-none ${mono}`}
          onChange={(event) => onText(event.target.value)}
          {...rest}
        />
      )}
    </Field>
  );
}

export function SelectInput<T extends string>(
  props: Omit<Shared, "value" | "onText"> & {
    value: T;
    onValue(value: NoInfer<T>): void;
    options: readonly { value: NoInfer<T>; words: string }[];
  },
) {
  return (
    <Field label={props.label} {...(props.help && { help: props.help })}>
      {(control) => (
        <select
          {...control}
          className="w-full min-w-0"
          value={props.value}
          onChange={(event) => props.onValue(event.target.value as T)}
        >
          {props.options.map(({ value, words }) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckInput(props: { label: string; isOn: boolean; onToggle(isOn: boolean): void }) {
  return (
    <label className="flex min-h-6 items-start gap-2">
      <input
        className="mt-0.5"
        type="checkbox"
        checked={props.isOn}
        onChange={(event) => props.onToggle(event.target.checked)}
      />
      <span className="line-clamp-2 min-w-0 wrap-anywhere">{props.label}</span>
    </label>
  );
}

/** The lines of a list, without empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
