// The command `tilecouch up`: starts the store, shows its progress, and prints its addresses.
import { once } from 'node:events'
import { openedWords } from '../loader/cli/new-store.js'
import { DATA, refuse } from '../loader/cli/options.js'
import { BLANK } from '../loader/cli/output.js'
import { IndexProgress } from '../loader/cli/progress.js'
import { ADMIN, passwordFile } from '../loader/store/embedded.js'

/** @type {import('../loader/cli/command.js').Declaration} */
export const upCommand = {
  options: [
    '-p, --port <n>',
    ['--no-demo', 'do not load the demo into an empty store']
  ],
  help: `Examples:
  tilecouch up
  tilecouch up --data maps --port 8080
  tilecouch up --db http://admin@localhost:5984/tiles`,
  run: runUp
}

async function runUp ({ output, signal }, options) {
  const { up } = await import('./up.js') // loads the demo and the embedded store
  const running = await up({ ...options, port: portOf(options.port), signal, onProgress: stepReport(output) })
    .finally(() => output.endBar())
  const { close, ...value } = running
  output.result(value, outputLines(running, options))
  if (!running.started) return
  if (!signal.aborted) await once(signal, 'abort')
  output.note('\nStopping …')
  await close()
}

function portOf (text) {
  if (text === undefined) return undefined
  return /^\d{1,5}$/.test(text) && +text <= 65535 ? +text : refuse('--port', text, 'it takes a number up to 65535')
}

function outputLines ({ url, viewer, admin, tiles, asOf, embedded, started, taken, opened, blocked }, { data, db }) {
  // with --db, since COUCHDB_URL or .couchapprc may name another store
  const store = !embedded && db && !/^https?:/.test(db) ? db : url
  const target = `--db ${store}${embedded && data !== DATA ? ` --data ${data}` : ''}`
  // `npm start` does not change the PATH
  const command = process.env.npm_lifecycle_event ? 'npx tilecouch' : 'tilecouch'
  const embeddedState = started ? 'tilecouch is up.' : 'tilecouch is already up.'
  return [
    embedded ? embeddedState : 'The store is ready.',
    BLANK,
    `  Viewer    ${viewer}`,
    `  Admin     ${admin}`,
    `  Tiles     ${tiles}`,
    `  As of     ${asOf}`,
    `  CouchDB   ${url}`,
    embedded && `  Sign in   as ${ADMIN}, password in ${passwordFile(data)} (commands find it there)`,
    taken && takenLines(taken, url, data),
    opened && !embedded && [BLANK, `  ${openedWords(url)}`],
    BLANK,
    blocked && [
      '  This CouchDB does not let browsers run the viewer. A gateway serves it:',
      `    ${command} serve ${target}`,
      BLANK
    ],
    '  Load your own tiles:',
    `    ${command} load FOLDER --layer NAME --time 2024-03-01 ${target}`,
    !embedded && url !== db && '    (your name and password: COUCHDB_USER and COUCHDB_PASSWORD)',
    started && [BLANK, `  Data is in ${data}. Ctrl-C stops.`]
  ]
}

function takenLines ({ port, by }, url, data) {
  const folder = data === DATA ? 'in this folder' : `with --data ${data}`
  return [
    BLANK,
    `  Port ${port} is taken by ${by}, so this store listens on ${new URL(url).port}.`,
    `  Commands ${folder} find it there; in other programs use the addresses above.`
  ]
}

/** Shows each step: a line that changes on a terminal, one line per step elsewhere. */
function stepReport (output) {
  const index = new IndexProgress(output)
  let lastText
  return event => {
    if (output.json) return
    if (event.total) return index.show(event)
    const text = stepText(event, output.isTerminal)
    if (!text || text === lastText) return
    lastText = text
    if (output.isTerminal && event.step !== 'viewable') output.drawBar(text)
    else output.note(text)
  }
}

function stepText ({ step, layer, title, done, editions, tiles, viewer }, isTerminal) {
  if (step === 'viewable') return `The first map: ${viewer} (more maps are being loaded)`
  if (step === 'push') return 'Deploying the design documents …'
  if (step === 'index') return 'Building the indexes …'
  if (step !== 'demo') return ''
  const percent = Math.round(100 * done / editions)
  if (isTerminal) return `Loading the demo: ${layer}, ${title} (${percent} %, ${tiles} tiles)`
  return done === 0 || done % 6 === 1 ? `Loading the demo: ${layer}, ${title} …` : ''
}
