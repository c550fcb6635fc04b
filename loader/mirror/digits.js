// Regular expressions of ranges of numbers, written without leading zeros: 7 to 123 is 7, 8, 9, two digits, 100 to 119, 120 to 123.

/**
 * @param {number} low @param {number} high inclusive
 * @returns {string} an expression that stands for itself, whatever comes before and after
 */
export function digitsBetween (low, high) {
  const parts = []
  for (let from = low; from <= high;) {
    const to = Math.min(high, end(from, high))
    parts.push(alike(`${from}`, `${to}`))
    from = to + 1
  }
  return parts.length === 1 ? parts[0] : `(?:${parts.join('|')})`
}

/** The last number up to which one expression goes: its digits are those of the first, then one range, then any. */
function end (from, high) {
  let best = from
  for (let scale = 1; from % scale === 0; scale *= 10) {
    const digit = Math.floor(from / scale) % 10
    if (from < scale) break // no leading zeros
    // as many of this digit as there is room for
    const last = from + scale * Math.min(9 - digit, Math.floor((high - from + 1) / scale) - 1) + scale - 1
    if (last >= from && last <= high) best = Math.max(best, last)
  }
  return from === 0 ? Math.min(9, high) : best
}

/** Numbers of equally many digits that begin alike, differ in one digit's range and end with any. */
function alike (from, to) {
  if (from === to) return from
  let at = 0
  while (from[at] === to[at]) at++
  const any = from.length - at - 1
  const digit = `[${from[at]}-${to[at]}]`
  return `${from.slice(0, at)}${digit}${any ? `[0-9]${any > 1 ? `{${any}}` : ''}` : ''}`
}
