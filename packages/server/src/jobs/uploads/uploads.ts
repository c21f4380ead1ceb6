import { canSeePictures, type PriceTable } from "@emend/agent";
import { isLanguageModel, type Upload, uploadBytesMax, uploadsPerPromptMax } from "@emend/contract";
import type { Pool, Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { redactPrompt } from "../redact-prompt.ts";
import { cleanPicture } from "./clean-picture.ts";
import { documentCharactersMax, readPdf } from "./read-pdf.ts";

/** Uploads that no prompt names yet, of one project. They are deleted after a day. */
const waitingMax = 50;
const nameCharactersMax = 100;
const jobBytesMax = uploadsPerPromptMax * uploadBytesMax;

/** Stores a picture or a document for a prompt to name. Refuses what is neither. */
export async function addUpload(
  pool: Pool,
  input: { projectId: string; name: string; bytes: Buffer; createdBy: string },
): Promise<Upload> {
  const { rows: waiting } = await pool.query<{ count: number }>(
    "select count(*)::int as count from uploads where project_id = $1 and job_id is null",
    [input.projectId],
  );
  if ((waiting[0]?.count ?? 0) >= waitingMax) {
    throw new AppError("rate_limited", {
      publicMessage: `This project has ${waitingMax} uploads that no prompt names. Use them first; they are deleted after a day.`,
      retryAfterMs: 3_600_000,
    });
  }
  const content = await contentOf(input.bytes);
  const name = plainName(input.name) || (content.text === null ? "picture" : "document");
  const id = newId("upl");
  await pool.query(
    `insert into uploads (id, project_id, name, type, width, height, picture, text, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      id,
      input.projectId,
      name,
      content.type,
      content.width,
      content.height,
      content.picture,
      content.text,
      input.createdBy,
    ],
  );
  const { type, width, height } = content;
  return { id, name, type, bytes: (content.picture ?? Buffer.from(content.text ?? "")).length, width, height };
}

type Content = Pick<Upload, "type" | "width" | "height"> & { picture: Buffer | null; text: string | null };

async function contentOf(bytes: Buffer): Promise<Content> {
  if (bytes.toString("latin1", 0, 5) === "%PDF-") {
    const text = await readPdf(bytes);
    if (text === null) throw invalid("This PDF cannot be read. Save it again without a password, or paste its text.");
    if (text === "") throw invalid("This PDF has no text. Attach pictures of its pages instead.");
    return { type: "application/pdf", width: null, height: null, picture: null, text: await redactPrompt(text) };
  }
  const found = cleanPicture(bytes);
  if (found === "too large") throw invalid("This picture has too many pixels. Attach a smaller one.");
  if (found === null) throw invalid("This is no whole PNG, JPEG, WebP or PDF file. Animated pictures are not taken.");
  const { bytes: picture, ...shape } = found;
  return { ...shape, picture, text: null };
}

/** One line of printable characters, without the folders of the sender's machine. */
function plainName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const plain = last.replaceAll(/[^\p{L}\p{N} ._()-]+/gu, "_").trim();
  return [...plain].slice(-nameCharactersMax).join("");
}

interface UploadRow extends Pick<Upload, "id" | "name" | "type" | "width" | "height"> {
  characters: number | null;
  hash: string;
}

export interface AskedWithUploads {
  /** With a line for each upload. The agent finds the uploads by these lines. */
  prompt: string;
  /** The same for the same words and the same files: a request that is sent again uploads its files again. */
  identity: string;
}

export async function promptWithUploads(
  db: Queryable,
  asked: { projectId: string; prompt: string; model: string; files: readonly string[] },
  prices: PriceTable = {},
): Promise<AskedWithUploads> {
  const ids = [...new Set(asked.files)];
  if (ids.length === 0) return { prompt: asked.prompt, identity: asked.prompt };
  const { rows } = await db.query<UploadRow>(
    `select id, name, type, width, height, length(text) as characters,
       encode(sha256(coalesce(picture, convert_to(text, 'UTF8'))), 'hex') as hash
     from uploads where project_id = $1 and id = any ($2::text[])`,
    [asked.projectId, ids],
  );
  const named = ids.map((id) => {
    const found = rows.find((row) => row.id === id);
    if (found) return found;
    throw invalid(`files: this project has no upload ${JSON.stringify(id.slice(0, 60))}. Upload it again.`);
  });
  const pictures = rows.some(({ characters }) => characters === null);
  if (!isLanguageModel(asked.model)) {
    throw invalid(`files needs a language model, and ${asked.model} is none. Choose another model, or send no files.`);
  }
  if (pictures && !canSeePictures(asked.model, prices)) {
    throw invalid(
      `The model ${asked.model} cannot see pictures. Choose another model, or describe what the picture shows.`,
    );
  }
  const lines = named.map((one) => `- ${one.id}: ${one.name} (${shapeOf(one)})`);
  const prompt = `${asked.prompt}\n\nAttached:\n${lines.join("\n")}`;
  return { prompt, identity: JSON.stringify([asked.prompt, ...named.map(({ hash }) => hash)]) };
}

function shapeOf({ width, height, characters }: UploadRow): string {
  if (characters === null) return `picture, ${width} × ${height}`;
  return characters >= documentCharactersMax ? `the first ${characters} characters` : `${characters} characters`;
}

/** In the transaction that stores the prompt. An upload belongs to one job, which may name it again. */
export async function attachUploads(
  db: Queryable,
  job: { id: string; projectId: string },
  files: readonly string[],
): Promise<void> {
  if (files.length === 0) return;
  const { rowCount } = await db.query(
    `update uploads set job_id = $1
     where project_id = $2 and id = any ($3::text[]) and (job_id is null or job_id = $1)`,
    [job.id, job.projectId, files],
  );
  if (rowCount !== new Set(files).size) throw invalid("files: another job has one of these uploads. Upload it again.");
  const { rows } = await db.query<{ bytes: number }>(
    "select coalesce(sum(length(picture)), 0)::int as bytes from uploads where job_id = $1",
    [job.id],
  );
  // All of them are in memory while the job runs, and go to the model with each turn.
  if ((rows[0]?.bytes ?? 0) > jobBytesMax)
    throw invalid(`The pictures of a job can have ${jobBytesMax / 2 ** 20} MB together. Create a new job for more.`);
}

export interface StoredUpload {
  id: string;
  name: string;
  type: string;
  picture: Buffer | null;
  text: string | null;
}

/** Only a job's own: a text that names the upload of another job gets nothing. */
export async function uploadsOfJob(db: Queryable, jobId: string): Promise<readonly StoredUpload[]> {
  const { rows } = await db.query<StoredUpload>(
    "select id, name, type, picture, text from uploads where job_id = $1 order by id",
    [jobId],
  );
  return rows;
}

/** Null: the project has no such upload. */
export async function readUpload(
  db: Queryable,
  upload: { id: string; projectId: string },
): Promise<StoredUpload | null> {
  const { rows } = await db.query<StoredUpload>(
    "select id, name, type, picture, text from uploads where id = $1 and project_id = $2",
    [upload.id, upload.projectId],
  );
  return rows[0] ?? null;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
