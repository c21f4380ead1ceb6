/** By how many stops of the Tab key one is away from an element, as far as its page shows. */
export type Way = "there" | "no stop" | { isBack: boolean; stops: number };

/** As much of a page's elements as this asks for. */
interface Stop {
  readonly ownerDocument: { readonly activeElement: Stop | null; readonly body: Stop };
  querySelectorAll(selector: string): Iterable<Stop>;
  matches(selector: string): boolean;
  checkVisibility(options: { visibilityProperty: boolean }): boolean;
  compareDocumentPosition(other: Stop): number;
}

/** Runs in the page, and so leans on nothing here. */
export function wayTo(target: Stop): Way {
  const { activeElement: here, body } = target.ownerDocument;
  if (target === here) return "there";
  const dialog = [...body.querySelectorAll("dialog:modal")].at(-1);
  const focusable = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])';
  const stops = [...(dialog ?? body).querySelectorAll(focusable)].filter(
    (element) =>
      !element.matches(":disabled, [tabindex='-1']") && element.checkVisibility({ visibilityProperty: true }),
  );
  const there = stops.indexOf(target);
  if (there === -1) return "no stop";
  // What has the focus may itself be no stop, as a page that was led to.
  const isPast = (element: Stop) => ((here ?? body).compareDocumentPosition(element) & 2) !== 0;
  const from = here ? stops.indexOf(here) : -1;
  const past = stops.filter(isPast).length;
  if (there >= past) return { isBack: false, stops: there - (from === -1 ? past - 1 : from) };
  return { isBack: true, stops: past - there };
}
