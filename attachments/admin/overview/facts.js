// What the overview says of the disk, of the tasks of CouchDB, of failures and of layers, from what was read. Pure.
import { byName } from '../../format.js'
import { texts } from '../words.js'
import { fullAt, learntAt } from './growth.js'
import { fromNow } from '../parts.js'

const MONTH = 30.44 // days
const FAR = 30 * 365.25 * 86_400_000 // milliseconds for which no estimate holds
const PER_CENT = 100

/**
 * @typedef {object} Disk
 * @property {{free: number, size: number, seen: string, full: string | null, aMonth: number} | null} room seen: when
 * @property {string} [why] it is not known
 * @property {boolean} isEmbedded
 */

/**
 * What is known of the disk, from the newest report that saw it.
 * @param {any[]} work documents @param {any} report the newest @param {number} aDay bytes that the disk fills a day
 * @param {number} now milliseconds @param {boolean} isEmbedded
 * @returns {Disk}
 */
export function diskOf (work, report, aDay, now, isEmbedded) {
  let newest
  for (const doc of work) {
    const { free, size: whole } = (doc.command === 'doctor' && doc.about?.disk) || {}
    if (free >= 0 && whole > 0 && (!newest || doc._id > newest._id)) newest = doc
  }
  const why = report?.about.findings.find(({ area, check }) => area === 'disk' && check === 'room')?.found
  if (!newest) return { room: null, ...(why && { why }), isEmbedded }
  const at = Date.parse(newest.finished ?? newest.seen)
  const { free, size: whole } = newest.about.disk
  const full = fullAt({ free, at }, aDay)
  return {
    room: {
      free,
      size: whole,
      seen: fromNow(at - now),
      full: full === null || full - now > FAR ? null : fromNow(Math.max(0, full - now)),
      aMonth: aDay * MONTH
    },
    isEmbedded
  }
}

/**
 * What CouchDB does in the background for this store: one line per kind of task, not one per shard.
 * @typedef {{type: string, share: number | null, shards: number}} Task share: done, 0 to 1
 * @param {any} state as readState() answers
 * @returns {{hasIndex: boolean, pending: number, isBuilding: boolean, tasks: Task[], seesTasks: boolean}}
 */
export function runningOf ({ info, index, tasks }) {
  const kinds = new Map()
  for (const { type, progress } of tasks ?? []) kinds.set(type, [...kinds.get(type) ?? [], progress])
  const known = [...kinds].map(([type, all]) => {
    const numbers = all.filter(Number.isFinite)
    const share = numbers.length ? numbers.reduce((sum, each) => sum + each, 0) / numbers.length / PER_CENT : null
    return { type, share: share === null ? null : Math.min(1, share), shards: all.length }
  })
  const has = type => known.some(task => task.type === type)
  const compactions = { database_compaction: info.compact_running, view_compaction: index?.compact_running }
  for (const [type, isRunning] of Object.entries(compactions)) {
    if (isRunning && !has(type)) known.push({ type, share: null, shards: 1 })
  }
  return {
    hasIndex: index !== null,
    pending: index?.updates_pending?.total ?? 0,
    isBuilding: Boolean(index?.updater_running) || has('indexer'),
    tasks: known,
    seesTasks: tasks !== null
  }
}

/**
 * Editions with failed tiles, and other commands, the newest first. A load that has an edition is in there already.
 * @typedef {{command: string, layer: string, when: string, failed: number, place: string}} Failure
 * @param {any[]} editions @param {any[]} work
 * @returns {Failure[]}
 */
export function failuresOf (editions, work) {
  const known = new Set(editions.map(({ layer, time }) => `${layer}@${time}`))
  const ofEdition = edition => ({
    command: texts.overview.tiles.load,
    layer: edition.layer,
    when: learntAt(edition) ?? edition.time,
    failed: edition.failed,
    place: `editions/${edition.layer}`
  })
  const ofWork = doc => ({
    command: doc.command, layer: doc.layer ?? '', when: doc.finished ?? doc.seen, failed: doc.failed, place: 'work'
  })
  const isOther = doc => doc.failed > 0 && !(doc.edition && known.has(`${doc.layer}@${doc.edition}`))
  return [...editions.filter(({ failed }) => failed > 0).map(ofEdition), ...work.filter(isOther).map(ofWork)]
    .sort((a, b) => a.when < b.when ? 1 : -1)
}

/** The newest edition of each layer, and when the store learnt of the last one. @param {any[]} editions */
export function newestOf (editions) {
  const last = new Map()
  let newest = ''
  for (const edition of editions) {
    const { layer, time } = edition
    if (!(last.get(layer) >= time)) last.set(layer, time)
    const learnt = learntAt(edition) ?? ''
    if (learnt > newest) newest = learnt
  }
  return { last, newest }
}

/** @param {any[]} layers documents @param {Map<string, any> | undefined} figures @param {Map<string, string>} last */
export function rowsOf (layers, figures, last) {
  const docs = new Map(layers.map(doc => [doc.layer, doc]))
  const nothing = figures ? { tiles: 0, versions: 0, bytes: 0 } : {}
  return [...new Set([...docs.keys(), ...figures?.keys() ?? []])].map(layer => {
    const { name, format } = docs.get(layer) ?? {}
    const { currentBytes, ...own } = figures?.get(layer) ?? { currentBytes: 0, ...nothing }
    return { layer, ...(typeof name === 'string' && { name }), format, ...own, last: last.get(layer) }
  }).sort((a, b) => byName(a.name ?? a.layer, b.name ?? b.layer))
}
