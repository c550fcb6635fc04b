// The metrics of an edge about its mirror, for Prometheus. Only one process mirrors, and only it has these metrics.
import { counter, gauge } from './metrics.js'

/**
 * The state of the mirror of an edge.
 * @typedef {object} MirrorReport
 * @property {string} from the store that is mirrored, without any password
 * @property {'starting' | 'reading' | 'following' | 'away' | 'unknown'} state
 * @property {number | null} lag seconds since the edge was last complete; null: never
 * @property {number | null} pending changes of the origin that were not read yet; null: unknown
 * @property {string | null} upToDate when the edge was last complete
 * @property {number} refused revisions that the store of the edge has refused, and lacks
 * @property {string} [error] code of the error that keeps it away
 * @property {boolean} behind whether the lag is longer than --max-lag
 * @property {{documents: number, tiles: number, bytes: number, refused: number}} counts
 * @property {Record<string, number>} errors by code
 */

/**
 * The mirror of an edge, as its gateway sees it.
 * @typedef {object} Mirroring
 * @property {() => MirrorReport | Promise<MirrorReport>} report
 * @property {() => boolean} isFilled whether it was ever complete
 * @property {Promise<void>} [filled] resolves when it is complete for the first time
 */

export const STATES = ['starting', 'reading', 'following', 'away']

/** Metrics that are read from a MirrorReport. */
export const mirrorMetricTable = [
  gauge('tilecouch_mirror_state', '1 for the state of the mirror: starting, reading what it lacks, following ' +
    'changes of its origin, away while it waits for one of the two stores',
  ({ state }) => STATES.map(name => ({ labels: { state: name }, value: Number(name === state) })), ['state']),
  gauge('tilecouch_mirror_lag_seconds', 'since it was last complete; missing before that', ({ lag }) => lag),
  gauge('tilecouch_mirror_pending_changes', 'changes of the origin that it has not read yet', ({ pending }) => pending),
  gauge('tilecouch_mirror_last_success_timestamp_seconds', 'when it was last complete; missing before that',
    ({ upToDate }) => upToDate && Date.parse(upToDate) / 1000),
  gauge('tilecouch_mirror_lacking_revisions',
    'revisions that it lacks because the store of the edge refused them; tried again every minute',
    ({ refused }) => refused),
  counter('tilecouch_mirror_documents_total', 'documents written to the store of the edge',
    ({ counts }) => counts.documents),
  counter('tilecouch_mirror_bytes_total', 'bytes received from the origin for them', ({ counts }) => counts.bytes),
  counter('tilecouch_mirror_refused_total', 'documents that the store of the edge refused',
    ({ counts }) => counts.refused),
  counter('tilecouch_mirror_errors_total', 'errors that interrupted it, by code',
    ({ errors }) => Object.entries(errors).map(([code, value]) => ({ labels: { code }, value })), ['code'])
]
