import type pg from "pg";
import { databaseName, ownerRole } from "./endpoint.ts";

/** The role that Emend connects as, and the database that it owns. */
export async function ensureDatabase(client: pg.Client, password: string): Promise<void> {
  const { rowCount: roles } = await client.query("select from pg_roles where rolname = $1", [ownerRole]);
  if (!roles) {
    await client.query(`create role ${ownerRole} login password ${client.escapeLiteral(password)}`);
  }
  const { rowCount: databases } = await client.query("select from pg_database where datname = $1", [databaseName]);
  if (!databases) await client.query(`create database ${databaseName} owner ${ownerRole}`);
}
