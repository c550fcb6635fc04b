// Parts of the page of an edition: where it is, what differs from the one before, and what its removal would do.
import { element } from '../../../client/timeline/dom.js'
import { count, time } from '../../format.js'
import { format } from '../../permalink.js'
import { texts } from '../../words/admin/index.js'
import { command, shellLine } from '../command.js'
import { differencesOf } from './differences.js'
import { around, degreesOf, extentOf, isDrawable, smallMap, viewOf } from './map.js'
import { footprintOf } from './reading.js'

const words = texts.editions

/** A card whose content has to be read. */
export function part (head, name) {
  const body = element('div', { class: 'body', 'aria-busy': 'true' }, element('p', { class: 'hint' }, words.reading))
  return {
    element: element('section', { class: `card ${name}` }, element('h3', null, head), body),
    /** @param {() => Promise<any[]>} read @param {AbortSignal} signal */
    async fill (read, signal) {
      body.setAttribute('aria-busy', 'true')
      let content
      try {
        content = await read()
      } catch (error) {
        content = [element('p', { class: 'problem' }, texts.failed(error.message))]
      }
      if (signal.aborted) return
      body.replaceChildren(...content.filter(Boolean))
      body.removeAttribute('aria-busy')
    }
  }
}

/** `46.80, 7.30` */
const place = (lat, lon) => `${lat.toFixed(2)}, ${lon.toFixed(2)}`

/** @param {import('./map.js').Extent} extent */
function inWords (extent) {
  const [west, south, east, north] = degreesOf(extent)
  return words.footprint.bounds(place(south, west), place(north, east))
}

const zoomsOf = ({ min, max }) => min === max ? words.footprint.zoom(min) : words.footprint.zooms(min, max)

/** Where the viewer shows a layer at a time, or two times beside each other. */
export function viewerLink (label, layer, when, extent) {
  const [from, to] = [when].flat().length > 1 ? when : [null, when]
  const view = extent && viewOf(extent)
  const shown = { layer, time: to, ...(from && { comparing: true, range: { from, to } }) }
  const hash = view ? format({ ...shown, view }) : `#${layer}@${from ? `${from}..` : ''}${to}`
  return element('a', { href: `./${hash}` }, label)
}

/**
 * @param {import('../index.js').App} app @param {any} layer its document
 * @returns {Promise<{nodes: any[], extent?: import('./map.js').Extent}>}
 */
export async function footprint ({ couch }, layer, edition, signal) {
  const found = await footprintOf(couch, layer.layer, edition.time, signal)
  if (!found) return { nodes: [element('p', { class: 'hint' }, words.footprint.none)] }
  const tiles = words.tilesCounted(found.tiles)
  if (!found.rectangles.length) return { nodes: [element('p', null, words.footprint.summary(tiles, ''))] }
  const summary = words.footprint.summary(tiles, zoomsOf(found.zooms))
  if (!isDrawable(layer)) {
    return { nodes: [element('p', null, summary), element('p', { class: 'hint' }, words.otherGrid)] }
  }
  const extent = around(found.rectangles.map(extentOf))
  const label = `${summary} ${inWords(extent)}`
  const map = smallMap({ couch, layer, signal }, { rectangles: found.rectangles, area: found.area, label })
  const legend = found.areTiles ? words.footprint.tiles(found.zooms.max) : words.footprint.blocks(found.zooms.max)
  return {
    extent,
    nodes: [element('div', { class: 'with-map' }, map, element('div', { class: 'beside' },
      element('p', null, summary), element('p', null, inWords(extent)),
      element('p', { class: 'hint' }, legend, found.area ? ` ${words.footprint.area}` : '')))]
  }
}

/**
 * @param {import('../index.js').App} app @param {any} layer its document
 * @param {any} edition @param {any} before the edition before
 */
export async function comparison ({ couch }, layer, edition, before, signal, extent) {
  if (!before) return [element('p', null, words.compare.first)]
  const times = /** @type {[string, string]} */ ([before.time, edition.time])
  const found = await differencesOf(couch, layer.layer, times, signal)
  const line = shellLine('diff', `${layer.layer}@${before.time}`, `${layer.layer}@${edition.time}`)
  const more = [element('p', { class: 'hint' }, words.compare.command), command(line, words.copy(line))]
  const lead = element('p', null, words.compare.lead, ' ',
    element('a', { href: `#editions/${layer.layer}/${before.time}` }, before.title || time(before.time)))
  if (!found) {
    const link = element('p', null, viewerLink(words.compare.view, layer.layer, times, extent))
    return [lead, element('p', { class: 'hint' }, words.compare.none), link, ...more]
  }
  const value = number => found.isEstimate ? words.compare.about(count(number)) : count(number)
  const figures = element('dl', { class: 'figures' }, ['added', 'changed', 'removed'].map(kind =>
    element('div', { class: kind }, element('dt', null, words.compare[kind]), element('dd', null, value(found.tiles[kind])))))
  const blocks = words.compare.blocks(count(found.differing), words.blocksCounted(found.blocks))
  const changed = around(found.rectangles.map(extentOf))
  const link = element('p', null, viewerLink(words.compare.view, layer.layer, times, isDrawable(layer) && (changed ?? extent)))
  const side = element('div', { class: 'beside' }, figures, element('p', { class: 'hint' }, blocks), link)
  if (!changed || !isDrawable(layer)) return [lead, side, ...more]
  const label = `${words.compare.map} ${inWords(changed)}`
  const within = around([changed, ...extent ? [extent] : []])
  const map = smallMap({ couch, layer, signal }, { rectangles: found.rectangles, within, label })
  return [lead, element('div', { class: 'with-map' }, map, side), ...more]
}

/**
 * What its removal would do, and the command for it.
 * @param {any} edition @param {any} before @param {any} after the editions before and after it
 */
export function removal (layer, edition, before, after) {
  const { created = 0, advanced = 0, backfilled = 0 } = edition
  const name = other => other.title ? `${other.title} (${time(other.time)})` : time(other.time)
  const then = before ? words.remove.before(name(before)) : words.remove.nothing
  const when = after ? words.remove.until(time(edition.time), name(after)) : words.remove.since(time(edition.time))
  const lines = [
    { text: words.remove.dryRun, line: shellLine('remove', layer, '--edition', edition.time, '--dry-run') },
    { text: words.remove.command, line: shellLine('remove', layer, '--edition', edition.time) }
  ]
  return [
    element('p', null, `${when} ${then}`),
    element('ul', { class: 'plain' },
      element('li', null, words.remove.versions(created + advanced + backfilled)),
      before && element('li', null, words.remove.fallBack(advanced + backfilled)),
      created > 0 && element('li', null, words.remove.none(created)),
      element('li', null, words.remove.others)),
    before && element('p', null, viewerLink(words.remove.view, layer, before.time, null)),
    ...lines.flatMap(({ text, line }) => [element('p', { class: 'hint' }, text), command(line, words.copy(line))]),
    element('p', { class: 'hint' }, words.remove.forEver)
  ].filter(Boolean)
}
