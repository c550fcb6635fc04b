// Who may do what: the page hides what CouchDB and the validation function would refuse.
export { userOf } from '../../core/rights.js'

/** @typedef {import('../../core/rights.js').User} User */
