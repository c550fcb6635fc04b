// What an edge counts of its mirror, for Prometheus. One process mirrors, however many serve: it alone shows these.

/**
 * How the mirror of an edge goes.
 * @typedef {object} MirrorReport
 * @property {string} from the store that is mirrored, without any password
 * @property {'starting' | 'reading' | 'following' | 'away' | 'unknown'} state
 * @property {number | null} lag seconds since the edge was known to lack nothing; null while it never was
 * @property {number | null} pending changes of the origin that were not read yet; null: unknown
 * @property {string | null} upToDate when the edge was last known to lack nothing
 * @property {number} refused revisions that the store of the edge has refused, and lacks
 * @property {string} [error] code of what keeps it away
 * @property {boolean} behind further than --max-lag allows
 * @property {{documents: number, tiles: number, bytes: number, refused: number}} counts
 * @property {Record<string, number>} errors by code
 */

/**
 * What a gateway knows of the mirror below it.
 * @typedef {object} Mirroring
 * @property {() => MirrorReport | Promise<MirrorReport>} report
 * @property {() => boolean} isFilled whether it ever lacked nothing
 * @property {Promise<void>} [filled] when that is
 */

export const STATES = ['starting', 'reading', 'following', 'away']

export const mirrorMetricTable = {
  state: { name: 'tilecouch_mirror_state', type: 'gauge', labels: ['state'], help: '1 for what the mirror does: starting, reading what it lacks, following the changes of its origin, away while it waits for one of the two stores' },
  lag: { name: 'tilecouch_mirror_lag_seconds', type: 'gauge', labels: [], help: 'since it was known to lack nothing; not there while it never was' },
  pending: { name: 'tilecouch_mirror_pending_changes', type: 'gauge', labels: [], help: 'changes of the origin that it has yet to look at' },
  success: { name: 'tilecouch_mirror_last_success_timestamp_seconds', type: 'gauge', labels: [], help: 'when it was last known to lack nothing; not there while it never was' },
  lacking: { name: 'tilecouch_mirror_lacking_revisions', type: 'gauge', labels: [], help: 'revisions that the store of the edge has refused, and lacks; tried again every minute' },
  documents: { name: 'tilecouch_mirror_documents_total', type: 'counter', labels: [], help: 'documents written to the store of the edge' },
  bytes: { name: 'tilecouch_mirror_bytes_total', type: 'counter', labels: [], help: 'bytes received from the origin for them' },
  refused: { name: 'tilecouch_mirror_refused_total', type: 'counter', labels: [], help: 'times that the store of the edge did not take a document' },
  errors: { name: 'tilecouch_mirror_errors_total', type: 'counter', labels: ['code'], help: 'times that something kept it from going on, by the code of the error' }
}

const one = value => value === null ? [] : [{ labels: {}, value }]

/** @type {Record<keyof typeof mirrorMetricTable, (report: MirrorReport) => {labels: object, value: number}[]>} */
const readers = {
  state: ({ state }) => STATES.map(name => ({ labels: { state: name }, value: Number(name === state) })),
  lag: ({ lag }) => one(lag),
  pending: ({ pending }) => one(pending),
  success: ({ upToDate }) => one(upToDate && Date.parse(upToDate) / 1000),
  lacking: ({ refused }) => one(refused),
  documents: ({ counts }) => one(counts.documents),
  bytes: ({ counts }) => one(counts.bytes),
  refused: ({ counts }) => one(counts.refused),
  errors: ({ errors }) => Object.entries(errors).map(([code, value]) => ({ labels: { code }, value }))
}

/** As prom-client takes them. @param {MirrorReport} report */
export const mirrorMetrics = report =>
  Object.entries(mirrorMetricTable).map(([key, { name, type, help }]) => ({ name, help, type, aggregator: 'sum', values: readers[key](report) }))

/**
 * Shows them among those of a process.
 * @param {import('./metrics.js').Metrics} metrics @param {() => MirrorReport} report
 */
export function showMirror ({ registry }, report) {
  for (const { name } of Object.values(mirrorMetricTable)) {
    const get = async () => mirrorMetrics(report()).find(metric => metric.name === name)
    registry.registerMetric(/** @type {any} */ ({ name, get }))
  }
}
