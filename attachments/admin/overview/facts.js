// Pure functions that derive the facts of the overview: the disk, the tasks of CouchDB, failures and rows of layers.
import { byName, fromNow } from '../../format.js'
import { texts } from '../words.js'
import { fullAt, learntAt } from './growth.js'

const MONTH = 30.44 // days
const FAR = 30 * 365.25 * 86_400_000 // milliseconds: estimates beyond that are not shown
const PER_CENT = 100

/**
 * @typedef {object} Disk
 * @property {{free: number, size: number, seen: string, full: string | null, aMonth: number} | null} room seen: when
 * @property {string} [why] the reason why the room is unknown
 * @property {boolean} isEmbedded
 */

/**
 * The state of the disk, from the newest report that contains it.
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
  const seenAt = Date.parse(newest.finished ?? newest.seen)
  const { free, size: whole } = newest.about.disk
  const fullTime = fullAt({ free, at: seenAt }, aDay)
  return {
    room: {
      free,
      size: whole,
      seen: fromNow(seenAt - now),
      full: fullTime === null || fullTime - now > FAR ? null : fromNow(Math.max(0, fullTime - now)),
      aMonth: aDay * MONTH
    },
    isEmbedded
  }
}

/**
 * The background tasks of CouchDB for this store: one entry per kind of task, not one per shard.
 * @typedef {{type: string, share: number | null, shards: number}} Task share: done, 0 to 1
 * @param {any} state the answer of readState()
 * @returns {{hasIndex: boolean, pending: number, isBuilding: boolean, tasks: Task[], seesTasks: boolean}}
 */
export function runningOf ({ info, index, tasks }) {
  const kinds = new Map()
  for (const { type, progress } of tasks ?? []) kinds.set(type, [...kinds.get(type) ?? [], progress])
  const running = [...kinds].map(([type, shares]) => {
    const numbers = shares.filter(Number.isFinite)
    const share = numbers.length ? numbers.reduce((sum, number) => sum + number, 0) / numbers.length / PER_CENT : null
    return { type, share: share === null ? null : Math.min(1, share), shards: shares.length }
  })
  const hasTask = type => running.some(task => task.type === type)
  const compactions = { database_compaction: info.compact_running, view_compaction: index?.compact_running }
  for (const [type, isRunning] of Object.entries(compactions)) {
    if (isRunning && !hasTask(type)) running.push({ type, share: null, shards: 1 })
  }
  return {
    hasIndex: index !== null,
    pending: index?.updates_pending?.total ?? 0,
    isBuilding: Boolean(index?.updater_running) || hasTask('indexer'),
    tasks: running,
    seesTasks: tasks !== null
  }
}

/**
 * Editions and other commands with failed tiles, the newest first. Leaves out a load whose edition is listed.
 * @typedef {{command: string, layer: string, when: string, failed: number, place: string}} Failure
 * @param {any[]} editions @param {any[]} work
 * @returns {Failure[]}
 */
export function failuresOf (editions, work) {
  const editionKeys = new Set(editions.map(({ layer, time }) => `${layer}@${time}`))
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
  const isUnlisted = doc => doc.failed > 0 && !(doc.edition && editionKeys.has(`${doc.layer}@${doc.edition}`))
  return [...editions.filter(({ failed }) => failed > 0).map(ofEdition), ...work.filter(isUnlisted).map(ofWork)]
    .sort((a, b) => a.when < b.when ? 1 : -1)
}

/** The newest edition of each layer, and when the last one was stored. @param {any[]} editions */
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
  const noFigures = figures ? { tiles: 0, versions: 0, bytes: 0 } : {}
  return [...new Set([...docs.keys(), ...figures?.keys() ?? []])].map(layer => {
    const { name, format } = docs.get(layer) ?? {}
    const { currentBytes, ...layerFigures } = figures?.get(layer) ?? { currentBytes: 0, ...noFigures }
    return { layer, ...(typeof name === 'string' && { name }), format, ...layerFigures, last: last.get(layer) }
  }).sort((a, b) => byName(a.name ?? a.layer, b.name ?? b.layer))
}
