import type { ServerResponse } from "node:http";

/** Limits for responses that stay open: each costs memory and occasional queries. */
export interface SeatBounds {
  /** Per key or person. */
  perHolderMax: number;
  /** Per process. */
  allMax: number;
}

export interface Seats {
  /** Returns a function that releases the slot (safe to call twice). Null if the holder's or all slots are taken. */
  take(holder: string): (() => void) | null;
}

/** Takes a slot for the duration of a response. Returns whether one was free. */
export function seatFor(seats: Seats, holder: string, response: ServerResponse): () => boolean {
  return () => {
    const leave = seats.take(holder);
    // Released when the response ends or is aborted. An injected request has no close event.
    if (leave) response.once("finish", leave).once("close", leave);
    return leave !== null;
  };
}

const usualBounds: SeatBounds = { perHolderMax: 200, allMax: 5_000 };

export function createSeats(bounds: SeatBounds = usualBounds): Seats {
  const taken = new Map<string, number>();
  let all = 0;

  function add(holder: string, count: 1 | -1): void {
    const now = (taken.get(holder) ?? 0) + count;
    if (now === 0) taken.delete(holder);
    else taken.set(holder, now);
    all += count;
  }

  return {
    take(holder) {
      if (all >= bounds.allMax || (taken.get(holder) ?? 0) >= bounds.perHolderMax) return null;
      add(holder, 1);
      let isHeld = true;
      return () => {
        if (isHeld) add(holder, -1);
        isHeld = false;
      };
    },
  };
}
