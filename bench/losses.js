// Where something else is better, by the figures of the benchmarks themselves. What was not measured has no row.
import { GATEWAY as CACHE, MEMCACHED, REDIS } from './diskcache/names.js'
import { ms, thousands, times } from './plots/words.js'
import { COLD, COUCH, FILES, HOT, REWRITE } from './serve/names.js'
import { TREE } from './tilestache/names.js'
import * as lap from './tilecache/names.js'


/**
 * @typedef {object} Loss
 * @property {string} wish what somebody needs
 * @property {string[]} needs results
 * @property {(results: Record<string, any>) => string | undefined} figures
 * @property {string} use
 */

/** @type {Loss[]} */
const losses = [
  {
    wish: 'The newest map alone, as fast as a machine can send it',
    needs: ['serve'],
    figures: ({ serve: { levels, results } }) => {
      const level = levels.includes(32) ? 32 : levels[levels.length - 1]
      const [files, hot] = [results[FILES]?.[level].rate.median, results[HOT][level].rate.median]
      return files && `nginx on a folder of files serves ${times(files / hot)} as many tiles as the gateway in one process (${thousands(files)} and ${thousands(hot)} a second).`
    },
    use: 'nginx on a folder of PNGs; or on [what tilecouch exports](file-trees.md), when there is a past as well'
  },
  {
    wish: 'Many clients that open a connection for each tile',
    needs: ['tilestache'],
    figures: ({ tilestache: { connections, one: { closed } } }) => closed[TREE] && `nginx on an export serves ${times(closed[TREE][connections].rate.median / closed[HOT][connections].rate.median)} as many tiles as the gateway.`,
    use: 'nginx in front of the gateway ([proxy_cache](gateway.md)), or an export'
  },
  {
    wish: 'Tiles that nobody asks for twice',
    needs: ['tilecache'],
    figures: ({ tilecache: { laps } }) => {
      const of = name => laps[name][lap.WARM][1].median
      return `One after the other they take ${times(of(COLD) / of(COUCH))} as long through a gateway with nothing in memory as straight from CouchDB, and ${times(of(REWRITE) / of(COUCH))} as long through \`_rewrite\`.`
    },
    use: 'the plain address of the attachment in CouchDB'
  },
  {
    wish: 'Values that change all the time and may be lost',
    needs: ['diskcache'],
    figures: ({ diskcache: { results } }) => {
      const set = name => results[name]?.[1].actions.set.p50.median
      const others = [MEMCACHED, REDIS].filter(set)
      return others.length ? `To overwrite one takes ${ms(set(CACHE) / 1000)} ms, which is ${others.map(name => `${times(set(CACHE) / set(name))} what it takes ${name}`).join(' and ')}.` : undefined
    },
    use: 'memcached, Redis, DiskCache'
  },
  {
    wish: 'Writing tiles one by one',
    needs: ['tilecache'],
    figures: ({ tilecache: { tiles, seeding } }) => {
      const rate = name => thousands(Math.round(tiles / seeding[name].median))
      return `One PUT a tile brings ${rate(lap.SEED_PUT)} a second into CouchDB, files ${rate(lap.SEED_FILES)}; a load ${rate(lap.SEED_LOAD)}.`
    },
    use: '`tilecouch load`, which writes many together; files where nothing else is wanted'
  },
  {
    wish: 'A device that keeps the newest tiles and nothing else',
    needs: ['offline'],
    figures: ({ offline: { figures } }) => figures['leaflet.offline'] && `leaflet.offline reads a tile in ${ms(figures['leaflet.offline'].read.p50)} ms, an area of tilecouch in ${ms(figures.tilecouch.read.p50)} ms; it took them along ${times(figures.tilecouch.median / figures['leaflet.offline'].median)} as slowly.`,
    use: 'leaflet.offline, where reading matters more than taking along, refreshing and the past'
  }
]

/** @param {Record<string, any>} results by name @param {import('./plots/words.js').Table} table */
export function lossTable (results, table) {
  const rows = losses.filter(({ needs }) => needs.every(name => results[name])).flatMap(({ wish, figures, use }) => {
    const told = figures(results)
    return told ? [[wish, told, use]] : []
  })
  return table(['what is wanted', 'what was measured', 'better'], rows)
}
