// The changes feed. Each step reads a batch from PouchDB and filters it here; a waiting feed sleeps until a write wakes
// it. PouchDB's own live feeds are not used: they outlive their client, and end the process on a bad filter.
import { once } from 'node:events'
import { compareRevs } from '../../../core/mirror/index.js'
import { timeoutSignal } from '../../../core/promises.js'
import { seqText, winner } from '../documents.js'
import { badRequest } from '../../http/errors.js'
import { MAX_QUESTION, parseJson } from '../exchange.js'
import { compileSelector, pickFitting } from '../selector.js'

const BATCH = 100 // changes a read
const TIMEOUT = 60000 // ms without a change before a waiting feed ends, as in CouchDB
const HEARTBEAT = 60000 // ms between newlines for heartbeat=true
const LONGEST = 2 ** 31 - 1 // ms that a timer can wait

const FEEDS = ['normal', 'longpoll', 'continuous']

function integer (text, name) {
  if (!/^\d{1,9}$/.test(text)) throw badRequest(`invalid_integer: ${name}`)
  return Number(text)
}

function sinceOf (text, now) {
  if (text === undefined) return 0
  const plain = text.replace(/^"(.*)"$/, '$1')
  if (plain === 'now') return now
  const [, number] = /^(\d{1,15})(-.*)?$/.exec(plain) ?? []
  if (number === undefined) throw badRequest("Malformed sequence supplied in 'since' parameter.")
  return Number(number)
}

function heartbeatOf (text) {
  if (text === undefined || text === 'false') return 0
  return text === 'true' ? HEARTBEAT : Math.max(integer(text, 'heartbeat'), 10)
}

async function parse (ex) {
  const { query } = ex
  const hasBody = ex.method === 'POST' && (await ex.bytes(MAX_QUESTION)).length > 0
  const body = hasBody ? await ex.question() : {}
  const { feed = 'normal' } = query
  if (!FEEDS.includes(feed)) throw badRequest(`Supported \`feed\` types: ${FEEDS.join(', ')}`)
  const { update_seq: now } = await ex.db.pouch.info()
  return {
    feed,
    since: sinceOf(query.since, now),
    limit: query.limit === undefined ? Infinity : integer(query.limit, 'limit'),
    descending: ex.flag('descending'),
    includeDocs: ex.flag('include_docs'),
    read: { conflicts: ex.flag('conflicts'), attachments: ex.flag('attachments') },
    style: query.style === 'all_docs' ? 'all_docs' : 'main_only',
    timeout: query.timeout === undefined ? TIMEOUT : integer(query.timeout, 'timeout'),
    heartbeat: heartbeatOf(query.heartbeat),
    filter: changeFilter(ex, body)
  }
}

/**
 * Whether documents are read one by one, just before they are sent. With images, or with all changes in one read, all
 * documents together need too much memory.
 */
const isLate = ({ includeDocs, read, descending }) => includeDocs && (read.attachments || descending)

/** Reads one batch: the changes that pass the filter, and the last sequence. */
async function readBatch (ex, options, since, limit) {
  const { filter, includeDocs, read, style, descending } = options
  const withDocs = filter.matches !== undefined || (includeDocs && !isLate(options))
  const most = Math.min(BATCH, limit)
  return ex.db.use(async () => {
    // before the read: writes during it belong to the next batch
    const { update_seq: now } = await ex.db.pouch.info()
    const isUnfiltered = !filter.matches && !filter.docIds
    const limitOfAll = isUnfiltered && limit !== Infinity ? limit : undefined
    const { results, last_seq: last } = await ex.db.pouch.changes({
      since,
      style,
      descending,
      limit: descending ? limitOfAll : most,
      return_docs: true,
      include_docs: withDocs,
      conflicts: read.conflicts,
      doc_ids: filter.docIds
    })
    const passed = filter.matches ? await pickFitting(results, ({ doc }) => filter.matches(doc)) : results
    const batchChanges = passed.map(({ seq, id, changes: leaves, deleted, doc }) => {
      leaves.sort((a, b) => compareRevs(b.rev, a.rev)) // the winning leaf first
      const change = { seq: seqText(seq), id, changes: leaves, ...(deleted && { deleted }) }
      return includeDocs ? { ...change, doc } : change
    })
    const complete = descending || results.length < most
    return { changes: batchChanges, last, complete, now }
  })
}

const shapes = {
  normal: {
    open: '{"results":[\n',
    line: (text, isFirst) => `${isFirst ? '' : ',\n'}${text}`,
    close: (seq, pending) => `\n],\n"last_seq":${JSON.stringify(seq)},"pending":${pending}}\n`
  },
  continuous: {
    open: '',
    line: text => `${text}\n`,
    close: (seq, pending) => `${JSON.stringify({ last_seq: seq, pending })}\n`
  }
}

export async function changes (ex) {
  ex.only('GET', 'HEAD', 'POST')
  const options = await parse(ex)
  const shape = shapes[options.feed] ?? shapes.normal
  // the first batch is read before the headers are sent, so that a broken filter gives an error answer
  const { since, limit } = options
  const emptyBatch = { changes: [], last: since, complete: true, now: since }
  const firstBatch = limit > 0 ? await readBatch(ex, options, since, limit) : emptyBatch
  await ex.write(shape.open)
  const heartbeatTimer = options.heartbeat ? setInterval(() => ex.res.write('\n'), options.heartbeat) : undefined
  try {
    const { seq, pending } = await feedChanges(ex, options, shape, firstBatch).catch(error => {
      if (!ex.db.closing) throw error
      return { seq: seqText(since), pending: 0 } // the database was deleted: the feed ends where it began
    })
    await ex.write(shape.close(seq, pending))
    ex.res.end()
  } finally {
    clearInterval(heartbeatTimer)
  }
}

async function feedChanges (ex, options, shape, batch) {
  const isWaiting = options.feed !== 'normal'
  let { since, limit } = options
  let sent = 0
  for (;;) {
    for (const change of batch.changes.slice(0, limit)) {
      const late = isLate(options) && { doc: await ex.db.use(() => winner(ex.db, change.id, options.read)) }
      await ex.write(shape.line(JSON.stringify({ ...change, ...late }), sent === 0))
      sent++
      since = Number.parseInt(change.seq, 10)
    }
    const isFull = batch.changes.length >= limit
    limit -= batch.changes.length
    if (!isFull) since = options.descending ? since : Math.max(since, batch.complete ? batch.now : batch.last)
    if (isFull || options.descending) break
    if (batch.complete && (!isWaiting || (options.feed === 'longpoll' && sent))) break
    if (batch.complete && !await waitForMore(ex, options, since)) break
    batch = await readBatch(ex, options, since, limit)
  }
  const { update_seq: now } = await ex.db.use(() => ex.db.pouch.info())
  return { seq: seqText(since), pending: Math.max(0, now - since) }
}

/**
 * Waits until something was written, the client left, the database closed or the time is over.
 * @returns {Promise<boolean>} whether to read on
 */
async function waitForMore ({ db, signal }, { timeout, heartbeat }, since) {
  const { writes } = db
  const { update_seq: now } = await db.use(() => db.pouch.info())
  if (now > since || db.writes !== writes) return true // a write before the listener starts must not be lost
  const wait = timeoutSignal(heartbeat ? LONGEST : timeout, signal)
  if (!db.closing) await once(db, 'changed', { signal: wait.signal }).catch(() => {})
  wait.end()
  signal.throwIfAborted()
  return db.writes !== writes && !db.closing
}

/** @returns {{docIds?: string[], matches?: (doc: any) => boolean}} empty: all changes pass */
function changeFilter ({ query }, body) {
  if (!query.filter) return {}
  if (query.filter === '_doc_ids') {
    const docIds = body.doc_ids ?? (query.doc_ids && parseJson(query.doc_ids))
    if (!Array.isArray(docIds)) throw badRequest('`doc_ids` filter parameter is not a list of doc ids.')
    return { docIds }
  }
  if (query.filter !== '_selector') throw badRequest('`filter` must be _doc_ids or _selector')
  if (body.selector === undefined) throw badRequest('Selector must be specified in POST payload')
  return { matches: compileSelector(body.selector) }
}
