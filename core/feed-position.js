// A position in the change feed of a database, with the identity of the database, which may have been created again.

/**
 * @typedef {object} FeedPosition
 * @property {string | number} since
 * @property {string} identity of the database, not of its name
 * @property {string} [purged] number of purges, which no feed reports; compared if both sides know it
 */

/** The number that a sequence begins with, which only grows within one database; NaN without one. @param {any} seq */
export const sequenceNumber = seq => /^\d+(-|$)/.test(String(seq)) ? Number.parseInt(String(seq), 10) : NaN

/** @param {any} info of a database @returns {Required<FeedPosition>} */
export const feedPosition = ({ update_seq: since, instance_start_time: started, purge_seq: purged = 0 }) => (
  { since, identity: String(started ?? ''), purged: `${sequenceNumber(purged)}` }
)

/**
 * Whether a feed can continue from a position, as far as can be known before trying.
 * @param {Partial<FeedPosition>} position
 * @param {FeedPosition} now
 */
export const canContinue = ({ since, identity, purged }, now) =>
  identity === now.identity && sequenceNumber(since) <= sequenceNumber(now.since) &&
  (purged === undefined || now.purged === undefined || purged === now.purged)
