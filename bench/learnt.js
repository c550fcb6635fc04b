// What the benchmarks taught, in about ten lines: each says what its figures are, taken from the results, and is left out where
// they are not there.
import { RANDOM, DIGITS } from './bulk/documents.js'
import { FILES as CACHE_FILES, GATEWAY as CACHE_GATEWAY, MEMCACHED } from './diskcache/names.js'
import { BATCHES, GATEWAY } from './keyspace/contenders.js'
import { ms, thousands, times } from './plots/words.js'
import * as tilecacheNames from './tilecache/names.js'
import { ORIGINAL } from './tilecache/page.js'
import { BESIDE_TILESTACHE, TILESTACHE, TREE } from './tilestache/names.js'
import { HOT, MAPPROXY_FILES, TILESERVER } from './serve/names.js'

const rateOf = ({ median }) => thousands(median)
const best = results => Object.values(results).reduce((one, other) => other.median > one.median ? other : one)
const figureOf = (result, row) => result.budgets.find(({ what }) => row.test(what))?.figure
const list = words => words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}` : words.join('')

/** @type {{needs: string[], say: (results: Record<string, any>) => string}[]} */
const lines = [
  {
    needs: ['tilecache'],
    say: ({ tilecache: { tiles, laps } }) => {
      const lap = name => laps[name]?.[tilecacheNames.WARM][1].median
      const files = lap(tilecacheNames.FILES)
      const others = [['nginx on an export', tilecacheNames.NGINX], ['the gateway, once it has them,', tilecacheNames.HOT]].filter(([, name]) => lap(name)).map(([who, name]) => `${who} ${times(lap(name) / files)}`)
      return `[TileCache](benchmarks/tilecache.md): ${thousands(tiles)} tiles one after the other take ${times(lap(tilecacheNames.COUCH) / files)} as long out of CouchDB as out of files (${times(ORIGINAL.couchdb.mean / ORIGINAL.files.mean)} in 2009); ${list(others)}.`
    }
  },
  {
    needs: ['bulk'],
    say: ({ bulk: { sweeps: { small }, growth: { curves } } }) => {
      const raw = small.rows.filter(({ flights }) => flights === 1)
      const top = best(raw)
      const [ordered, random] = [DIGITS, RANDOM].map(name => curves.find(one => one.name === name))
      const shared = ordered.points.flatMap(a => random.points.filter(b => b.documents === a.documents).map(b => [a, b])).pop()
      const ids = shared ? ` Ids in order are ${times(shared[1].seconds / shared[0].seconds)} as quick as random ones at ${thousands(shared[0].documents)} documents.` : ''
      return `[Bulk](benchmarks/bulk.md): ${thousands(top.batch)} small documents in a request are stored ${times(top.median / raw.find(({ batch }) => batch === 1).median)} as fast as one PUT each.${ids}`
    }
  },
  {
    needs: ['tilestache'],
    say: ({ tilestache: { tiles, connections, many } }) => {
      const told = [['nginx on an export', TREE], ['nginx on the cache of TileStache', BESIDE_TILESTACHE], ['the gateway', HOT], ['TileStache', TILESTACHE], ['MapProxy', MAPPROXY_FILES], ['TileServer GL light', TILESERVER]]
        .filter(([, name]) => many[name]).map(([who, name]) => `${who} ${rateOf(many[name][connections].rate)}`)
      return `[TileStache](benchmarks/tilestache.md): of ${thousands(tiles)} tiles, to ${connections} connections, serve a second: ${list(told)}.`
    }
  },
  {
    needs: ['keyspace'],
    say: ({ keyspace: { levels, results: { reads, writes } } }) => {
      const most = levels[levels.length - 1]
      const caches = ['memcached', 'Redis'].filter(name => reads[name])
      const told = caches.map(name => `${name} reads ${times(reads[name][most].rate.median / reads[GATEWAY][most].rate.median)} and stores ${times(writes[name][most].rate.median / writes[BATCHES][most].rate.median)} as many values`)
      return `[Keyspace](benchmarks/keyspace.md): beside the gateway, and CouchDB written in batches, ${list(told)} of 8 kB with ${most} threads. They keep one version, in memory.`
    }
  },
  {
    needs: ['diskcache'],
    say: ({ diskcache: { results } }) => {
      const of = (name, action) => ms(results[name][1].actions[action].p50.median / 1000)
      const others = [MEMCACHED, CACHE_FILES].filter(name => results[name])
      return `[DiskCache](benchmarks/diskcache.md): a set takes ${of(CACHE_GATEWAY, 'set')} ms, for it keeps the version before and is safe on the disk${others.map(name => `; ${of(name, 'set')} ms with ${name}`).join('')}. A get through the gateway takes ${of(CACHE_GATEWAY, 'get')} ms.`
    }
  },
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
    needs: ['history'],
    say: ({ history }) => {
      const { stages } = history
      const largest = stages[stages.length - 1]
      const [{ ms: took }] = Object.values(largest.results)
      return `The whole past of what a map shows is one request of ${Math.round(took.p50)} ms with ${thousands(largest.versions)} versions in the store: ${figureOf(history, /^that \//)} of what it takes with ${thousands(stages[0].versions)}.`
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
