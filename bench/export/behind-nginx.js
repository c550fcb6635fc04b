// Compares nginx on an edition of an exported tree with nginx on a plain folder of the same tiles.
import path from 'node:path'
import { mkdir, writeFile } from 'node:fs/promises'
import { checkAnswers, checkSample } from '../serve/check.js'
import { LAYER, LENGTH, NEW, OLD, placesOf, shuffled } from '../block.js'
import { filesConf, findNginx, startNginx } from '../programs/nginx.js'
import { measureRounds, ratio } from '../serve/rounds.js'
import { findWrk, runWrk, writeList } from '../programs/wrk.js'
import { nginxConfig } from '../../loader/export/tree/index.js'
import { edition } from './data.js'

const SERVED = 10_000 // tiles at most: both folders fit into the page cache
const PLAIN = 'nginx, plain folder'
const CONNECTIONS = 32 // connections

export async function behindNginx ({ dir, tree, tiles, seconds, rounds, signal, closing, log }) {
  const [nginx, wrk] = [findNginx(), findWrk()]
  if (!nginx || !wrk) return void log('  left out: nginx on the tree (nginx or wrk is not installed)')
  const places = shuffled(placesOf(tiles), 3).slice(0, SERVED)
  const servedIndexes = new Set(places.map(({ index }) => index))
  const plain = path.join(dir, 'plain')
  const bodies = new Map()
  let index = 0
  for (const { z, x, y, bytes } of edition(tiles, NEW)) {
    if (!servedIndexes.has(index++)) continue
    const folder = path.join(plain, LAYER, `${z}`, `${x}`)
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, `${y}.png`), bytes)
    if (bodies.size < 20) bodies.set(`${z}/${x}/${y}`, bytes)
  }
  const start = async (name, http) => {
    const server = await startNginx(nginx,
      { dir: path.join(dir, name), http, probe: `/${LAYER}/${places[0].z}/${places[0].x}/${places[0].y}.png` })
    closing.push(server.close)
    return server.url
  }
  const [onPlain, onTree] =
    [await start('nginx-plain', filesConf(plain)), await start('nginx-tree', port => treeConfig(tree, port))]
  const contenders = []
  for (const [name, url, prefix] of [
    [PLAIN, onPlain, LAYER], ['nginx, tree, now', onTree, LAYER],
    ['nginx, tree, first edition', onTree, `${LAYER}@${OLD}`], ['nginx, tree, last edition', onTree, `${LAYER}@${NEW}`]
  ]) {
    const list = path.join(dir, `requests-${contenders.length}`)
    await writeList(list, places.map(({ z, x, y }) => ({ path: `/${prefix}/${z}/${x}/${y}.png` })))
    if (prefix !== `${LAYER}@${OLD}`) {
      await checkAnswers(name,
        {
          url, requests: [...bodies.keys()].map(place => ({ path: `/${prefix}/${place}.png` })),
          bodies: [...bodies.values()], status: 200
        })
    }
    contenders.push({
      name,
      async run ({ connections, seconds: length }) {
        const sample = await runWrk(wrk, { url, list, connections, seconds: length, signal })
        checkSample(name, sample, { connections, length: LENGTH })
        return sample
      }
    })
  }
  const results = await measureRounds(contenders, { levels: [1, CONNECTIONS], rounds, seconds, warm: 1, signal, log })
  const budgets = contenders.slice(1).map(({ name }) => {
    const figure = ratio(results[name][CONNECTIONS], results[PLAIN][CONNECTIONS])
    // Both serve the same kind of files; the requests differ only in their headers.
    return {
      what: `${name} / plain folder, ${CONNECTIONS} connections`, target: '>= 0.95',
      figure: figure.toFixed(2), met: figure >= 0.95
    }
  })
  return { results, budgets }
}

/** The configuration that the export writes for nginx, with our own port. */
function treeConfig (tree, port) {
  return nginxConfig({ root: tree, listen: `127.0.0.1:${port}` })
}
