// Rules for the times and runs of tile documents. The validation function of CouchDB contains them, so they are written
// in the JavaScript of 2009.

// versions of older stores and of other programs have the moment at which they were stored
var TILE_RUN = /^(\d{8}T\d{6}(\d{3}-[0-9a-z]{4})?)?$/

/** Names of fields that must be times and are not, besides `time`. */
export function wrongTimes (doc, isTime) {
  return ['stored', 'expires', 'contested'].filter(function (field) {
    return doc[field] !== undefined && !isTime(doc[field])
  })
}

/** Names of fields that must have runs and have others. */
export function wrongRuns (doc, isTime) {
  function isTileRun (value) { return typeof value === 'string' && TILE_RUN.test(value) }

  function isConfirmation (entry) { return Array.isArray(entry) && isTime(entry[0]) && isTileRun(entry[1]) }

  var wrong = []
  if (doc.run !== undefined && !isTileRun(doc.run)) wrong.push('run')
  if (doc.seen !== undefined && !(Array.isArray(doc.seen) && doc.seen.every(isConfirmation))) wrong.push('seen')
  return wrong
}
