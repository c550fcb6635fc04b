// Where a store is, told by its change feed: who goes on from there has to know that it is the same database still.

/**
 * @typedef {object} FeedPosition
 * @property {string | number} since
 * @property {string} identity of the database, not of its name
 * @property {string} [purged] how often it was purged, which no feed tells of; compared where both know it
 */

/** The number a sequence begins with, which only grows within one database. @param {unknown} seq */
export const sequenceNumber = seq => Number.parseInt(String(seq), 10)

/** @param {any} info what a database says of itself @returns {Required<FeedPosition>} */
export const feedPosition = ({ update_seq: since, instance_start_time: started, purge_seq: purged = 0 }) => (
  { since, identity: String(started ?? ''), purged: `${sequenceNumber(purged)}` }
)

/**
 * Whether a feed can go on from a place, as far as one can tell before it is tried.
 * @param {Partial<FeedPosition>} place
 * @param {FeedPosition} now
 */
export const canContinue = ({ since, identity, purged }, now) =>
  identity === now.identity && sequenceNumber(since) <= sequenceNumber(now.since) &&
  (purged === undefined || now.purged === undefined || purged === now.purged)
