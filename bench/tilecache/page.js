// The tables and plots of the results of bench/tilecache.js, for docs/benchmarks/tilecache.md.
import { bars, groupedBars, spans } from '../plots/charts.js'
import { machineLine, megabytes, programList, rounds, thousands } from '../plots/words.js'
import * as names from './names.js'

const format = seconds => seconds < 1 ? seconds.toFixed(3) : seconds.toFixed(2)
// a single value has no deviation
const withDeviation = (mean, deviation, count) => count > 1 ? `${format(mean)} (${format(deviation)})` : format(mean)
const atOnce = connections => Number(connections) === 1 ? '1 at a time' : `${connections} at a time`

/**
 * The settings of the laps: page cache warm or dropped, and number of concurrent requests.
 * @returns {[string, string][]}
 */
export function settingsOf ({ laps }) {
  const [figures] = Object.values(laps)
  return Object.entries(figures)
    .flatMap(([state, levels]) => Object.keys(levels).map(level => /** @type {[string, string]} */ ([state, level])))
}

const at = (result, name, state, level) => result.laps[name]?.[state]?.[level]

/** @param {any} result bench/results/tilecache.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, distinct, bytes, scale, laps, seeding, connections } = result
  const { warm, dropped } = scale
  const hasDropped = settingsOf(result).some(([state]) => state === names.DROPPED)
  const lapsHead = [
    'seconds: mean (standard deviation)',
    'real',
    'user',
    'sys',
    atOnce(connections),
    ...(hasDropped ? ['real, page cache dropped'] : [])
  ]
  const lapsRow = name => {
    const lap = at(result, name, names.WARM, 1)
    const concurrent = at(result, name, names.WARM, connections)
    const afterDrop = at(result, name, names.DROPPED, 1)
    return [
      name,
      withDeviation(lap.mean, lap.deviation, warm.rounds),
      withDeviation(lap.user, lap.userDeviation, warm.rounds),
      withDeviation(lap.sys, lap.sysDeviation, warm.rounds),
      withDeviation(concurrent.mean, concurrent.deviation, warm.rounds),
      ...hasDropped ? [withDeviation(afterDrop.mean, afterDrop.deviation, dropped.rounds)] : []
    ]
  }
  const seedingRow = ([name, { mean, deviation, median }]) =>
    [name, withDeviation(mean, deviation, scale.seedings), thousands(Math.round(tiles / median))]
  return {
    tilecacheMachine:
      `${machineLine(result)}; ${thousands(tiles)} tiles, ${thousands(distinct)} of them different, ` +
      `${megabytes(bytes.total)} together; ${warm.rounds} laps with the page cache warm` +
      `${hasDropped ? `, ${dropped.rounds} with it dropped` : ''}; seeding: ${rounds(scale.seedings)}.`,
    tilecacheLaps: table(lapsHead, Object.keys(laps).map(lapsRow)),
    tilecacheSeeding: table(
      ['seconds: mean (standard deviation)', 'real', 'tiles a second'],
      Object.entries(seeding).map(seedingRow)
    ),
    tilecachePrograms: programList(result)
  }
}

const stateLabels = { [names.WARM]: 'page cache warm', [names.DROPPED]: 'page cache dropped' }

export function plots (result) {
  const { tiles, laps, seeding, connections } = result
  const ours = name => names.OURS.has(name)
  const states = settingsOf(result).filter(([, level]) => level === '1').map(([state]) => state)
  return {
    'tilecache-laps': groupedBars({
      title: `${thousands(tiles)} tiles, one at a time`, unit: 'seconds, median, shortest and longest lap', log: true,
      rows: Object.keys(laps).flatMap(group => states.map(state => {
        const { median, min, max } = at(result, group, state, 1)
        return { group, name: stateLabels[state], value: median, low: min, high: max }
      }))
    }),
    'tilecache-tiles': spans({
      title: `How long a tile takes, page cache warm, ${connections} at a time`, unit: 'milliseconds',
      rows: Object.keys(laps).map(name => ({ name, ...at(result, name, names.WARM, connections).ms, ours: ours(name) }))
    }),
    'tilecache-seeding': bars({
      title: `Until ${thousands(tiles)} tiles are there`, unit: 'seconds, median, shortest and longest', log: true,
      rows: Object.entries(seeding)
        .map(([name, { median, min, max }]) => ({ name, value: median, low: min, high: max, ours: ours(name) }))
    })
  }
}
