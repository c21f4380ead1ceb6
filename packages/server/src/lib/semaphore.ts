import type { ServerResponse } from "node:http";

/** Of answers that are held open: each costs memory, and a look at the database now and then. */
export interface SeatBounds {
  /** For one key, or one person. */
  perHolderMax: number;
  /** In this process. */
  allMax: number;
}

export interface Seats {
  /** Gives back what it took, however often it is called; null: all are taken, the holder's or everybody's. */
  take(holder: string): (() => void) | null;
}

/** Takes a seat for as long as an answer is being sent, and says whether there was one. */
export function seatFor(seats: Seats, holder: string, response: ServerResponse): () => boolean {
  return () => {
    const leave = seats.take(holder);
    // Handed over whole, or given up: a request from within this process knows no close.
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
