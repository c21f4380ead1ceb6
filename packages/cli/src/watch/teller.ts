import type { JobEvent } from "@emend/sdk";
import { seconds } from "../terminal/duration.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { describeEvent } from "./describe-event.ts";

export interface Teller {
  tell(event: JobEvent): void;
}

/** Turns events into one line a phase: its name, how long it took and what it did. */
export function createTeller(narrator: Narrator): Teller {
  let phase: { name: string; sinceMs: number; details: string[] } | null = null;

  function close(atMs: number, word: "done" | "failed") {
    if (!phase) return;
    const took = seconds(atMs - phase.sinceMs).padStart(6);
    narrator[word](phase.name, `${took}   ${phase.details.join(", ")}`.trimEnd());
    phase = null;
  }

  return {
    tell(event) {
      const told = describeEvent(event);
      const atMs = Date.parse(event.at);
      switch (told.kind) {
        case "phase":
          close(atMs, "done");
          phase = { name: told.name, sinceMs: atMs, details: [] };
          narrator.begin(told.name);
          break;
        case "detail":
          phase?.details.push(told.text);
          narrator.begin(`${phase?.name ?? ""}: ${told.text}`);
          break;
        case "end":
          close(atMs, told.isGood ? "done" : "failed");
          break;
        case "nothing":
          break;
      }
    },
  };
}
