// Lists of docs/gateway.md, made from what the gateway runs with.
import { describeOption, groups, fromRows, longFlag, options } from '../server/gateway/options.js'
import { workerMetricTable, metricTable } from '../server/gateway/metrics.js'
import { mirrorOptions } from '../server/edge/options.js'
import { mirrorMetricTable } from '../server/gateway/mirror-metrics.js'

const code = text => `\`${text}\``

/** @param {import('../server/gateway/options.js').Option} option */
function optionItem (option) {
  const setters = [longFlag(option), option.env, option.fallback].filter(Boolean).map(code).join(', ')
  const choices = option.choices ? `; one of ${option.choices.map(code).join(', ')}` : ''
  const standard = option.type === 'boolean' ? ` (default: ${option.shown})` : ''
  return `- ${code(option.name)} (${setters}): ${describeOption(option)}${choices}${standard}`
}

/** @param {{name: string, type: string, labels: string[], help: string}} metric */
const metricItem = ({ name, type, labels, help }) =>
  `- \`${name}${labels.length ? `{${labels}}` : ''}\` (${type}): ${help}`

const list = (rows, item) => Object.values(rows).map(item).join('\n')

const isForMirrors = ({ name }) => !options.some(option => option.name === name)

export const gatewayLists = () => ({
  gatewayOptions: Object.entries(groups)
    .map(([title, rows]) => `**${title}**\n\n${list(fromRows(rows), optionItem)}`)
    .join('\n\n'),
  gatewayMetrics: list(metricTable, metricItem),
  gatewayCrew: list(workerMetricTable, metricItem),
  mirrorOptions: list(mirrorOptions.filter(isForMirrors), optionItem),
  mirrorMetrics: list(mirrorMetricTable, metricItem)
})
