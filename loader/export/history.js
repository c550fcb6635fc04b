// Exports the history of a layer: one target for each edition. `tilecouch export --history` uses it.
import path from 'node:path'
import { checkLayer } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { nameTime } from '../load/dated.js'
import { checkTerms, exportLayer } from './index.js'
import { find } from '../formats/atomic-file.js'
import { formatOf } from './target.js'

const PLACE = '{time}'

/**
 * The name of a target for a time: `{time}` is replaced by the time, or else `@time` is added before the extension.
 * @param {string} target
 * @param {string} time exact
 */
export function targetAt (target, time) {
  if (target.includes(PLACE)) return target.replaceAll(PLACE, nameTime(time))
  const { dir, name, ext } = path.parse(target)
  const [stem, extension] = /^\.[a-z]\w*$/i.test(ext) ? [name, ext] : [name + ext, '']
  return path.join(dir, `${stem}@${nameTime(time)}${extension}`)
}

/**
 * Keeps the files of an earlier run, and resumes exports into folders. With `force` it writes all files again.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} target
 * @param {Omit<import('./index.js').ExportOptions, 'time'> & {
 *   onTarget?: (target: string, time: string, index: number, count: number) => void
 * }} [options] onTarget: called before each target
 */
export async function exportHistory (store, layer, target, { onTarget, ...options } = {}) {
  checkTerms(await store.layer(checkLayer(layer)), options.permission)
  const times = (await store.editions(layer)).filter(({ finished }) => finished).map(({ time }) => time)
  if (!times.length) throw new TilecouchError('NOTHING_TO_EXPORT', { layer, why: 'it has no finished editions' })
  /** @type {import('./index.js').ExportSummary[]} */
  const exports = []
  const [skipped, empty] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([])]
  const summary = () => ({ layer, exports, skipped, empty })
  try {
    for (const [index, time] of times.entries()) {
      const name = targetAt(target, time)
      if (!options.force && await formatOf(name, options.format) !== 'folder' && (await find(name))?.isFile()) {
        skipped.push(name)
        continue
      }
      onTarget?.(name, time, index, times.length)
      try {
        exports.push(await exportLayer(store, layer, name, { ...options, time }))
      } catch (error) {
        if (error.code !== 'NOTHING_TO_EXPORT') throw error
        empty.push(time)
      }
    }
  } catch (error) {
    throw Object.assign(error, { summary: { ...summary(), stopped: error.summary } })
  }
  if (!exports.length && !skipped.length) throw new TilecouchError('NOTHING_TO_EXPORT', { layer })
  return summary()
}
