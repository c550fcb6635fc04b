// Reads and changes one document, and repeats this until no other program wrote in between.
import { TilecouchError } from './errors.js'

const ATTEMPTS = 10

/**
 * @template T
 * @param {string} id for the error
 * @param {object} means
 * @param {() => Promise<any>} means.read returns the stored document, or undefined
 * @param {(stored: any) => any} means.change returns the new document, or undefined to leave it unchanged
 * @param {(doc: any, stored: any) => Promise<T>} means.write a conflict has status 409
 * @returns {Promise<T>} the result of `write`, or the stored document if it was left unchanged
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
