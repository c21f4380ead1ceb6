/** For a row of links that may not fit: the one that is open is seen. */
export function showInView(link: HTMLAnchorElement | null) {
  link?.scrollIntoView({ inline: "nearest", block: "nearest" });
}
