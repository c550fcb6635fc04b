// The index: whether it is up to date. What CouchDB does in the background for this store: indexes, compaction.
import { element } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { percent } from '../../format.js'
import { texts } from '../words.js'
import { part } from './part.js'

const words = texts.overview.running
const PER_CENT = 100

/**
 * @typedef {{type: string, share: number | null, shards: number}} Task share: done, 0 to 1
 * @typedef {{hasIndex: boolean, pending: number, isBuilding: boolean, tasks: Task[], seesTasks: boolean}} Running
 * @param {(remedy: any) => void} act
 * @returns {{element: HTMLElement, set: (data: Running) => void}}
 */
export const running = act => part(words.head, ({ hasIndex, pending, isBuilding, tasks, seesTasks }) => [
  !hasIndex ? element('p', null, texts.overview.noIndex) : element('p', null, pending ? words.pending(pending) : words.upToDate, isBuilding && ` (${words.building})`),
  hasIndex && pending > 0 && !isBuilding && button(words.build, () => act({ name: 'build', path: '_design/versions/_view/by_time' }), { class: 'secondary' }),
  tasks.length
    ? element('ul', { class: 'tasks' }, tasks.map(task => element('li', null, ...line(task))))
    : element('p', { class: 'hint' }, seesTasks ? words.none : words.onlyAdmins)
], 'running')

function line ({ type, share }) {
  const name = words.tasks[type] ?? `${words.tasks.others} ${type}`
  if (share === null) return [name]
  return [`${name}: ${words.progress(percent(share))} `, element('progress', { max: 1, value: share, 'aria-label': name })]
}

/** One line per kind of task, not one per shard. @param {any} seen as readState() answers @returns {Running} */
export function runningOf ({ info, index, tasks }) {
  const kinds = new Map()
  for (const { type, progress } of tasks ?? []) kinds.set(type, [...kinds.get(type) ?? [], progress])
  const known = [...kinds].map(([type, all]) => {
    const numbers = all.filter(Number.isFinite)
    const share = numbers.length ? numbers.reduce((sum, each) => sum + each, 0) / numbers.length / PER_CENT : null
    return { type, share: share === null ? null : Math.min(1, share), shards: all.length }
  })
  const has = type => known.some(task => task.type === type)
  if (info.compact_running && !has('database_compaction')) known.push({ type: 'database_compaction', share: null, shards: 1 })
  if (index?.compact_running && !has('view_compaction')) known.push({ type: 'view_compaction', share: null, shards: 1 })
  return {
    hasIndex: index !== null,
    pending: index?.updates_pending?.total ?? 0,
    isBuilding: Boolean(index?.updater_running) || has('indexer'),
    tasks: known,
    seesTasks: tasks !== null
  }
}
