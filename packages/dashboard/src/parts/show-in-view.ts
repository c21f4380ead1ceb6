/** Scrolls the open or selected entry of a list into view. */
export function showInView(element: HTMLElement | null) {
  element?.scrollIntoView({ inline: "nearest", block: "nearest" });
}
