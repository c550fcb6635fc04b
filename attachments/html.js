// Components of the pages: Preact, with templates of htm instead of a compiler. Texts stay texts: no text of a store
// becomes markup, or changes the order of the texts around it.
//
//   const Greeting = ({ name }) => html`<p class="hint">Hello, ${name}</p>`
import htm from 'htm'
import { h as create } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { plainText } from '../core/text.js'

export { createContext, render } from 'preact'
export {
  useContext, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState
} from 'preact/hooks'

function shown (child) {
  if (Array.isArray(child)) return child.map(shown)
  return typeof child === 'string' ? plainText(child) : child
}

export const html = htm.bind((type, props, ...children) => create(type, props, ...children.map(shown)))

/**
 * The value of a promise; undefined before it resolves, and if it rejects.
 * @template T @param {(signal: AbortSignal) => Promise<T>} ask @param {any[]} inputs it runs again when they change
 * @returns {T | undefined}
 */
export function useAnswer (ask, inputs) {
  const [answer, setAnswer] = useState(/** @type {T | undefined} */ (undefined))
  useEffect(() => {
    const stop = new AbortController()
    ask(stop.signal).then(value => { if (!stop.signal.aborted) setAnswer(value) }, () => {})
    return () => stop.abort()
  }, inputs)
  return answer
}

/**
 * A handler for the submission of a form. It ignores submissions while one is running.
 * @param {(event: any) => Promise<any>} act
 * @returns {{submit: (event: any) => Promise<void>, busy: boolean}}
 */
export function useSubmit (act) {
  const [busy, setBusy] = useState(false)
  const submit = async event => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    try {
      await act(event)
    } finally {
      setBusy(false)
    }
  }
  return { submit, busy }
}

/** Calls a function again and again while the page is visible. @param {() => void} run @param {number} pause ms */
export function useInterval (run, pause) {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) latest.current() }, pause)
    return () => clearInterval(timer)
  }, [pause])
}

/**
 * Draws a component again whenever one of these events happens.
 * @param {{on: Function, off: Function}} target @param {string} names
 */
export function useEvents (target, names) {
  const [, redraw] = useReducer(count => count + 1, 0)
  useLayoutEffect(() => { // a layout effect: an event between two frames counts too
    target.on(names, redraw)
    return () => target.off(names, redraw)
  }, [target, names])
}

/**
 * Calls a function when an element is first in view, and again after the inputs change.
 * @param {import('preact').RefObject<Element>} ref @param {() => void} onSeen @param {any[]} inputs
 */
export function useSeen (ref, onSeen, inputs) {
  useEffect(() => {
    const observer = new IntersectionObserver(entries => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      onSeen()
    })
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, inputs)
}

/** The focused element keeps the focus if its list gets another order: an element that is moved loses it. */
export function useKeptFocus () {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)
  useLayoutEffect(() => {
    if (focused?.isConnected && document.activeElement === document.body) focused.focus({ preventScroll: true })
  })
}
