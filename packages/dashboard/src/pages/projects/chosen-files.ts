/** Files that a person chose, with their paths below the chosen folder. */
export interface ChosenFile {
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const bytesMax = 60 * 1024 * 1024;

/** A folder, a zip, or some files. Build results and git's own files are left out. */
export async function readChosen(files: readonly { path: string; file: File }[]): Promise<ChosenFile[]> {
  const [only] = files;
  const found =
    files.length === 1 && only && /\.zip$/i.test(only.path)
      ? await readZip(new Uint8Array(await only.file.arrayBuffer()))
      : await readEach(files.filter(({ path }) => !isLeftOut(path)));
  const kept = found.filter(({ path }) => !isLeftOut(path));
  const folder = commonFolder(kept.map(({ path }) => path));
  const bytes = kept.reduce((sum, file) => sum + file.bytes.length, 0);
  if (kept.length === 0) throw new Error("There are no files to import.");
  if (bytes > bytesMax) throw new Error("The files come to more than 60 MB. Push them with git instead.");
  return kept.map((file) => ({ ...file, path: file.path.slice(folder.length) }));
}

async function readEach(files: readonly { path: string; file: File }[]): Promise<ChosenFile[]> {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > bytesMax) throw new Error("The files come to more than 60 MB. Push them with git instead.");
  return Promise.all(files.map(async ({ path, file }) => ({ path, bytes: new Uint8Array(await file.arrayBuffer()) })));
}

function isLeftOut(path: string): boolean {
  return path
    .split("/")
    .some((part) => part === "node_modules" || part === ".git" || part === "__MACOSX" || part === ".DS_Store");
}

/** The one folder that has everything, which is not part of the site. */
function commonFolder(paths: readonly string[]): string {
  const [first = ""] = paths;
  const folder = first.slice(0, first.indexOf("/") + 1);
  return folder !== "" && paths.every((path) => path.startsWith(folder)) ? folder : "";
}

/** For the upload: each file's lengths, four bytes each, then its path and its content. */
export function framesOf(files: readonly ChosenFile[]): Blob {
  const encoder = new TextEncoder();
  return new Blob(
    files.flatMap(({ path, bytes }) => {
      const name = encoder.encode(path);
      const head = new DataView(new ArrayBuffer(8));
      head.setUint32(0, name.length);
      head.setUint32(4, bytes.length);
      return [head.buffer, name, bytes];
    }),
  );
}

const endMark = 0x06054b50;
const entryMark = 0x02014b50;

/** Reads a zip by its directory. Encrypted and very large archives are refused. */
export async function readZip(zip: Uint8Array<ArrayBuffer>): Promise<ChosenFile[]> {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  let end = zip.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== endMark) end -= 1;
  if (end < 0) throw new Error("This is not a zip file.");
  const files: ChosenFile[] = [];
  let total = 0;
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (at + 46 > zip.length || view.getUint32(at, true) !== entryMark) throw new Error("The zip file is damaged.");
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
    const [packed, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const path = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + (nameLength ?? 0)));
    const head = view.getUint32(at + 42, true);
    at += 46 + (nameLength ?? 0) + (extra ?? 0) + (comment ?? 0);
    if (path.endsWith("/") || isLeftOut(path)) continue;
    if (flags & 1) throw new Error("The zip file is encrypted.");
    total += size;
    if (total > bytesMax) throw new Error("The files come to more than 60 MB. Push them with git instead.");
    const from = head + 30 + view.getUint16(head + 26, true) + view.getUint16(head + 28, true);
    const bytes = zip.slice(from, from + packed);
    files.push({ path, bytes: method === 0 ? bytes : await inflate(bytes, size) });
  }
  return files;
}

/** At most as large as the directory says: a small archive may pretend to have gigabytes. */
async function inflate(bytes: Uint8Array<ArrayBuffer>, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const whole = new Uint8Array(size);
  let at = 0;
  for (const reader = stream.getReader(); ; ) {
    const { value, done } = await reader.read();
    if (done) return whole.subarray(0, at);
    if (at + value.length > size) throw new Error("The zip file is damaged.");
    whole.set(value, at);
    at += value.length;
  }
}

/** What was dropped, with the paths below each dropped folder. */
export async function readDropped(items: DataTransferItemList): Promise<{ path: string; file: File }[]> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return (await Promise.all(entries.map(readEntry))).flat();
}

async function readEntry(entry: FileSystemEntry): Promise<{ path: string; file: File }[]> {
  const path = entry.fullPath.replace(/^\//, "");
  if (isLeftOut(path)) return [];
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: FileSystemEntry[] = [];
  // Browsers give a hundred at a time.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    found.push(...some);
  }
  return (await Promise.all(found.map(readEntry))).flat();
}
