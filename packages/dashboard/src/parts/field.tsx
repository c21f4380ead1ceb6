import { type ReactNode, useId } from "react";

/** A label, what it labels, and a word of help. */
export function Field(props: {
  label: string;
  help?: string;
  children(control: { id: string; "aria-describedby"?: string }): ReactNode;
}) {
  const id = useId();
  const helpId = `${id}help`;
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="font-semibold">
        {props.label}
      </label>
      {props.children(props.help ? { id, "aria-describedby": helpId } : { id })}
      {props.help && (
        <p id={helpId} className="text-quiet">
          {props.help}
        </p>
      )}
    </div>
  );
}
