// Limits of what is read from any source. What is beyond them is refused before the bytes are in memory.

export const sourceLimits = {
  tile: 64e6, // bytes of a tile, packed or unpacked
  metadata: 16e6, // bytes of the metadata of a source
  answer: 128e6, // bytes of one answer of a database
  names: 2 ** 22, // files of a folder, rows of a column, columns of a zoom
  sqlite: 256e6, // bytes that SQLite takes to read a file
  silence: 3600e3 // milliseconds that SQLite may look for the next rows
}
