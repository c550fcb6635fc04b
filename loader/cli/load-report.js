// The messages of `tilecouch load`: what it is about to fetch, and what it did.
import { estimate } from '../seed/plan.js'
import { bytes, count, duration, plural, secondsSince } from './output.js'
import { announce } from './plan.js'

const SHOWN_FAILURES = 20 // lines; --json has more

/**
 * Shows how many tiles a tile server will be asked for.
 * @param {import('./output.js').Output} output
 * @param {import('../store/index.js').Store} store
 * @param {import('../sources/index.js').Source} source
 * @param {string} layer
 */
export async function announceSource (output, store, { counts }, layer) {
  if (counts) announce(output, layer, await estimate(store, layer, counts))
}

/**
 * @param {import('./output.js').Output} output
 * @param {any} result of load, or as far as it came
 * @param {{started: number, ended?: string, time?: string}} how time: which the source said
 */
export function reportLoad (output, result, { started, ended = '', time }) {
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

/** @param {import('../../core/index.js').TilecouchError} warning */
export const warningLines = ({ message, advice }) => [`WARNING: ${message}`, `  ${advice}`]

/** Tiles a second. */
export const rate = (tiles, seconds) => count(Math.round(tiles / Math.max(seconds, 0.001)))

/** What was written, and what not. */
export function countLines (result) {
  const written = result.created + result.advanced + result.backfilled
  return [
    `  ${count(written)} written (${bytes(result.bytes)}): ${count(result.created)} new, ${count(result.advanced)} changed, ${count(result.backfilled)} into the past, ${count(result.gone)} of them gone`,
    `  ${count(result.unchanged)} unchanged`,
    ...(result.missing ? [`  ${count(result.missing)} missing: the source has none`] : []),
    ...(result.ignored ? [`  ${plural(result.ignored, 'document')} of the source ignored: its name is not that of a tile`] : [])
  ]
}

export function failureLines ({ failed, failures }, shown = SHOWN_FAILURES) {
  if (!failed) return []
  return [
    `  ${count(failed)} failed:`,
    ...failures.slice(0, shown).map(({ id, code, reason }) => `    ${id}  ${reason} [${code}]`),
    ...(failed > shown ? [`    … and ${count(failed - shown)} more (--json lists them)`] : [])
  ]
}
