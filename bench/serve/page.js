// The tables and plots of the results of bench/serve.js, for docs/benchmarks/serve.md.
import { plural } from '../../loader/cli/output.js'
import { bars, lines, spans } from '../plots/charts.js'
import { machineLine, programList, rounds as inRounds, thousands } from '../plots/words.js'

const connections = level => plural(level, 'connection')

const SHOWN = [1, 32] // numbers of connections in the table; the plots show all

/** The rows of answers with a tile, without 304. @returns {[string, any][]} */
const withTile = results => Object.entries(results).filter(([name]) => !name.endsWith('304'))

/** @param {any} result bench/results/serve.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, bytes, levels, rounds, seconds, wrk, results } = result
  const amounts = `${thousands(tiles)} tiles of ${thousands(bytes)} bytes with two versions each`
  const shownLevels = levels.filter(level => SHOWN.includes(level))
  const rows = withTile(results).map(([name, figures]) => [
    name,
    ...shownLevels.map(level => thousands(figures[level].rate.median))
  ])
  return {
    serveMachine: `${machineLine(result)}; wrk ${wrk}; ${amounts}; ${inRounds(rounds)} of ${seconds} s.`,
    serveRates: table(['tiles a second, median', ...shownLevels.map(connections)], rows),
    servePrograms: programList(result)
  }
}

const isOurs = name => name.startsWith('gateway')
const DRAWN = ['gateway, hot', 'gateway, hot, 2 workers', 'gateway, cold', 'CouchDB, attachment',
  'nginx, files', 'TileServer GL light, MBTiles', 'MapProxy, file cache', 'MapProxy, CouchDB cache']

export function plots ({ levels, results }) {
  const level = levels.includes(32) ? 32 : levels[levels.length - 1]
  const rowsWithTile = withTile(results)
  return {
    'serve-rates': bars({
      title: `Tiles a second, ${connections(level)}`, unit: 'requests a second, median, lowest and highest round',
      rows: rowsWithTile.map(([name, { [level]: { rate: { median, min, max } } }]) => (
        { name, value: median, low: min, high: max, ours: isOurs(name) }
      ))
    }),
    'serve-latencies': spans({
      title: `How long a tile takes, ${connections(level)}`, unit: 'milliseconds',
      rows: rowsWithTile.map(([name, figures]) => ({ name, ...figures[level].ms, ours: isOurs(name) }))
    }),
    ...levels.length > 1 && { // A short run has one number of connections: no line.
      'serve-connections': lines({
        title: 'Tiles a second by the number of connections', x: { title: 'connections', log: true },
        y: { title: 'requests a second, median, lowest and highest round', log: true },
        rows: DRAWN.filter(name => results[name])
          .flatMap(
            name => levels.map(
              x => ({ series: name, x, y: results[name][x].rate.median, low: results[
                name
              ][x].rate.min, high: results[name][x].rate.max })
            )
          )
      })
    }
  }
}
