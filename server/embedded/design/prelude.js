// Runs inside the engine of a design document, never in Node. Gives design functions the functions of CouchDB's query
// server. This is a function that takes the design document as JSON. It returns a function from the JSON of a call to
// the JSON of its answer.
(text => {
  const ddoc = JSON.parse(text)
  const compiled = new Map()
  let emitted, chunks, start, rows

  function compile (source) {
    if (!compiled.has(source)) {
      const value = (0, eval)(`(${source.replace(/;\s*$/, '')}\n)`)
      if (typeof value !== 'function') {
        throw ['error', 'compilation_error', `Expression does not eval to a function. (${source})`]
      }
      compiled.set(source, value)
    }
    return compiled.get(source)
  }

  Object.assign(globalThis, {
    emit (key = null, value = null) { emitted.push([key, value]) },
    start (response) { start = response || {} },
    send (chunk) { chunks.push(String(chunk)) },
    getRow: () => rows.length ? rows.pop() : null
  })

  function render (value) {
    const response = typeof value === 'string' ? { body: value } : value ?? {}
    if (typeof response !== 'object') throw ['error', 'render_error', 'undefined response from show function']
    return response
  }

  const calls = {
    parse: ({ source }) => {
      try {
        Function(`return (${source.replace(/;\s*$/, '')}\n)`)
        return null
      } catch (error) {
        return String(error)
      }
    },
    map: ({ sources }, docs) => {
      const functions = sources.map(compile)
      return docs.map(doc => functions.map(map => {
        emitted = []
        try {
          map.call(ddoc, doc)
        } catch (error) { // CouchDB logs it and leaves the document out of this view
          endIfFull(error)
          emitted = []
        }
        return emitted
      }))
    },
    validate: ({ source, userCtx, secObj }, jobs) => {
      let validation
      return jobs.map(({ newDoc, oldDoc }) => {
        try {
          validation ??= compile(source)
          validation.call(ddoc, newDoc, oldDoc, userCtx, secObj)
          return null
        } catch (error) {
          return describe(error)
        }
      })
    },
    show: ({ source, doc, req }) => render(compile(source).call(ddoc, doc, req)),
    list: ({ source, head, rows: allRows, req }) => {
      chunks = []
      start = null
      rows = allRows.reverse()
      const tail = compile(source).call(ddoc, head, req)
      if (tail !== undefined && tail !== null) chunks.push(String(tail))
      const { code, headers } = /** @type {any} */ (start ?? {})
      return { code, headers: { ...headers }, body: chunks.join('') }
    },
    rewrite: ({ source, req }) => ({ value: compile(source).call(ddoc, req) })
  }

  // out of memory, nothing after it is reliable: thrown from here it ends the engine
  function endIfFull (error) {
    if (error instanceof Error && error.name === 'InternalError' && error.message === 'out of memory') throw error
  }

  function describe (error) {
    endIfFull(error)
    if (Array.isArray(error)) return { tuple: error.map(String) }
    if (error instanceof Error) {
      const { name, message, stack } = error
      return { name, message, text: String(error), stack: String(stack).split('\n').slice(1, 3).join(' ').trim() }
    }
    if (typeof error === 'object' && error !== null) return { object: error, text: String(error) }
    return { text: String(error) }
  }

  function answer (input) {
    const { kind, payload, items } = JSON.parse(input)
    try {
      return JSON.stringify({ ok: calls[kind](payload, items) })
    } catch (error) {
      return JSON.stringify({ error: describe(error) })
    }
  }

  return input => {
    try {
      return answer(input)
    } catch (error) {
      endIfFull(error)
      return '{"error":{"text":"an error that cannot be shown"}}'
    }
  }
})
