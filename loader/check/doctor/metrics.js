// A report as metrics for Prometheus, in a file that node_exporter reads (--collector.textfile.directory). It has
// figures that no server counts: expired tiles, versions that the retention policy does not keep, the lag of indexes.
import { Gauge, Registry } from 'prom-client'
import { STATES } from '../../../core/findings.js'
import { TilecouchError } from '../../errors.js'
import { replaceFile } from '../../formats/atomic-file.js'

const FINDING = ['store', 'area', 'check']

/** docs/monitoring.md explains them. */
export const doctorMetricTable = {
  state: { name: 'tilecouch_doctor_state', labels: FINDING, help: '0 ok, 1 unknown, 2 warning, 3 bad' },
  figure: { name: 'tilecouch_doctor_figure', labels: [...FINDING, 'figure'], help: 'a number that was counted' },
  findings: { name: 'tilecouch_doctor_findings', labels: ['store', 'state'], help: 'number of findings' },
  time: { name: 'tilecouch_doctor_timestamp_seconds', labels: ['store'], help: 'time of the inspection' },
  seconds: { name: 'tilecouch_doctor_seconds', labels: ['store'], help: 'duration of the inspection' }
}

/** @param {import('./index.js').Report} report @returns {Promise<string>} */
export async function metricsOf ({ url: store, findings, counts, time, seconds }) {
  const registry = new Registry()
  const gauges = Object.fromEntries(Object.entries(doctorMetricTable).map(([key, { name, labels, help }]) =>
    [key, new Gauge({ name, help, labelNames: labels, registers: [registry] })]))
  // the worst finding of a check is written last
  for (const { area, check, state, figures = {} } of [...findings].reverse()) {
    gauges.state.set({ store, area, check }, STATES.length - 1 - STATES.indexOf(state))
    for (const [figure, value] of Object.entries(figures)) gauges.figure.set({ store, area, check, figure }, value)
  }
  for (const [state, count] of Object.entries(counts)) gauges.findings.set({ store, state }, count)
  gauges.time.set({ store }, Date.parse(time) / 1000)
  gauges.seconds.set({ store }, seconds)
  return registry.metrics()
}

/** Replaces the file at once: a reader sees the old or the new one. */
export async function writeMetrics (file, report) {
  try {
    await replaceFile(file, await metricsOf(report), { mode: 0o644 }) // node_exporter reads only .prom files
  } catch (error) {
    throw new TilecouchError('TARGET_UNWRITABLE', { value: file, why: error.message }, { cause: error })
  }
}
