import { type ReactNode, useLayoutEffect, useRef } from "react";

/**
 * The browser's own: it traps the focus, closes by Escape and gives the focus back. It is `cancel` that is heard: `close`
 * comes late, and in development after it has been opened again.
 */
export function Dialog(props: { title: string; isBare?: boolean; onClose(): void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  // Closed before it is taken from the page: from one that is gone already, no focus is given back.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-label={props.title}
      onCancel={props.onClose}
      onClick={(event) => event.target === ref.current && props.onClose()}
      onKeyDown={(event) => event.stopPropagation()}
      className="mx-auto mt-[10vh] max-h-[calc(90dvh-16px)] w-[min(640px,calc(100vw-32px))] rounded-md border border-line bg-sheet p-0 text-ink"
    >
      <div className={props.isBare ? "" : "grid gap-4 p-5"}>
        {!props.isBare && <h2 className="font-serif text-[20px] leading-7">{props.title}</h2>}
        {props.children}
      </div>
    </dialog>
  );
}
