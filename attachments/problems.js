// Shows problems of the map while they last: the store does not answer, tiles do not load, or a time or place has no
// tiles. Each message disappears when its problem ends; its button speeds that up.
import { isPassing } from '../client/source/failure.js'
import { soon } from './dom.js'
import { time as written } from './format.js'
import { say, words } from './words.js'

const FADE_TIME = 300 // milliseconds until a tile that fades out is removed

/** An error of the layer, in words for the user. */
const meaningOf = ({ code, message }, name) =>
  say(words.problems.codes[code] ?? words.problems.other, { name, message })

/** The notice while only the device answers. */
function fromDevice (since) {
  const { codes, isOffline, fromDevice: wholly, partlyFromDevice } = words.problems
  const state = navigator.onLine ? codes.UNREACHABLE : isOffline
  return since ? wholly({ state, time: written(`${since.slice(0, 16)}:00Z`) }) : partlyFromDevice(state)
}

/**
 * Says why the map shows nothing; null if it shows something, or may still do so.
 * @param {import('./map.js').MapView} view @param {any} device null unless the store does not answer
 * @param {{label: string, run: () => void}} retryAction
 */
function sightNotice (stage, changes, view, device, retryAction) {
  const { doc, layer, time } = stage
  const [first] = changes
  if (!stage.draws(doc)) {
    if (!stage.hasWebGL) return { text: words.problems.vector }
    return device ? null : { text: words.problems.codes.UNREACHABLE, tone: 'warn', action: retryAction } // for its code
  }
  // an enlarged tile of another zoom may stand in for one that is missing
  const isSeen = layer.isEmpty
    ? !layer.isEmpty()
    : Boolean(layer.getContainer()?.querySelector('.tilecouch-tile img'))
  if (isSeen) return null
  if (device) return !first && device.asOf(doc.layer) !== undefined ? { text: words.problems.notHere } : null
  if (!layer.isShown()) return null
  if (first && time !== null && time < first.time) return {
    text: words.problems.noneBefore(written(first.time)),
    action: { label: words.problems.goThere, run: () => stage.clock.setTime(first.time) }
  }
  if (!first && layer.extent()) return {
    text: words.problems.noneHere(layer.title),
    action: { label: words.problems.showWhere, run: () => view.fit(doc) }
  }
  return null
}

/** @param {import('./map.js').MapView} view */
export function showProblems (stage, notices, view, onRetry, device) {
  const retryAction = { label: words.again, run: onRetry }
  let away = false

  stage.on('storeerror', ({ error }) => {
    away = true
    notices.end('tiles')
    const since = isPassing(error) ? device.asOf(stage.doc.layer) : undefined
    if (since !== undefined) return notices.show('store', { text: fromDevice(since), canClose: true })
    notices.show('store', {
      text: `${meaningOf(error, stage.layer.title)} ${words.problems.keepsAsking}`, tone: 'warn', action: retryAction
    })
  })
  // a layer that replaces the failed one has not failed yet, and does not report that the store is back
  stage.on('storeback show', () => {
    away = false
    notices.end('store')
  })

  const countFailed = soon(() => {
    const failed = stage.layer?.getContainer()?.querySelectorAll('.tilecouch-failed').length ?? 0
    if (!failed || away) return notices.end('tiles')
    notices.show('tiles', { text: words.problems.failed(failed), tone: 'warn', action: retryAction })
  })
  stage.on('tileerror tileload tileunload timeload', countFailed)

  const checkView = soon(() => {
    const { doc, layer } = stage
    const changes = layer?.changes()
    if (!doc || !changes) return
    const notice = sightNotice(stage, changes, view, away ? device : null, retryAction)
    if (notice) notices.show('sight', notice)
    else notices.end('sight')
  })
  const checkLater = soon(checkView, FADE_TIME)
  // an error of the store may arrive after all other events
  stage.on('changes timeload extent zone storeerror storeback', () => {
    checkView()
    checkLater()
  })
}
