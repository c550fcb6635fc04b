// Patterns of the addresses of a store, for the gateway, the embedded store and _design/tiles/rewrites.js. The latter
// has this file inside: it is ES5 except for `export`, and imports nothing.

/** A time in UTC: a second, or a period such as 2024-03. */
var TIME =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T([01]\d|2[0-3])(?::[0-5]\d(?::[0-5]\d)?)?Z?)?)?)?$/

var DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether a text is such a time, and on the calendar. Without a Date, which takes longer than all the rest. */
export function isTime (text) {
  var time = TIME.exec(text)
  if (!time) return false
  if (!time[2]) return true
  var year = +time[1]
  var month = +time[2]
  var day = +(time[3] || 1)
  var isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day >= 1 && day <= DAYS[month - 1] + (isLeap && month === 2 ? 1 : 0)
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
