// The eyes of the doctor: whatever asks through them asks once and not for long, and takes indexes as they are.
import { TilecouchError } from '../../core/index.js'
import { Couch } from '../store/couch.js'

export class LookingCouch extends Couch {
  #bounds

  /** @param {string} url @param {{patience: number, signal: AbortSignal}} bounds patience: milliseconds a request may take */
  constructor (url, bounds) {
    super(url, { retries: 0 })
    this.#bounds = bounds
  }

  /** @param {import('../store/couch.js').CouchRequest} request */
  async request (request) {
    if (!['GET', 'HEAD', 'POST', undefined].includes(request.method)) throw new TilecouchError('READ_ONLY')
    const { patience, signal } = this.#bounds
    return super.request({ patience, ...request, retries: 0, signal: request.signal ?? signal })
  }

  /** No index is built for the sake of a look. */
  queries (path, queries, signal) {
    return super.queries(path, queries.map(query => ({ ...query, update: false })), signal)
  }
}
