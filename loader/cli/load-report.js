// What a load reports.
import { bytes, count, duration, plural, secondsSince } from './output.js'

const SHOWN_FAILURES = 20 // lines; --json has more

/** The result of load, or what it did until it ended; written: when its last tile was; time: that of the source. */
export function reportLoad (output, result, /** @type {any} */ { started, written, ended = '', time }) {
  const spent = spentSince(started, written)
  const name = result.time ? `${result.layer}@${result.time}` : result.layer
  output.result({ ...result, ...spent }, [
    `${name}${ended && ` (${ended})`}: ${rates(result.tiles, spent)}`,
    ...(time ? ['  The source says this time; --time sets another.'] : []),
    ...countLines(result),
    ...failureLines(result),
    ...(result.warnings ?? []).flatMap(warningLines)
  ])
}

export const warningLines = ({ message, advice }) => [`WARNING: ${message}`, `  ${advice}`]

/**
 * seconds: until the map could be asked; writingSeconds: until all was written.
 * @returns {{seconds: number, writingSeconds?: number}}
 */
export const spentSince = (started, written) => ({
  seconds: secondsSince(started),
  ...(written !== undefined && { writingSeconds: secondsSince(started, written) })
})

/**
 * How many tiles in how long, and the rate with and without the indexes.
 * @param {number} tiles @param {ReturnType<typeof spentSince>} spent
 */
export function rates (tiles, { seconds, writingSeconds }) {
  const rate = time => `${count(Math.round(tiles / Math.max(time, 0.001)))}/s`
  const said = `${plural(tiles, 'tile')} in ${duration(seconds)}`
  if (writingSeconds === undefined) return `${said} (${rate(seconds)})`
  return `${said}, indexes included (${rate(seconds)}; written at ${rate(writingSeconds)})`
}

/** What was written, and what not. */
export function countLines (result) {
  const written = result.created + result.advanced + result.backfilled
  return [
    `  ${count(written)} written (${bytes(result.bytes)}): ${count(result.created)} new, ${count(result.advanced)} changed, ` +
      `${count(result.backfilled)} into the past, ${count(result.gone)} of them gone`,
    `  ${count(result.unchanged)} unchanged`,
    ...(result.missing ? [`  ${count(result.missing)} missing: the source has none`] : []),
    ...(result.ignored ? [`  ${plural(result.ignored, 'document')} of the source ignored: its name is not that of a tile`] : [])
  ]
}

export function failureLines (/** @type {any} */ { failed, failures }, shown = SHOWN_FAILURES) {
  if (!failed) return []
  return [
    `  ${count(failed)} failed:`,
    ...failures.slice(0, shown).map(({ id, code, reason }) => `    ${id}  ${reason} [${code}]`),
    ...(failed > shown ? [`    … and ${count(failed - shown)} more (--json lists them)`] : [])
  ]
}
