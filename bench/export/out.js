// Exports a layer to every target, in turns, each in its own process.
import { execFile } from 'node:child_process'
import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../measure.js'
import { LAYER, NEW, OLD } from '../block.js'

const LIMIT = 250 // MB, DESIGN.md 7
const KINDS = [
  { kind: 'read', name: 'reading alone' },
  { kind: 'folder', name: 'folder' },
  { kind: 'mbtiles', name: 'MBTiles' },
  { kind: 'pmtiles', name: 'PMTiles' },
  { kind: 'tree', name: 'tree of two editions and the present' }
]
const script = fileURLToPath(new URL('alone.js', import.meta.url))
const run = promisify(execFile)

export async function exportAll ({ url, dir, tiles, rounds, signal, log }) {
  const targetOf = kind => path.join(dir, ['folder', 'tree', 'read'].includes(kind) ? kind : `${LAYER}.${kind}`)
  const samples = {}
  for (let round = 0; round < rounds; round++) {
    for (const { kind, name } of KINDS) {
      await rm(targetOf(kind), { recursive: true, force: true })
      const { stdout } = await run(process.execPath,
        [script, JSON.stringify({ url, layer: LAYER, kind, target: targetOf(kind) })], { signal, maxBuffer: 1e8 })
      const sample = JSON.parse(stdout)
      if (kind !== 'tree' && sample.summary.tiles !== tiles) {
        throw new Error(`${name}: ${sample.summary.tiles} of ${tiles} tiles`)
      }
      (samples[kind] ??= []).push(sample)
      log(
        `  round ${round + 1}  ${name.padEnd(40)} ${Math.round(tiles / sample.seconds).toString().padStart(6)} ` +
          `tiles/s  ${sample.seconds.toFixed(1)} s  peak ${sample.peak} MB`
      )
    }
  }
  const targets = await Promise.all(KINDS.map(async ({ kind, name }) => ({
    name,
    seconds: median(samples[kind].map(({ seconds }) => seconds)),
    rates: samples[kind].map(({ seconds }) => Math.round(tiles / seconds)),
    peak: Math.max(...samples[kind].map(({ peak }) => peak)),
    size: kind === 'mbtiles' || kind === 'pmtiles' ? (await stat(targetOf(kind))).size : null
  })))
  const treeCost = await costOf(targetOf('tree'))
  log(`  tree: ${treeCost.files} files, ${treeCost.contents} contents, ${(treeCost.bytes / 1e6).toFixed(0)} MB`)
  const peak = Math.max(...targets.map(target => target.peak))
  return {
    tree: targetOf('tree'),
    targets,
    treeCost,
    budgets: [
      {
        what: `memory of an export of ${tiles.toLocaleString('en-US')} tiles, to any target`,
        target: `<= ${LIMIT} MB`, figure: `${peak} MB`, met: peak <= LIMIT
      }
    ]
  }
}

/** The number of directory entries of the tiles, the number of files behind them, and their bytes. */
async function costOf (tree) {
  const cost = { files: 0, contents: 0, bytes: 0 }
  const seenInodes = new Set()
  for (const name of [LAYER, `${LAYER}@${OLD}`, `${LAYER}@${NEW}`]) {
    for (const entry of await readdir(path.join(tree, name), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const { ino, size } = await stat(path.join(entry.parentPath, entry.name))
      cost.files++
      if (seenInodes.has(ino)) continue
      seenInodes.add(ino)
      cost.contents++
      cost.bytes += size
    }
  }
  return cost
}
