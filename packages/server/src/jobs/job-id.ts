const form = /^[0-9A-Za-z_-]{1,64}$/;

/** Anything else cannot be an id of ours, and some of it (U+0000) the database refuses to hear of. */
export function isJobId(text: string): boolean {
  return form.test(text);
}
