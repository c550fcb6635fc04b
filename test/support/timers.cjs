// Which timers still hold the process, and where each began: Node's own list of what is open has only the word "Timeout".
const timers = require('node:timers')
const promises = require('node:timers/promises')
const { syncBuiltinESMExports } = require('node:module')

const MANY = 2000 // entries, before those that are over are forgotten

/** Where each began: only what is printed is made a text of. @type {Map<object, {stack?: string}>} */
const begun = new Map()

const runs = timer => !timer._destroyed && timer.hasRef()

function remember (timer, began) {
  if (begun.size > MANY) for (const known of begun.keys()) if (!runs(known)) begun.delete(known)
  const here = {}
  Error.captureStackTrace(here, began)
  begun.set(timer, here)
}

for (const name of ['setTimeout', 'setInterval']) {
  const original = timers[name]
  const watched = (...args) => {
    const timer = original(...args)
    remember(timer, watched)
    return timer
  }
  for (const key of Object.getOwnPropertySymbols(original)) Object.defineProperty(watched, key, Object.getOwnPropertyDescriptor(original, key))
  timers[name] = globalThis[name] = watched
}

const sleep = promises.setTimeout
promises.setTimeout = (milliseconds, value, options) => {
  const waiting = sleep(milliseconds, value, options)
  const pending = { _destroyed: false, hasRef: () => options?.ref !== false }
  remember(pending, promises.setTimeout)
  const over = () => { pending._destroyed = true }
  waiting.then(over, over)
  return waiting
}
syncBuiltinESMExports()

/** @returns {string[]} where each began */
exports.openTimers = () => [...begun].filter(([timer]) => runs(timer))
  .map(([, { stack = '' }]) => stack.split('\n').slice(1, 6).map(line => line.trim()).join('\n    '))
