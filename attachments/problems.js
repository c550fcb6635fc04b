// Shows the user what is wrong with the map, as long as it lasts: the store does not answer, tiles do not load, there
// is nothing to show at this time or place. Each message ends by itself; its button only makes that quicker.
import { isPassing } from '../client/source/failure.js'
import { soon } from './dom.js'
import { plural, time as written } from './format.js'

const FADE_TIME = 300 // milliseconds until what went is gone

/** What an error of the layer means to the user. */
function words ({ code, message }, name) {
  switch (code) {
    case 'UNREACHABLE': return 'The server does not answer.'
    case 'LAYER_NOT_FOUND': return `The layer “${name}” is no longer in this store.`
    case 'DATABASE_NOT_FOUND': return 'The database is not there any more.'
    case 'INDEX_MISSING': return 'The store lacks its index of versions: deploy it with “tilecouch push”.'
    case 'UNAUTHORIZED': case 'FORBIDDEN': return 'The store does not let you read it.'
    default: return `The store has a problem: ${message}.`
  }
}

/** What is to be seen while only the device answers. */
const fromDevice = since => `${navigator.onLine ? 'The server does not answer.' : 'You are offline.'} ` +
  `This is what the device has of the map${since ? `, as of ${written(`${since.slice(0, 16)}:00Z`)}` : '; not all of it is here'}.`

/** @param {import('./map.js').MapView} view */
export function showProblems (stage, notices, view, onRetry, device) {
  const again = { label: 'Try again', run: onRetry }
  let away = false

  stage.on('storeerror', ({ error }) => {
    away = true
    notices.end('tiles')
    const since = isPassing(error) ? device.asOf(stage.doc.layer) : undefined
    if (since !== undefined) return notices.show('store', { text: fromDevice(since), onClose: () => {} })
    notices.show('store', { text: `${words(error, stage.layer.title)} This page keeps asking.`, tone: 'warn', action: again })
  })
  stage.on('storeback', () => {
    away = false
    notices.end('store')
  })

  const countFailed = soon(() => {
    const failed = stage.layer?.getContainer()?.querySelectorAll('.tilecouch-failed').length ?? 0
    if (!failed || away) return notices.end('tiles')
    notices.show('tiles', { text: `${plural(failed, 'tile')} did not load. Trying again.`, tone: 'warn', action: again })
  })
  stage.on('tileerror tileload tileunload timeload', countFailed)

  const look = soon(() => {
    const { doc, layer, time } = stage
    const changes = layer?.changes()
    if (!doc || !changes) return
    if (doc.format === 'pbf') {
      return notices.show('sight', { text: 'These are vector tiles. This page knows when they changed, and cannot draw them.' })
    }
    // an enlarged tile of another zoom may stand in for one that is missing
    const isSeen = Boolean(layer.getContainer()?.querySelector('.tilecouch-tile img'))
    const [first] = changes
    if (away && !isSeen && !changes.length && device.asOf(doc.layer) !== undefined) {
      return notices.show('sight', { text: 'Nothing of this place is on this device.' })
    }
    if (isSeen || away || !layer.isShown()) notices.end('sight')
    else if (first && time !== null && time < first.time) {
      notices.show('sight', { text: `This place has no tiles before ${written(first.time)}.`, action: { label: 'Go there', run: () => stage.clock.setTime(first.time) } })
    } else if (!changes.length && layer.extent()) {
      notices.show('sight', { text: `“${layer.title}” has no tiles here.`, action: { label: 'Show where it has', run: () => view.fit(doc) } })
    } else notices.end('sight')
  })
  const lookLater = soon(look, FADE_TIME)
  // the store may turn out to be away after everything else was looked at
  stage.on('changes timeload extent zone storeerror storeback', () => {
    look()
    lookLater()
  })
}
