// What bench/tilecache.js measured, for docs/benchmarks/tilecache.md.
import { bars, groupedBars, spans } from '../plots/charts.js'
import { machineLine, megabytes, ms, programRows, rounds, thousands, times } from '../plots/words.js'
import * as names from './names.js'
import { ADVISE, DROP } from './page-cache.js'
import { usersAt } from './users.js'

/** What the original measured, in seconds: https://vmx.cx/cgi-bin/blog/index.cgi/benchmarking-is-not-easy%3A2009-09-23%3Aen%2CCouchDB%2CPython%2CTileCache%2Cgeo */
export const ORIGINAL = { files: { mean: 0.35, deviation: 0.04 }, couchdb: { mean: 3.03, deviation: 0.18 } }

const exact = seconds => seconds < 1 ? seconds.toFixed(3) : seconds.toFixed(2)
const withDeviation = (mean, deviation, count) => count > 1 ? `${exact(mean)} (${exact(deviation)})` : exact(mean) // one alone has none
const withRange = ({ median, min, max }) => min === max ? exact(median) : `${exact(median)} (${exact(min)}–${exact(max)})`
const atOnce = connections => Number(connections) === 1 ? '1 at a time' : `${connections} at a time`

/** What was measured: warm or dropped, and how many at a time. @param {any} result @returns {[string, string][]} */
export function settingsOf ({ laps }) {
  const [figures] = Object.values(laps)
  return Object.entries(figures).flatMap(([state, levels]) => Object.keys(levels).map(level => /** @type {[string, string]} */ ([state, level])))
}

const at = (result, name, state, level) => result.laps[name]?.[state]?.[level]

/** @param {any} result bench/results/tilecache.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, distinct, bytes, scale, laps, seeding, users } = result
  const settings = settingsOf(result)
  const head = what => [what, ...settings.map(([state, level]) => `page cache ${state}, ${atOnce(level)}`)]
  const rows = show => Object.keys(laps).map(name => [name, ...settings.map(([state, level]) => show(at(result, name, state, level)))])
  const dropped = settings.some(([state]) => state === names.DROPPED)
  return {
    tilecacheMachine: `${machineLine(result)}; ${thousands(tiles)} tiles, ${thousands(distinct)} of them different, ${megabytes(bytes.total)} together: ${thousands(bytes.min)} to ${thousands(bytes.max)} bytes, median ${thousands(bytes.median)}; ${scale.warm.rounds} laps with the page cache warm${dropped ? `, ${scale.dropped.rounds} with it dropped` : ''}; seeding: ${rounds(scale.seedings)}.`,
    tilecacheCache: cacheWords(result),
    tilecacheLaps: table(['seconds: mean (standard deviation)', 'real', 'user', 'sys', ...(dropped ? ['real, page cache dropped'] : [])], Object.keys(laps).map(name => {
      const warm = at(result, name, names.WARM, 1)
      const cold = at(result, name, names.DROPPED, 1)
      const count = scale.warm.rounds
      return [name, withDeviation(warm.mean, warm.deviation, count), withDeviation(warm.user, warm.userDeviation, count), withDeviation(warm.sys, warm.sysDeviation, count), ...(cold ? [withDeviation(cold.mean, cold.deviation, scale.dropped.rounds)] : [])]
    })),
    tilecacheMedians: table(head(`seconds for ${thousands(tiles)} tiles: median (lowest–highest)`), rows(withRange)),
    tilecacheTiles: table(head('milliseconds a tile, p50 / p90 / p99 / max'), rows(figures => ['p50', 'p90', 'p99', 'max'].map(rank => ms(figures.ms[rank])).join(' / '))),
    tilecacheSeeding: table(['way in', 'seconds: mean (standard deviation)', 'median (lowest–highest)', 'tiles a second'],
      Object.entries(seeding).map(([name, figures]) => [name, withDeviation(figures.mean, figures.deviation, scale.seedings), withRange(figures), thousands(Math.round(tiles / figures.median))])),
    tilecacheMeaning: meaning(result),
    tilecacheLosses: losses(result),
    tilecacheUsers: users.results
      ? table(['server', 'tiles a second: median (lowest–highest)', `a user of ${users.users}, tiles a second`, 'milliseconds a tile, p50 / p90 / p99 / max', 'users it is enough for'], Object.entries(users.results).map(([name, { rate, ms: ranks }]) => [
        name, rate.min === rate.max ? thousands(rate.median) : `${thousands(rate.median)} (${thousands(rate.min)}–${thousands(rate.max)})`,
        thousands(Math.round(rate.median / users.users)), ['p50', 'p90', 'p99', 'max'].map(rank => ms(ranks[rank])).join(' / '), thousands(usersAt(rate.median))
      ]))
      : `Not measured: ${users.missing}`,
    tilecachePrograms: table(['program', 'version', 'settings'], programRows(result))
  }
}

/** How the page cache was dropped, and how well. */
function cacheWords ({ pageCache: { how, why, bytes, before, after } }) {
  if (!how) return `**Not dropped in this run**: ${why}. All figures are with a warm page cache.`
  const looked = bytes ? ` A look with \`fincore\`: of the ${megabytes(bytes)} of all files concerned ${megabytes(Math.min(before, bytes))} were in memory before, ${megabytes(after)} after.` : ' How much was left in memory nobody could say: `fincore` is not installed.'
  return `Dropped in this run ${{
    [DROP]: 'with `/proc/sys/vm/drop_caches` before every lap: everything on the machine, names and inodes of files too.',
    [ADVISE]: 'with `posix_fadvise(DONTNEED)` on every file concerned before every lap, since `/proc/sys/vm/drop_caches` may not be written: an approximation. Names and inodes stay in memory, which spares files and nginx more than CouchDB.'
  }[how]}${looked}`
}

/** What the laps say, in sentences. */
function meaning (result) {
  const { tiles, users: { screen, connections } } = result
  const one = name => at(result, name, names.WARM, 1)
  const dropped = name => at(result, name, names.DROPPED, 1)
  const then = ORIGINAL.couchdb.mean / ORIGINAL.files.mean
  const screenOf = name => ms(at(result, name, names.WARM, connections).median / tiles * screen.tiles * 1000)
  const cold = dropped(names.COUCH) && ` With the page cache dropped CouchDB takes ${times(dropped(names.COUCH).median / one(names.COUCH).median)} as long as with a warm one, the file system ${times(dropped(names.FILES).median / one(names.FILES).median)}, and between the two ${times(dropped(names.COUCH).median / dropped(names.FILES).median)} are left.`
  return `One tile at a time CouchDB takes ${times(one(names.COUCH).median / one(names.FILES).median)} as long as the file system read directly (${times(then)} in the original): ${exact(one(names.COUCH).median)} s instead of ${exact(one(names.FILES).median)} s for ${thousands(tiles)} tiles. But nobody reads files directly over a network: ${result.laps[names.NGINX] ? `nginx on an export takes ${exact(one(names.NGINX).median)} s, ` : ''}the gateway ${result.laps[names.NGINX] ? '' : 'takes '}${exact(one(names.HOT).median)} s hot and ${exact(one(names.COLD).median)} s cold.${cold ?? ''}

A screen of ${screen.width} x ${screen.height} pixels shows at most ${screen.tiles} tiles. With ${connections} at a time, as a browser asks, it is complete ${screenOf(names.COUCH)} ms after the first request from CouchDB, ${screenOf(names.REWRITE)} ms through \`_rewrite\`, ${screenOf(names.COLD)} ms through a gateway that has nothing in memory and ${screenOf(names.HOT)} ms through one that has.`
}

/** Where a way through tilecouch takes longer than what lies behind it. */
function losses (result) {
  const { users: { connections } } = result
  const against = (name, other, level) => times(at(result, name, names.WARM, level).median / at(result, other, names.WARM, level).median)
  const both = (name, other) => `${against(name, other, 1)} as long one at a time and ${against(name, other, connections)} as long ${connections} at a time`
  return `A lap through a cold gateway takes ${both(names.COLD, names.COUCH)} as from CouchDB itself; one through \`_rewrite\` ${both(names.REWRITE, names.COUCH)} as one of plain attachments.${result.laps[names.NGINX] ? ` One through the hot gateway takes ${both(names.HOT, names.NGINX)} as one from nginx.` : ''}`
}

const short = { [names.WARM]: 'page cache warm', [names.DROPPED]: 'page cache dropped' }

/** @param {any} result */
export function plots (result) {
  const { tiles, laps, seeding, users } = result
  const ours = name => names.OURS.has(name)
  const states = settingsOf(result).filter(([, level]) => level === '1').map(([state]) => state)
  return {
    'tilecache-laps': groupedBars({
      title: `${thousands(tiles)} tiles, one at a time`, unit: 'seconds, median, shortest and longest lap', log: true,
      rows: Object.keys(laps).flatMap(group => states.map(state => {
        const { median, min, max } = at(result, group, state, 1)
        return { group, name: short[state], value: median, low: min, high: max }
      }))
    }),
    'tilecache-tiles': spans({
      title: `How long a tile takes, page cache warm, ${users.connections} at a time`, unit: 'milliseconds',
      rows: Object.keys(laps).map(name => ({ name, ...at(result, name, names.WARM, users.connections).ms, ours: ours(name) }))
    }),
    'tilecache-seeding': bars({
      title: `Until ${thousands(tiles)} tiles are there`, unit: 'seconds, median, shortest and longest', log: true,
      rows: Object.entries(seeding).map(([name, { median, min, max }]) => ({ name, value: median, low: min, high: max, ours: ours(name) }))
    }),
    ...(users.results && {
      'tilecache-users': bars({
        title: `${users.users} users at once, ${users.connections} connections each`, unit: 'tiles a user gets a second, median, lowest and highest', log: true,
        rows: Object.entries(users.results).map(([name, { rate: { median, min, max } }]) => ({ name, value: median / users.users, low: min / users.users, high: max / users.users, ours: ours(name) }))
      })
    })
  }
}
