// Sends rows as CouchDB does, one a line, without holding them all: a view of a million rows needs no more memory
// than one of ten. Documents are joined in small lots.
import { toHttpError } from './errors.js'

const PIECE = 65536 // characters that are written together

/** Documents that are read together: with their images, hundreds would be as many MB. @param {{attachments?: boolean}} [options] */
export const lotSize = ({ attachments } = {}) => attachments ? 4 : 100

/** @param {AsyncIterable<any>} rows @param {number} size */
export async function * lots (rows, size) {
  let lot = []
  for await (const row of rows) {
    lot.push(row)
    if (lot.length < size) continue
    yield lot
    lot = []
  }
  if (lot.length) yield lot
}

/**
 * Rows with `doc`: the document of the row, or the one its value names.
 * @param {import('./databases.js').Database} database
 */
export async function * withDocs (database, rows, options) {
  const read = { attachments: options.attachments === true, conflicts: options.conflicts === true }
  for await (const lot of lots(rows, lotSize(read))) {
    yield * await Promise.all(lot.map(async row => {
      const linked = row.value?._id
      const doc = await database.pouch.get(typeof linked === 'string' ? linked : row.id, read).catch(error => {
        if (error.status !== 404) throw error
        return null
      })
      return { ...row, doc }
    }))
  }
}

/** One result: {"total_rows":…,"rows":[…]}. */
async function writeResult (ex, head, rows) {
  const opening = JSON.stringify(head).slice(0, -1)
  let text = `${opening}${opening === '{' ? '' : ','}"rows":[\n`
  let between = ''
  for await (const row of rows) {
    text += between + JSON.stringify(row)
    between = ',\n'
    if (text.length < PIECE) continue
    await ex.write(text)
    text = ''
  }
  await ex.write(`${text}\n]}`)
}

/** Takes the first row before the headers go out, so that an error can still be an error answer. */
async function primed (rows) {
  const iterator = rows[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function * () {
    try {
      for (let step = first; !step.done; step = await iterator.next()) yield step.value
    } finally {
      await iterator.return?.()
    }
  })()
}

export async function sendRows (ex, { head, rows }) {
  const ready = await primed(rows)
  ex.startStream()
  try {
    await writeResult(ex, head, ready)
    ex.res.end('\n')
  } finally {
    await ready.return(undefined)
  }
}

/** @param {AsyncIterable<{head: any, rows: AsyncIterable<any>}>} results */
export async function sendResults (ex, results) {
  const ready = await primed(results)
  ex.startStream()
  await ex.write('{"results":[\n')
  let first = true
  try {
    for await (const { head, rows } of ready) {
      if (!first) await ex.write(',\n')
      await writeResult(ex, head, rows)
      first = false
    }
  } catch (error) {
    if (ex.signal.aborted) throw error
    const { error: name, reason } = toHttpError(error)
    await ex.write(`${first ? '' : ',\n'}${JSON.stringify({ error: name, reason })}`) // the headers are gone: CouchDB does the same
  }
  ex.res.end('\n]}\n')
}
