/** Files that were read lately, by object id: the least recently used go first. */
export interface BlobCache {
  get(id: string): Buffer | undefined;
  put(id: string, content: Buffer): void;
}

/** One large file would push out hundreds that are read again and again. */
const entryShareMax = 1 / 16;

export function createBlobCache(bytesMax: number): BlobCache {
  const blobs = new Map<string, Buffer>();
  let bytes = 0;
  return {
    get(id) {
      const content = blobs.get(id);
      if (!content) return undefined;
      blobs.delete(id);
      blobs.set(id, content);
      return content;
    },
    put(id, content) {
      if (content.length > bytesMax * entryShareMax || blobs.has(id)) return;
      blobs.set(id, content);
      bytes += content.length;
      for (const [oldest, old] of blobs) {
        if (bytes <= bytesMax) break;
        blobs.delete(oldest);
        bytes -= old.length;
      }
    },
  };
}
