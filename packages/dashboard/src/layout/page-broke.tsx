import { Button } from "../parts/button.tsx";
import { Problem } from "../parts/notice.tsx";

/** Replaces a page that threw or could not be loaded. The rest of the dashboard keeps working. */
export function PageBroke({ error }: { error: unknown }) {
  return (
    <section className="grid max-w-[640px] grid-cols-[minmax(0,1fr)] justify-items-start gap-4 py-12">
      <title>Something went wrong · Emend</title>
      <h1>Something went wrong on this page</h1>
      <p>
        The server may have been updated or be unreachable. Your text is saved. If reloading does not help, this is a
        bug in Emend.
      </p>
      <Problem error={error} />
      <Button onClick={() => location.reload()}>Reload</Button>
    </section>
  );
}
