import { styleText } from "node:util";
import { safeText } from "./format.ts";

/** Shows progress: a live line on a terminal, plain lines in a pipe, nothing for JSON. */
export interface Narrator {
  /** Starts a step, which stays visible until it is done. */
  begin(text: string): void;
  /** Ends the step successfully. */
  done(text: string, detail?: string): void;
  /** Ends the step with a failure. */
  failed(text: string, detail?: string): void;
  line(text?: string): void;
  /** Removes the live line. */
  end(): void;
  /** The width for text. */
  readonly width: number;
  readonly style: Style;
}

interface Style {
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  link(text: string): string;
}

type Format = Parameters<typeof styleText>[0];

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 80;
const widthMax = 92;

export const silentNarrator: Narrator = {
  begin() {},
  done() {},
  failed() {},
  line() {},
  end() {},
  width: widthMax,
  style: styleFor(null),
};

export function plainNarrator(stream: NodeJS.WriteStream): Narrator {
  const style = styleFor(stream);
  return {
    begin() {},
    done: (text, detail) => void stream.write(lastLine(style.good("✓"), style, text, detail)),
    failed: (text, detail) => void stream.write(lastLine(style.bad("✗"), style, text, detail)),
    line: (text = "") => void stream.write(`${text}\n`),
    end() {},
    width: widthMax,
    style,
  };
}

export function liveNarrator(stream: NodeJS.WriteStream): Narrator {
  const style = styleFor(stream);
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  function clear() {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    stream.write("\r\u001b[2K");
  }
  return {
    begin(text) {
      clear();
      const shown = safeText(text).slice(0, Math.max(10, (stream.columns || 80) - 6));
      function draw() {
        stream.write(`\r\u001b[2K  ${style.dim(frames[frame % frames.length] ?? "")} ${style.dim(shown)}`);
        frame += 1;
      }
      timer = setInterval(draw, frameMs).unref();
      draw();
    },
    done(text, detail) {
      clear();
      stream.write(lastLine(style.good("✓"), style, text, detail));
    },
    failed(text, detail) {
      clear();
      stream.write(lastLine(style.bad("✗"), style, text, detail));
    },
    line(text = "") {
      clear();
      stream.write(`${text}\n`);
    },
    end: clear,
    width: Math.max(40, Math.min(widthMax, (stream.columns || 80) - 4)),
    style,
  };
}

const nameWidth = 12;

function lastLine(mark: string, style: Style, text: string, detail = ""): string {
  return `  ${mark} ${detail ? safeText(text).padEnd(nameWidth) : safeText(text)}${detail && ` ${style.dim(safeText(detail))}`}\n`;
}

/** Colors if the stream supports them. Node handles NO_COLOR and FORCE_COLOR. */
function styleFor(stream: NodeJS.WriteStream | null): Style {
  const paint = (format: Format) => (text: string) =>
    stream ? styleText(format, text, { stream, validateStream: true }) : text;
  return {
    strong: paint("bold"),
    dim: paint("dim"),
    good: paint("green"),
    bad: paint("red"),
    warn: paint("yellow"),
    link: paint(["cyan", "underline"]),
  };
}
