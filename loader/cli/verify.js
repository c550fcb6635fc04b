// tilecouch verify
import { stat } from 'node:fs/promises'
import { TilecouchError, parseReference } from '../../core/index.js'
import { schemes } from '../sources/index.js'
import { verify } from '../verify.js'
import { withStore } from './connect.js'
import { FindingList, findingLines } from './findings.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, duration, plural } from './output.js'
import { ProgressLine } from './progress.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addVerifyCommand (program, run) {
  program.command('verify')
    .description('check a layer, or a file or folder of tiles, down to the last pixel, and list everything that is wrong with it')
    .argument('<layer[@time]|file>', 'what is there as a file or folder is one, anything else a layer; with a time, what it showed then is decoded')
    .option('-z, --zoom <a-b>', 'only these zooms')
    .option('--bbox <w,s,e,n>', 'only tiles that touch this box, in degrees')
    .option('--polygon <file>', 'only tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('--scheme <scheme>', 'how a folder or archive counts rows: xyz from the north, tms from the south (default: xyz; MBTiles tms)')
    .option('--no-decode', 'look at the frame of every tile only, without decoding its pixels or features')
    .option('--list <file>', 'write everything that was found to this file, one JSON object a line')
    .addHelpText('after', `
Examples:
  tilecouch verify osm
  tilecouch verify osm@2024-03-01 --zoom 0-10 --db production
  tilecouch verify city.mbtiles --list found.jsonl
  tilecouch verify tiles/ --no-decode --json

It changes nothing, and goes on after what is wrong. The exit code is 0 if there is no fault; warnings do not count. What each
kind of finding means is in docs/exports.md.`)
    .action(run(verifyCommand))
}

async function verifyCommand (context, options, what) {
  if (options.scheme !== undefined && !schemes.includes(options.scheme)) throw new TilecouchError('BAD_OPTION', { option: '--scheme', value: options.scheme })
  const settings = {
    area: await areaIfAny(options), zooms: zoomsOf(options.zoom), decode: options.decode, scheme: options.scheme, signal: context.signal
  }
  if (await isThere(what)) return check(context, options, what, settings)
  const { layer, time } = referenceOf(what)
  return withStore(context, options, store => check(context, options, { store, layer, time }, settings))
}

async function isThere (name) {
  try {
    return Boolean(await stat(name))
  } catch {
    return false
  }
}

// what cannot be the name of a layer was meant as a file
function referenceOf (what) {
  if (/[\\/]|\.[a-z]+$/i.test(what.replace(/@.*/, ''))) throw new TilecouchError('SOURCE_NOT_FOUND', { value: what })
  return parseReference(what)
}

async function check ({ output }, options, what, settings) {
  const progress = new ProgressLine(output)
  const started = performance.now()
  const list = options.list === undefined ? undefined : new FindingList(options.list)
  const ended = (summary, how) => {
    progress.end()
    if (summary) report(output, summary, (performance.now() - started) / 1000, options, how)
  }
  try {
    const summary = await verify(what, {
      ...settings,
      onFault: list && (finding => list.add(finding)),
      onProgress: ({ tiles, bytes: size, total, faults: wrong, warnings }) => progress.draw(tiles, total, rate => [
        bytes(size), `${count(Math.round(rate))}/s`, ...(wrong ? [plural(wrong, 'fault')] : []), ...(warnings ? [plural(warnings, 'warning')] : [])
      ])
    })
    ended(summary)
    return summary.faults ? 1 : 0
  } catch (error) {
    ended(error.summary, error.code === 'ABORTED' ? 'stopped' : 'given up')
    throw error
  } finally {
    list?.close()
  }
}

function report (output, summary, seconds, { list, decode }, ended) {
  const { what, kind, tiles, bytes: size, checked } = summary
  const rate = count(Math.round((checked.contents ?? tiles) / seconds))
  const lines = [
    `${what} (${kind}${ended ? `, ${ended}` : ''}): ${plural(tiles, 'tile')}${checked.documents === undefined ? '' : `, ${plural(checked.documents, 'version')}`}, ${bytes(size)} in ${duration(seconds)} (${rate}/s)`,
    `  ${ended ? 'so far ' : ''}${[plural(summary.faults, 'fault'), plural(summary.warnings, 'warning'), ...said(checked, decode)].join(', ')}`
  ]
  lines.push(...findingLines(summary, { list }))
  output.result({ ...summary, seconds: +seconds.toFixed(3) }, lines)
}

/** What was looked at, in words. */
const said = ({ decoded, gone, index }, decode) => [
  ...(decoded === undefined ? [] : [decode ? `${count(decoded)} decoded` : 'none decoded']),
  ...(gone ? [`${count(gone)} gone`] : []),
  ...(index === undefined ? [] : [index ? 'time index compared' : 'no time index'])
]
