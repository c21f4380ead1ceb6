/** Of one build. */
export interface BuildLimits {
  timeoutMs: number;
  /** For all processes of a build together. */
  memoryBytesMax: number;
  processesMax: number;
  /** For the work tree with all that the builder writes into it. It is kept in memory. */
  diskBytesMax: number;
}
