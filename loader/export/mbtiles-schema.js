// The tables of an MBTiles file, and how tiles go into them. While they are filled they have no index of places: rows come
// from north to south, which is backwards in MBTiles, and an index that grows backwards is twice as large as one made at the end.
// `time` is ours: which version a tile is, in seconds since 1970, for a run that goes on. Others do not look at it.

/**
 * @typedef {{z: number, x: number, row: number, time: number | null, id: string, bytes: Buffer, fetched: number | null, expires: number | null, etag: string | null}} Row
 */

/** `tiles` as a view over places and images, what martin calls normalized. */
export const deduplicated = {
  tables: `
    CREATE TABLE map (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_id TEXT, time INTEGER);
    CREATE TABLE images (tile_id TEXT NOT NULL PRIMARY KEY, tile_data BLOB);`,
  image: 'INSERT OR IGNORE INTO images VALUES (?, ?)',
  insert: 'INSERT INTO map VALUES (?, ?, ?, ?, ?)',
  /** @param {Row} row */
  values: ({ z, x, row, id, time }) => [z, x, row, id, time],
  rows: 'map',
  had: 'SELECT tile_data FROM map JOIN images USING (tile_id) WHERE map.rowid = ?',
  remove: 'DELETE FROM map WHERE rowid = ?',
  removeRest: 'DELETE FROM map WHERE rowid IN (SELECT place FROM had)',
  removeUnused: 'DELETE FROM images WHERE tile_id NOT IN (SELECT tile_id FROM map)',
  finish: `
    CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
    CREATE VIEW tiles AS
      SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, map.tile_row AS tile_row, images.tile_data AS tile_data
      FROM map JOIN images ON images.tile_id = map.tile_id;
    CREATE VIEW tiles_with_hash AS
      SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, map.tile_row AS tile_row, images.tile_data AS tile_data, images.tile_id AS tile_hash
      FROM map JOIN images ON images.tile_id = map.tile_id;`,
  distinct: "SELECT count(*) AS contents FROM images WHERE tile_id <> ''"
}

/** One table with when each tile was fetched and expires, as martin's caches have it. */
export const cached = {
  tables: `
    CREATE TABLE tile_cache (
      zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL,
      fetched INTEGER, expires INTEGER, etag TEXT, tile_data BLOB NOT NULL, time INTEGER);`,
  insert: 'INSERT INTO tile_cache VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  /** @param {Row} row */
  values: ({ z, x, row, fetched, expires, etag, bytes, time }) => [z, x, row, fetched, expires, etag, bytes, time],
  rows: 'tile_cache',
  had: 'SELECT tile_data FROM tile_cache WHERE rowid = ?',
  remove: 'DELETE FROM tile_cache WHERE rowid = ?',
  removeRest: 'DELETE FROM tile_cache WHERE rowid IN (SELECT place FROM had)',
  finish: `
    CREATE UNIQUE INDEX tile_cache_index ON tile_cache (zoom_level, tile_column, tile_row);
    CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM tile_cache;`
}
