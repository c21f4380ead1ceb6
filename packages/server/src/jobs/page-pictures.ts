import type { DashboardPicture } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./run/leases.ts";

export interface PagePicture extends Omit<DashboardPicture, "marks" | "hasPage"> {
  marks: readonly (readonly [number, number])[];
  webp: Buffer;
  page: Buffer | null;
}

/** Replaces the job's pictures with those of its newest change. */
export async function recordPictures(db: Queryable, lease: Lease, pictures: readonly PagePicture[]): Promise<void> {
  const { rows } = await db.query(
    `with held as (
       select id from jobs where id = $1 and lease = $2 for no key update
     ), gone as (
       delete from page_pictures using held where job_id = held.id
         and (path, width, side) not in (select * from unnest($3::text[], $4::integer[], $5::text[]))
     ), added as (
       insert into page_pictures (job_id, path, width, side, height, marks, webp, page)
       select held.id, one.* from held, unnest($3::text[], $4::integer[], $5::text[], $6::integer[], $7::jsonb[], $8::bytea[], $9::bytea[])
         as one (path, width, side, height, marks, webp, page)
       on conflict (job_id, path, width, side)
         do update set height = excluded.height, marks = excluded.marks, webp = excluded.webp, page = excluded.page,
           -- Hosts keep what they loaded from a link.
           link = case when page_pictures.webp = excluded.webp then page_pictures.link else gen_random_uuid() end
     )
     select id from held`,
    [
      lease.jobId,
      lease.token,
      pictures.map(({ path }) => path),
      pictures.map(({ width }) => width),
      pictures.map(({ side }) => side),
      pictures.map(({ height }) => height),
      pictures.map(({ marks }) => JSON.stringify(marks)),
      pictures.map(({ webp }) => webp),
      pictures.map(({ page }) => page),
    ],
  );
  if (rows.length === 0) throw new LeaseLost(lease.jobId);
}

export async function listPictures(db: Queryable, jobId: string): Promise<readonly DashboardPicture[]> {
  const { rows } = await db.query<DashboardPicture>(
    `select path, width, side, height, marks, page is not null as "hasPage" from page_pictures where job_id = $1
     order by path collate "C", width desc, side desc`,
    [jobId],
  );
  return rows;
}

/** Null: there is no such picture. */
export async function readPicture(
  db: Queryable,
  jobId: string,
  picture: { path: string; width: number; side: string },
): Promise<Buffer | null> {
  const { rows } = await db.query<{ webp: Buffer }>(
    "select webp from page_pictures where job_id = $1 and path = $2 and width = $3 and side = $4",
    [jobId, picture.path, picture.width, picture.side],
  );
  return rows[0]?.webp ?? null;
}

/** The page as one document, compressed with gzip. Null: there is none. */
export async function readFrozenPage(db: Queryable, jobId: string, path: string, side: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ page: Buffer }>(
    "select page from page_pictures where job_id = $1 and path = $2 and side = $3 and page is not null",
    [jobId, path, side],
  );
  return rows[0]?.page ?? null;
}

/** Links of the wide pictures, of a few pages that look different. */
export async function listPictureLinks(db: Queryable, jobId: string, pagesMax: number) {
  const { rows } = await db.query<{ path: string; before: string | null; after: string | null }>(
    `select path, max(link::text) filter (where side = 'before') as before, max(link::text) filter (where side = 'after') as after
     from page_pictures one
     where job_id = $1 and width = (select max(width) from page_pictures where job_id = $1)
     group by path having count(*) = 1 or bool_or(marks <> '[]') order by path collate "C" limit $2`,
    [jobId, pagesMax],
  );
  return rows;
}

export async function readLinkedPicture(db: Queryable, link: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ webp: Buffer }>("select webp from page_pictures where link = $1", [link]);
  return rows[0]?.webp ?? null;
}
