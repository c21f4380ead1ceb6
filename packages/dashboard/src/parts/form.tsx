import type { FormEvent, ReactNode } from "react";
import { Button } from "./button.tsx";
import { Problem } from "./notice.tsx";

interface FormProps {
  /** What is being done, as `useMutation` gives it. */
  action: { mutate(): void; isPending: boolean; error: unknown };
  /** What the button says. */
  submit: string;
  look?: "primary" | "danger";
  isDisabled?: boolean;
  /** Beside the button; absent where there is nothing to leave. */
  onCancel?(): void;
  cancel?: string;
  /** A word beside the button, such as that all is saved. */
  note?: string;
  children?: ReactNode;
}

/** Fields, what went wrong, and one button: what is typed stays until it was accepted. */
export function Form({ action, submit, look = "primary", cancel = "Cancel", children, ...rest }: FormProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!action.isPending) action.mutate();
  };
  return (
    <form onSubmit={onSubmit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {children}
      <Problem error={action.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-quiet" aria-live="polite">
          {rest.note}
        </span>
        {rest.onCancel && (
          <Button look="plain" onClick={rest.onCancel}>
            {cancel}
          </Button>
        )}
        <Button type="submit" look={look} disabled={action.isPending || rest.isDisabled}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
