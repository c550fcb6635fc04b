// What the benchmarks taught, in about ten lines: each says what its figures are, taken from the results, and is left out where
// they are not there.
import { thousands } from './plots/words.js'

const rateOf = ({ median }) => thousands(median)
const best = results => Object.values(results).reduce((one, other) => other.median > one.median ? other : one)
const figureOf = (result, row) => result.budgets.find(({ what }) => row.test(what))?.figure

/** @type {{needs: string[], say: (results: Record<string, any>) => string}[]} */
const lines = [
  {
    needs: ['load'],
    say: ({ load }) => `A load that tunes itself stores ${rateOf(load.first['load, tuning itself'])} tiles a second: ${figureOf(load, /^load \/ raw/)} of what raw writes reach, ${figureOf(load, /^load \/ one PUT/)} of what one PUT a tile does.`
  },
  {
    needs: ['load'],
    say: ({ load }) => `An edition in which nothing changed is looked through at ${rateOf(load.second['nothing changed'])} tiles a second; one with 30 % changed is written at ${figureOf(load, /^second edition, 30 %/)} of the raw rate.`
  },
  {
    needs: ['serve'],
    say: ({ serve: { levels, results } }) => {
      const level = levels.includes(32) ? 32 : levels[levels.length - 1]
      const rate = name => rateOf(results[name][level].rate)
      const nginx = results['nginx, files'] ? `, from nginx on files at ${rate('nginx, files')}` : ''
      return `Tiles that were asked for before come from the gateway's memory at ${rate('gateway, hot')} a second with ${level} connections, from CouchDB at ${rate('CouchDB, attachment')}${nginx}.`
    }
  },
  {
    needs: ['serve'],
    say: ({ serve }) => `Tiles that nobody asked for before come through the gateway at ${figureOf(serve, /^cold tile/)} of the rate at which one Node client fetches them one by one from CouchDB.`
  },
  {
    needs: ['history'],
    say: ({ history }) => {
      const { stages } = history
      const largest = stages[stages.length - 1]
      const [{ ms }] = Object.values(largest.results)
      return `The whole past of what a map shows is one request of ${Math.round(ms.p50)} ms with ${thousands(largest.versions)} versions in the store: ${figureOf(history, /^that \//)} of what it takes with ${thousands(stages[0].versions)}.`
    }
  },
  {
    needs: ['mirror'],
    say: ({ mirror: { sizes } }) => {
      const { bytes, results } = sizes.find(one => one.bytes === 10_000) ?? sizes[0]
      const theirs = Object.entries(results).filter(([name]) => name !== 'tilecouch mirror')
      return `A mirror copies ${rateOf(results['tilecouch mirror'])} tiles of ${bytes / 1000} kB a second from one CouchDB to another, CouchDB's own replicator at best ${rateOf(best(Object.fromEntries(theirs)))}.`
    }
  },
  {
    needs: ['offline'],
    say: ({ offline: { figures } }) => `An area comes into a browser at ${rateOf(figures.tilecouch)} tiles a second, with \`PouchDB.replicate\` at ${rateOf(figures.replicate)}.`
  }
]

/** @param {Record<string, any>} results by name */
export const learnt = results => lines.filter(({ needs }) => needs.every(name => results[name])).map(({ say }) => `- ${say(results)}`).join('\n')
