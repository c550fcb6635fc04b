// What a load reports.
import { bytes, count, duration, plural, secondsSince } from './output.js'

const SHOWN_FAILURES = 20 // lines; --json has more

/** The result of load, or what it did until it ended; time: that of the source. */
export function reportLoad (output, result, /** @type {any} */ { started, ended = '', time }) {
  const seconds = secondsSince(started)
  const name = result.time ? `${result.layer}@${result.time}` : result.layer
  output.result({ ...result, seconds }, [
    `${name}${ended && ` (${ended})`}: ${plural(result.tiles, 'tile')} in ${duration(seconds)} (${rate(result.tiles, seconds)}/s)`,
    ...(time ? ['  The source says this time; --time sets another.'] : []),
    ...countLines(result),
    ...failureLines(result),
    ...(result.warnings ?? []).flatMap(warningLines)
  ])
}

export const warningLines = ({ message, advice }) => [`WARNING: ${message}`, `  ${advice}`]

/** Tiles a second. */
export const rate = (tiles, seconds) => count(Math.round(tiles / Math.max(seconds, 0.001)))

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
