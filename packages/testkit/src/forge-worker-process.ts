// A worker with the real stages as a separate process, which dies at a given point.
import { startForgeWorker } from "./forge-worker.ts";

await startForgeWorker(JSON.parse(process.argv[2] ?? ""));
// The parent has died, so no other process would stop this one.
process.stdin.resume().once("end", () => process.exit(1));
