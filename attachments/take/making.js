// Makes a file: a button that starts and cancels, the progress, and the result: the file, or an error with advice.
import { html, useEffect, useRef, useState } from '../html.js'
import { Button, Hint } from '../parts.js'
import { takeWords as words } from '../words.js'
import { canLeaveOut, problem } from './errors.js'

/**
 * @typedef {{blob: Blob, name: string, missing: number}} Made missing: images that were left out
 * @typedef {(options: {signal: AbortSignal, isLenient: boolean, onProgress: (done: number, all: number) => void}) =>
 *   Promise<Made>} Make
 *
 * The state: its name `is`, and its details.
 *   nothing     nothing was made yet, or it was printed
 *   running     done, all: frames
 *   made        blob, name, missing, address: of the file
 *   failed      error; use: the function that uses the file
 *   cancelled
 */

/**
 * @param {object} props
 * @param {import('./index.js').Page} props.page
 * @param {string} props.label of the button
 * @param {string | null} props.refusal why nothing can be made, in words
 * @param {Make} props.make
 * @param {(isRunning: boolean) => void} props.onRun
 * @param {(made: Made) => Promise<void>} [props.print]
 */
export function Making ({ page, label, refusal, make, onRun, print }) {
  const { notices } = page
  const [state, setState] = useState(/** @type {any} */ ({ is: 'nothing' }))
  const running = useRef(/** @type {AbortController | null} */ (null))
  const isRunning = state.is === 'running'
  useEffect(() => () => URL.revokeObjectURL(state.address), [state.address])
  useEffect(() => () => {
    if (!running.current) return
    running.current.abort()
    notices.show('take', { text: words.cancelled, canClose: true })
  }, [])

  /** @param {(made: Made) => any} use @param {boolean} [isLenient] */
  async function run (use, isLenient = false) {
    if (running.current || refusal) return
    const { signal } = running.current = new AbortController()
    const onProgress = (done, all) => setState({ is: 'running', done, all })
    onProgress(0, 0)
    onRun(true)
    let next
    try {
      const made = await make({ signal, isLenient, onProgress })
      signal.throwIfAborted()
      next = await use(made)
    } catch (error) {
      next = signal.aborted ? { is: 'cancelled' } : { is: 'failed', error, use }
    }
    running.current = null
    onRun(false)
    setState(next ?? { is: 'nothing' })
  }

  const offer = made => ({ is: 'made', ...made, address: URL.createObjectURL(made.blob) })
  return html`<div class="making">
    <div role="alert">${state.is === 'failed' && html`<${Failure} page=${page} ...${state} run=${run} />`}</div>
    ${isRunning && html`<progress max="1" aria-label=${words.progressLabel}
      value=${state.done ? state.done / state.all : undefined} />`}
    <p class="hint" role="status">${isRunning ? progressOf(state) : refusal ?? resultOf(state, page)}</p>
    ${state.is === 'made' && html`<${Result} ...${state} />`}
    <div class="acts">
      <${Button} kind=${isRunning || state.is === 'made' ? 'secondary' : 'primary'}
        busy=${!isRunning && refusal !== null} onClick=${() => isRunning ? running.current?.abort() : run(offer)}>
        ${isRunning ? words.cancel : label}
      <//>
      ${print && html`<${Button} busy=${isRunning || refusal !== null} onClick=${() => run(print)}>${words.print}<//>`}
    </div>
  </div>`
}

/** The progress in words, for every tenth frame only: screen readers read it. */
function progressOf ({ done, all }) {
  return done ? words.progress({ done: done < 10 ? 1 : done - done % 10, all }) : words.working
}

function resultOf ({ is, blob, missing }, { size }) {
  if (is === 'cancelled') return words.cancelled
  if (is !== 'made') return ''
  return [words.done(size(blob.size)), missing && words.missing(missing)].filter(Boolean).join(' ')
}

function Result ({ blob, name, address }) {
  const [isShareable, setShareable] = useState(true)
  const file = new File([blob], name, { type: blob.type })
  const share = () => navigator.share({ files: [file] }).catch(error => {
    if (error.name !== 'AbortError') setShareable(false)
  })
  return html`
    ${!isShareable && html`<${Hint} role="status">${words.notShared}<//>`}
    <div class="acts">
      <a class="primary save" href=${address} download=${name}>${words.save}</a>
      ${navigator.canShare?.({ files: [file] }) && html`<${Button} onClick=${share}>${words.share}<//>`}
    </div>`
}

function Failure ({ page, error, use, run }) {
  return html`<div class="problem">
    <p>${problem(error, page)}</p>
    <div class="acts">
      <${Button} onClick=${() => run(use)}>${words.again}<//>
      ${canLeaveOut(error) && html`<${Button} onClick=${() => run(use, true)}>${words.without}<//>`}
    </div>
  </div>`
}
