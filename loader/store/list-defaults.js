// How a listing asks. A range of keys costs CouchDB as much as some dozens of rows, so that neighbours are asked for
// together.
export const listDefaults = {
  page: 2000, // rows a request, about
  ranges: 200, // ranges of keys a request
  slack: 50, // rows a range may have got since it was counted, before its rest must be asked for
  depth: 4, // versions a tile may have, for a guess at a part of a column
  sparse: 50, // rows of a column that are rather read whole than in parts
  waste: 50, // rows between two columns that are read as well, so that both are in one range
  columns: 5000, // columns a request, when they are counted
  few: 4096, // columns of an area that are named one by one; a wider area is asked for as a whole
  near: 32, // columns between two of an area that are rather counted than left out
  spans: 50 // spans of columns a request
}
