// D1 migrations, with the tables that `wrangler d1 migrations apply` keeps.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { unstable_splitSqlQuery as split } from "wrangler";
import { UsageError } from "./options.mjs";

const BOOK =
  "CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/** Applies what is new in `dir`, each file as a whole or not at all. */
export async function migrate(db, dir) {
  if (!existsSync(dir)) return;
  await db.exec(BOOK);
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all();
  const applied = new Set(results.map((row) => row.name));
  for (const name of readdirSync(dir).filter((file) => file.endsWith(".sql") && !applied.has(file)).sort()) {
    try {
      await runSql(db, join(dir, name), [db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name)]);
    } catch (error) {
      throw new UsageError(`migration ${name} failed: ${error.message}`);
    }
  }
}

/** Runs the statements of a file, and then `more`, in one transaction. */
export async function runSql(db, file, more = []) {
  await db.batch([...split(readFileSync(file, "utf8")).map((statement) => db.prepare(statement)), ...more]);
}
