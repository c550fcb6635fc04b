// Tiles that have expired or will soon, and those that could not be loaded.
import { element } from '../../../client/timeline/dom.js'
import { count, time } from '../../format.js'
import { texts } from '../words.js'
import { atLeast } from './cards.js'
import { command } from '../command.js'
import { table } from '../table.js'
import { part } from './part.js'
import { learntAt } from './growth.js'

const words = texts.overview.tiles
const copy = texts.overview.needs.copy
const SHOWN = 10 // commands with failed tiles at once

/**
 * @typedef {{command: string, layer: string, when: string, failed: number, place: string}} Failure
 * @typedef {{expiring: Awaited<ReturnType<typeof import('./figures.js').readExpiring>>, canRefresh: boolean, failures:
 *   Failure[]}} Tiles canRefresh: a layer has an upstream
 * @returns {{element: HTMLElement, set: (data: Tiles) => void}}
 */
export const tiles = () => part(words.head, ({ expiring, canRefresh, failures }) => {
  const all = expiring ? [expiring.expired, ...expiring.next.map(each => each.count)] : []
  const row = (label, given) => element('div', null, element('dt', null, label), element('dd', null, atLeast(given)))
  const line = `tilecouch ${canRefresh ? 'seed' : 'prune'} --expired --all`
  return [
    !expiring
      ? element('p', null, texts.overview.noIndex)
      : all.some(each => each.tiles)
        ? element('dl', { class: 'lines' }, row(words.expired, expiring.expired), expiring.next.map(each => row(words.within(each.days), each.count)))
        : element('p', null, words.noneExpired),
    expiring?.expired.tiles > 0 && [
      element('p', { class: 'hint' }, canRefresh ? words.refresh : words.remove), command(line, copy(line))
    ],
    failures.length ? list(failures) : element('p', null, words.noneFailed)
  ].flat()
}, 'tiles')

function list (failures) {
  const rows = table(words.failedIn, [
    { label: words.what, cell: each => element('a', { href: `#${each.place}` }, each.command), isHead: true },
    { label: words.layer, cell: each => each.layer },
    { label: words.when, cell: each => time(each.when) },
    { label: words.count, cell: each => count(each.failed), isNumber: true }
  ], { most: SHOWN })
  rows.set(failures)
  return rows.element
}

/**
 * Editions with failed tiles, and other commands, the newest first. A load that has an edition is in there already.
 * @param {any[]} editions @param {any[]} work @returns {Failure[]}
 */
export function failuresOf (editions, work) {
  const known = new Set(editions.map(({ layer, time: at }) => `${layer}@${at}`))
  return [
    ...editions.filter(({ failed }) => failed > 0).map(edition => ({
      command: words.load, layer: edition.layer, when: learntAt(edition) ?? edition.time, failed: edition.failed, place: `editions/${edition.layer}`
    })),
    ...work.filter(doc => doc.failed > 0 && !(doc.edition && known.has(`${doc.layer}@${doc.edition}`))).map(doc => ({
      command: doc.command, layer: doc.layer ?? '', when: doc.finished ?? doc.seen, failed: doc.failed, place: 'work'
    }))
  ].sort((a, b) => a.when < b.when ? 1 : -1)
}
