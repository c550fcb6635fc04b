// Tables of docs/gateway.md, made from what the gateway runs with.
import { longFlag, options } from '../server/gateway/options.js'
import { workerMetricTable, metricTable } from '../server/gateway/metrics.js'
import { mirrorOptions } from '../server/edge/options.js'
import { mirrorMetricTable } from '../server/gateway/mirror-metrics.js'

const code = text => text ? `\`${text}\`` : ''

/** @param {(head: string[], rows: any[][]) => string} table */
export function gatewayTables (table) {
  const metrics = rows => table(['metric', 'type', 'labels', 'meaning'], Object.values(rows).map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help]))
  const settings = rows => table(['file', 'flag', 'environment', 'default', 'meaning'], rows.map(option => [
    option.name === 'config' ? '' : code(option.name), code(longFlag(option)), // rarely needed ones and secrets have none
    [option.env, option.fallback].filter(Boolean).map(code).join(' or '), code(option.shown),
    option.text + (option.choices ? ` (${option.choices.map(code).join(', ')})` : '')
  ]))
  return {
    gatewayOptions: settings(options),
    gatewayMetrics: metrics(metricTable),
    gatewayCrew: metrics(workerMetricTable),
    // what is only for a mirror, or has another default with one
    mirrorOptions: settings(mirrorOptions.filter(option => !options.some(({ name, text, shown }) =>
      name === option.name && text === option.text && shown === option.shown))),
    mirrorMetrics: metrics(mirrorMetricTable)
  }
}
