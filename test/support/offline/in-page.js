// Runs in the page before everything else: `field`, with which tests use an OfflineStore and see what it leaves behind.
/* global window, L, IDBFactory, IDBDatabase, indexedDB -- of the page */

export function installField () {
  const view = /** @type {any} */ (window)

  // connections to IndexedDB that are open, by the name of the database
  const connections = new Map()
  const { open } = IDBFactory.prototype
  const { close } = IDBDatabase.prototype
  IDBFactory.prototype.open = function (...args) {
    const request = open.apply(this, args)
    request.addEventListener('success', () => {
      connections.set(request.result, request.result.name)
      request.result.addEventListener('close', () => connections.delete(request.result))
    })
    return request
  }
  IDBDatabase.prototype.close = function () {
    connections.delete(this)
    close.call(this)
  }

  const describeError = error => ({ code: error.code ??
    error.name, message: error.message, ...(error.details && { details: JSON.parse(JSON.stringify(error.details)) }) })
  const runningCalls = {}
  const tasks = /** @type {number[]} */ ([])
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' })

  view.field = {
    /** Events of the store, in order. Progress is not among them, but in `progress`. */
    events: [],
    progress: {},

    async open (options) {
      view.offline = L.couch.offline(options)
      view.offline.on('areas', () => view.field.events.push({ type: 'areas' }))
      view.offline.on('failure',
        ({ area, error }) => view.field.events.push({ type: 'failure', area: area?.name, ...describeError(error) }))
      view.offline.on('online', ({ online }) => view.field.events.push({ type: 'online', online }))
      view.offline.on('tiles', ({ layer, area }) => view.field.events.push({ type: 'tiles', layer, area: area?.name }))
      view.offline.on('progress', ({ area, status }) => {
        const last = view.field.progress[area.name]
        view.field.progress[area.name] = { status, times: (last?.times ?? 0) +
          1, falls: (last?.falls ?? 0) + (last && status.tiles < last.status.tiles ? 1 : 0) }
      })
      await view.offline.ready
    },
    get: name => view.offline.areas.get(name),
    add: spec => view.offline.areas.add(spec).then(area => ({ id: area.id }), describeError),
    list: () => view.offline.areas.list()
      .map(
        area => ({ id: area.id, name: area.name, layer: area.layer, state: area.state, isComplete: area.isComplete })
      ),
    status: name => JSON.parse(JSON.stringify(view.field.get(name).status())),
    /** Calls a method of an area; a test waits for its result with ended(name). */
    begin (name, verb, options = {}) {
      const stop = new AbortController()
      runningCalls[name] = { stop, ended: view.field.get(name)[verb]({ ...options, signal: stop.signal })
        .then(result => ({ result: JSON.parse(JSON.stringify(result ?? null)) }), describeError) }
    },
    ended: name => runningCalls[name].ended,
    abort: name => runningCalls[name].stop.abort(),
    call: (name, verb, ...args) => Promise.resolve().then(() => view.field.get(name)[verb](...args))
      .then(result => ({ result: JSON.parse(JSON.stringify(result ?? null)) }), describeError),
    /** id -> revision of each document in the database of an area, with the digest of the image of a tile. */
    async contents (name) {
      const { rows } = await view.field.get(name).db.allDocs({ include_docs: true })
      return Object.fromEntries(rows.filter(({ id }) => !id.startsWith('_'))
        .map(({ id, value: { rev }, doc }) => [id, [rev, doc._attachments?.tile?.digest ?? null]]))
    },
    /** Ids of tiles whose image PouchDB cannot read, or reads with another length. */
    async unreadable (name) {
      const { db } = view.field.get(name)
      const { rows } = await db.allDocs({ include_docs: true })
      const images = rows.filter(({ doc }) => doc._attachments?.tile)
      const sizes = await Promise.all(images.map(({ id }) =>
        db.getAttachment(id, 'tile').then(({ size }) => size, () => undefined)))
      return images.filter(({ doc }, index) => sizes[index] !== doc._attachments.tile.length).map(({ id }) => id)
    },
    /** Names of the databases on the device. */
    databases: async () => (await indexedDB.databases()).map(({ name }) => name).sort(),
    connections: () => [...connections.values()].sort(),
    longTasks: () => tasks.splice(0),
    memory: () => /** @type {any} */ (performance).memory?.usedJSHeapSize,
    /** Shifts the clock of the device. @param {number} days */
    shift (days) {
      const OriginalDate = Date
      const now = () => OriginalDate.now() + days * 86400e3
      view.Date = class extends OriginalDate {
        constructor (...args) {
          super(...(args.length ? args : [now()]))
        }

        static now () {
          return now()
        }
      }
    }
  }
}
