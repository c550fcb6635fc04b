// One document, read and written again until nobody else wrote in between.
import { TilecouchError } from './errors.js'

const ATTEMPTS = 10

/**
 * @template T
 * @param {string} id for the error
 * @param {object} means
 * @param {() => Promise<any>} means.read the document as it is stored, or nothing
 * @param {(stored: any) => any} means.change answers the new document, or nothing to leave it alone
 * @param {(doc: any, stored: any) => Promise<T>} means.write a conflict has status 409
 * @returns {Promise<T>} what was written, or what is stored when it was left alone
 */
export async function rewrite (id, { read, change, write }) {
  for (let attempt = 1; ; attempt++) {
    const stored = await read()
    const doc = await change(stored)
    if (!doc) return stored
    try {
      return await write(doc, stored)
    } catch (error) {
      if (error.details?.status !== 409) throw error
      if (attempt >= ATTEMPTS) throw new TilecouchError('CONTENDED', { id, attempts: attempt })
    }
  }
}
