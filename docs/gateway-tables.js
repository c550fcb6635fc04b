// Tables of docs/gateway.md, made from what the gateway runs with.
import { longFlag, options } from '../server/gateway/options.js'
import { crewMetricTable, metricTable } from '../server/gateway/metrics.js'

const code = text => text ? `\`${text}\`` : ''

/** @param {(head: string[], rows: any[][]) => string} table */
export function gatewayTables (table) {
  const metrics = rows => table(['metric', 'type', 'labels', 'meaning'], Object.values(rows).map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help]))
  return {
    gatewayOptions: table(['file', 'flag', 'environment', 'default', 'meaning'], options.map(option => [
      option.name === 'config' ? '' : code(option.name), code(longFlag(option)), [option.env, option.fallback].filter(Boolean).map(code).join(' or '), code(option.shown),
      option.text + (option.choices ? ` (${option.choices.map(code).join(', ')})` : '')
    ])),
    gatewayMetrics: metrics(metricTable),
    gatewayCrew: metrics(crewMetricTable)
  }
}
