import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { showInView } from "./show-in-view.ts";
import { VisibleText } from "./text.tsx";

interface Item {
  key: string;
  label: string;
  /** A quiet word beside the label. */
  detail: string;
}

/** A dialog to choose one of many by a few letters. The field keeps the focus; arrows move, Enter chooses. */
export function PickList<T extends Item>(props: {
  title: string;
  placeholder: string;
  /** The list's name for screen readers. */
  listLabel: string;
  text: string;
  onText(text: string): void;
  items: readonly T[];
  /** Shown below the items. */
  children?: ReactNode;
  onChoose(item: T): void;
  onClose(): void;
}) {
  const { items } = props;
  const [at, setAt] = useState(0);
  // The number of results may change.
  const chosen = Math.min(at, items.length - 1);
  const choose = (item: T | undefined) => {
    if (!item) return;
    props.onClose();
    props.onChoose(item);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(items.length - 1, chosen + step)));
    } else if (event.key === "Enter") {
      // The focus returns to the previous element, and this key press must not activate it.
      event.preventDefault();
      choose(items[chosen]);
    }
  };

  return (
    <Dialog title={props.title} isBare onClose={props.onClose}>
      <input
        autoFocus
        className="w-full rounded-b-none border-0 border-b px-4 py-3 text-[16px] outline-none"
        placeholder={props.placeholder}
        aria-label={props.title}
        role="combobox"
        aria-expanded="true"
        aria-controls="places"
        aria-activedescendant={chosen >= 0 ? `place-${chosen}` : undefined}
        value={props.text}
        onChange={(event) => {
          props.onText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="places" role="listbox" aria-label={props.listLabel} className="max-h-[50vh] overflow-y-auto p-1.5">
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys
          <div
            key={item.key}
            ref={index === chosen ? showInView : null}
            id={`place-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className="flex cursor-pointer items-center gap-3 rounded-md px-3 py-2 hover:bg-hush aria-selected:bg-hush"
            onClick={() => choose(item)}
          >
            <span className="min-w-0 flex-1 truncate">
              <VisibleText text={item.label} />
            </span>
            <span className="text-quiet">{item.detail}</span>
          </div>
        ))}
      </div>
      {props.children}
    </Dialog>
  );
}
