import type { Cli } from "../cli.ts";
import { runAs, shellWord } from "../run-as.ts";
import type { Narrator } from "../terminal/narrator.ts";

interface WayBack {
  /** Logs one browser in, once, and lands on the pull request. */
  link: string;
  /** The pull request's address. */
  page: string;
  dataDir: string;
  url: string;
  staysUp: boolean;
  isDashboardBuilt: boolean;
}

/** The link, and how to open it: now where the server stays up, later where it stops with this command. */
export function showWayBack(cli: Cli, narrator: Narrator, way: WayBack): void {
  const { style } = narrator;
  const page = new URL(way.page).pathname;
  const place = `--data ${shellWord(way.dataDir)} --port ${new URL(way.url).port}`;
  const serve = runAs(cli.env, `serve ${place} --link ${shellWord(page)}`);
  const once = style.dim("(works once, for an hour: it logs your browser in)");
  if (way.staysUp) {
    narrator.line(`  ${style.strong("Open the pull request")} ${once}`);
    showLink();
    narrator.line();
    narrator.line(`  ${style.dim("The server stays up for it. Press Enter or Ctrl-C to stop; to start it again:")}`);
    narrator.line(`  ${style.dim(serve)}`);
  } else {
    narrator.line("  The server stops now. This starts it again, and prints a new link to the pull request:");
    narrator.line(`  ${serve}`);
    narrator.line();
    narrator.line(`  ${style.strong("The pull request, while it runs")} ${once}`);
    showLink();
  }
  narrator.line();

  function showLink(): void {
    narrator.line(`  ${style.link(way.link)}`);
    if (way.isDashboardBuilt) return;
    narrator.line(`  ${style.bad("The dashboard is not built: this opens a plain page.")} To build it, run:`);
    narrator.line("  npm run build:dashboard");
  }
}
