/** A few ways to show the same thing. */
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
