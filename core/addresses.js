// Patterns of the addresses of a store, for the gateway, the embedded store and _design/tiles/rewrites.js. The latter
// has this file inside: it is ES5 except for `export`, and imports nothing.

/** A time in UTC: a second, or a period such as 2024-03. */
var TIME =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T([01]\d|2[0-3])(?::[0-5]\d(?::[0-5]\d)?)?Z?)?)?)?$/

/** Whether a text is such a time, and on the calendar. */
export function isTime (text) {
  var time = TIME.exec(text)
  if (time === null) return false
  // 30 February rolls over into March, so the month and the day must come out as they went in. Years repeat every
  // 400; 2000 is added because Date.UTC takes the years 0 to 99 for 1900 to 1999.
  var month = +(time[2] || 1) - 1
  var day = +(time[3] || 1)
  var date = new Date(Date.UTC(+time[1] % 400 + 2000, month, day))
  return date.getUTCMonth() === month && date.getUTCDate() === day
}

/** Each number has one spelling. */
export var NUMBER = /^(0|[1-9]\d{0,9})$/

/** The words of the viewer in a language. */
export var WORDS = /^words\.[a-z]+\.json$/

/** The stored style of exactly this time, and its files. */
export var STYLE = /^[a-z0-9][a-z0-9_-]{0,62}@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
export var SPRITE = /^sprite(@2x)?\.(json|png)$/
export var GLYPHS = /^\d{1,7}-\d{1,7}\.pbf$/

/** Requests by POST that only read, below the database, at every server. */
export var READS =
  /^(_all_docs|_all_docs\/queries|_bulk_get|_changes|_revs_diff|_design\/[^/]+\/_view\/[^/]+(\/queries)?)$/
