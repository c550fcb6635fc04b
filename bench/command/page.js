// The tables of the results of bench/command.js, for docs/benchmarks/load.md.
import { machineLine, thousands } from '../plots/words.js'
import { COMMAND, RAW } from '../command.js'

/** @param {any} result bench/results/command.json @param {import('../plots/words.js').Table} table */
export const tables = (result, table) => ({
  commandMachine: `${machineLine(result)}; tiles of ${thousands(result.bytes)} bytes.`,
  commandLoads: table(['tiles', 'raw, s: each round', 'the command, s: each round', 'ratio, median', 'memory, MB'],
    result.loads.map(({ tiles, seconds, ratio, peak }) => [
      thousands(tiles), figures(seconds[RAW]), figures(seconds[COMMAND]), `${ratio.toFixed(2)}x`, peak
    ])),
  commandStarts: table(['command', 'seconds'],
    result.starts.map(({ command, seconds }) => [`\`${command}\``, seconds.toFixed(2)]))
})

const figures = seconds => seconds.map(value => value.toFixed(1)).join(', ')

export const plots = () => ({})
