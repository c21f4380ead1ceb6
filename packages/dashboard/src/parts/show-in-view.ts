/** For a list that may not fit: the one that is open, or chosen, is seen. */
export function showInView(element: HTMLElement | null) {
  element?.scrollIntoView({ inline: "nearest", block: "nearest" });
}
