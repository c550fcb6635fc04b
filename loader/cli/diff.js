// tilecouch diff
import { diff } from '../diff.js'
import { withStore } from './connect.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, duration, table } from './output.js'
import { ProgressLine } from './progress.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addDiffCommand (program, run) {
  program.command('diff')
    .description('compare two times of a layer, two layers, or a layer and an archive')
    .argument('<from>', 'layer[@time], or a file or folder of tiles')
    .argument('<to>', 'layer[@time], or a file or folder of tiles')
    .option('-z, --zoom <a-b>', 'only these zooms')
    .option('--bbox <w,s,e,n>', 'only tiles that touch this box, in degrees')
    .option('--polygon <file>', 'only tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('--exit-code', 'end with 1 when anything differs, as git diff does')
    .addHelpText('after', `
Examples:
  tilecouch diff osm@2023 osm@2024
  tilecouch diff osm@2023 osm --bbox 5.9,45.8,10.5,47.8 --zoom 10-14

The exit code is 0 also when there are differences, unless --exit-code is given.`)
    .action(run(diffCommand))
}

async function diffCommand (context, options, from, to) {
  const { output, signal } = context
  const wanted = { area: await areaIfAny(options), zooms: zoomsOf(options.zoom), signal }
  return withStore(context, options, async store => {
    const started = performance.now()
    const progress = new ProgressLine(output)
    try {
      const summary = await diff(store, from, to, {
        ...wanted,
        onProgress: tally => progress.draw(tally.tiles, undefined, rate => [`${count(Math.round(rate))}/s`, `${count(tally.different)} differ`])
      })
      progress.end()
      report(output, summary, started)
      return options.exitCode && differs(summary) ? 1 : 0
    } catch (error) {
      progress.end()
      throw error
    }
  })
}

const differs = ({ tiles }) => tiles.added + tiles.removed + tiles.changed > 0

function report (output, summary, started) {
  const seconds = (performance.now() - started) / 1000
  const { from, to, tiles, zooms } = summary
  const different = tiles.added + tiles.removed + tiles.changed
  output.result({ ...summary, seconds: +seconds.toFixed(3) }, [
    `${from.name} -> ${to.name}: ${count(different)} of ${count(different + tiles.same)} tiles differ, in ${duration(seconds)}`,
    ...table(['zoom', 'added', 'removed', 'changed', 'same', 'new bytes'], zooms.map(({ z, tiles: each, bytes: size }) =>
      [z, each.added, each.removed, each.changed, each.same, bytes(size.added + size.changed)]))
  ])
}
