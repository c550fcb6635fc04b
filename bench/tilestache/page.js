// Tables, sentences and plots for the results of bench/tilestache.js.
import { bars, groupedBars, spans } from '../plots/charts.js'
import { machineLine, programList, range, rounds as inRounds, thousands } from '../plots/words.js'
import { OURS } from './names.js'

const CLOSED = 'a connection for each request'
const KEPT = 'connections kept (-k)'
const SHORTEST = 0.5 // milliseconds that replace the 0 of ab in plots

/** The figures at the only measured number of connections. */
const figuresAt = (results, connections) =>
  Object.fromEntries(Object.entries(results).map(([name, levels]) => [name, levels[connections]]))

/** @param {any} result bench/results/tilestache.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, bytes, connections, requests, rounds, manyRounds, seconds, ab, wrk } = result
  const [closed, open, manyTiles] =
    [result.one.closed, result.one.kept, result.many].map(results => figuresAt(results, connections))
  const rateOf = figures => figures ? range(figures.rate) : 'not to be had'
  return {
    tilestacheMachine:
      `${machineLine(result)}. One tile of ${thousands(bytes)} bytes: ` +
      `ab ${ab}, \`-c ${connections} -n ${requests}\`, ` +
      `${inRounds(rounds)} in turns. ${thousands(tiles)} different tiles of as many bytes, in random order: ` +
      `wrk ${wrk}, ` +
      `${connections} connections that are kept, ${inRounds(manyRounds)} of ${seconds} s in turns.`,
    tilestacheRates: table(
      ['requests a second: median (lowest–highest)', CLOSED, KEPT, `${thousands(tiles)} tiles`],
      Object.keys(manyTiles).map(name => [name, ...[closed, open, manyTiles].map(results => rateOf(results[name]))])
    ),
    tilestachePrograms: programList(result)
  }
}

export function plots ({ bytes, tiles, connections, requests, one, many }) {
  const [closed, open, different] =
    [one.closed, one.kept, many].map(results => Object.entries(figuresAt(results, connections)))
  const bar =
    ([name, { rate }]) => ({ name, value: rate.median, low: rate.min, high: rate.max, ours: OURS.includes(name) })
  const span = ([name, figures]) => ({
    name, ours: OURS.includes(name),
    .../** @type {any} */ (
      Object.fromEntries(['p50', 'p90', 'p99', 'max'].map(rank => [rank, Math.max(SHORTEST, figures.ms[rank])]))
    )
  })
  const crowdText = `${connections} at a time`
  return {
    'tilestache-one': groupedBars({
      title: `One tile of ${thousands(bytes)} bytes, ${thousands(requests)} times, ${crowdText}`,
      unit: 'requests a second', log: true,
      rows: [[CLOSED, closed], [KEPT, open]].flatMap(([kind, figures]) => /** @type {any[]} */ (figures)
        .map(entry => ({ ...bar(entry), group: entry[0], name: /** @type {string} */ (kind) })))
    }),
    'tilestache-times': spans(
      { title: `How long one tile takes, ${crowdText}, ${CLOSED}`, unit: 'milliseconds', rows: closed.map(span) }
    ),
    'tilestache-many': bars(
      {
        title: `${thousands(tiles)} different tiles, ${crowdText}, connections kept`,
        unit: 'requests a second', log: true, rows: different.map(bar)
      }
    ),
    'tilestache-many-times': spans(
      {
        title: `How long each of ${thousands(tiles)} tiles takes, ${crowdText}`,
        unit: 'milliseconds', rows: different.map(span)
      }
    )
  }
}
