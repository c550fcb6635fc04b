// The report of a load: its lines, figures, failures and warnings.
import { catalogue } from '../errors.js'
import { boxWords, byCause, bytes, count, duration, linesOf, plural } from './output.js'

/** Why an edition has its time, unless it was typed: by `timeFrom` of a load. */
export const timeWords = {
  source: 'The source says this time; --time sets another.',
  clock: 'This is the time of the load: neither --time nor the source says when the map looked like this.'
}

/**
 * Describes the result of a load, or its work until it was stopped or failed.
 * @param {any} result
 * @param {{layer: string, seconds: number, ended: string, first: string}} about first: the place of its first tiles,
 *   which was printed when they were read
 */
export function loadLines (result, { layer, seconds, ended, first }) {
  const where = result.where && result.tiles > result.failed ? whereLines(result.where) : []
  return [
    `${layer}${result.time ? `@${result.time}` : ''}${ended}: ${rates(result, seconds)}`,
    timeWords[result.timeFrom] && `  ${timeWords[result.timeFrom]}`,
    ...countLines(result),
    ...failureLines({ ...result, layer }),
    where.join() !== first && where,
    ...(result.warnings ?? []).flatMap(warningLines)
  ]
}

/** The figures of a load. @param {any} summary @returns {import('./task.js').TaskFigures} */
export function loadFigures ({ tiles, missing = 0, failed, failures, created, advanced, unchanged, bytes: size }) {
  const about = { bytes: size, created, advanced, unchanged, missing }
  return { done: tiles + missing, failed, failures, about }
}

export const warningLines = ({ message, advice }) => [`WARNING: ${message}`, `  ${advice}`]

const TYPES = { png: 'PNG', jpg: 'JPEG', webp: 'WebP', avif: 'AVIF', pbf: 'vector tiles' }

/**
 * The place, type, size, zooms and bounds of tiles.
 * @param {import('../load/georeference.js').Where} where
 * @param {string} [title]
 */
export function whereLines ({ place, flipped, bounds, zooms, tileSize, formats }, title = '  Place') {
  const types = formats.map(format => TYPES[format] ?? format).join(', ')
  const levels = zooms.min === zooms.max ? `zoom ${zooms.min}` : `zooms ${zooms.min} to ${zooms.max}`
  const facts = linesOf([types, tileSize && `${tileSize} x ${tileSize} pixels`, levels, `bounds ${boxWords(bounds)}`])
  return linesOf([
    `${title}: ${place}`,
    `  ${facts.join(', ')}`,
    flipped && `  With rows counted from the other side (--scheme) it would be ${flipped}.`,
    formats.includes('pbf') && '  MapLibre, OpenLayers and QGIS draw vector tiles; the viewer shows when they changed.'
  ])
}

/**
 * How many tiles in how long, and the rate with and without the indexes.
 * @param {{tiles: number, writingSeconds?: number}} result writingSeconds: until all tiles were written
 * @param {number} seconds until the indexes were built
 */
export function rates ({ tiles, writingSeconds }, seconds) {
  const rate = time => `${count(Math.round(tiles / Math.max(time, 0.001)))}/s`
  const summary = `${plural(tiles, 'tile')} in ${duration(seconds)}`
  if (writingSeconds === undefined) return `${summary} (${rate(seconds)})`
  return `${summary}, indexes included (${rate(seconds)}; written at ${rate(writingSeconds)})`
}

/** How many tiles were written, unchanged, missing and ignored. */
export function countLines (result) {
  const written = result.created + result.advanced + result.backfilled
  const encoded = result.reencoded ? `, ${count(result.reencoded)} of them encoded anew` : ''
  return [
    `  ${count(written)} written (${bytes(result.bytes)}): ${count(result.created)} new, ` +
      `${count(result.advanced)} changed, ${count(result.backfilled)} into the past, ` +
      `${count(result.gone)} of them gone`,
    `  ${count(result.unchanged)} unchanged${encoded}`,
    result.missing && `  ${count(result.missing)} missing: the source has none`,
    result.ignored && `  ${plural(result.ignored, 'document')} of the source ignored: its name is not that of a tile`
  ]
}

/**
 * Failures by their cause, with what to do.
 * @param {{failed: number, failures: {id: string, code: string, reason: string}[], layer?: string, time?: string}}
 *   result failures: some of them
 */
export function failureLines ({ failed, failures, layer, time }) {
  if (!failed) return []
  const lines = byCause(failures, failed, {
    causeOf: ({ code }) => code,
    wordsOf: ({ id, code, reason }) => [`${id}  ${reason} [${code}]`, ...adviceOn(code, { LAYER: layer, TIME: time })]
  })
  const hint = new Set(failures.map(({ code }) => code)).size < failed ? ['    --json lists them one by one.'] : []
  return [`  ${count(failed)} failed:`, ...lines, ...hint]
}

/** The advice of the catalogue, with the layer and time that it is about. */
function adviceOn (code, names) {
  const advice = catalogue[code]?.advice?.replace(/\b(LAYER|TIME)\b/g, name => names[name] ?? name)
  return advice ? [advice] : []
}
