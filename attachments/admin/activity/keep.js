// For how many days activity is kept: admins change it, and what is older is removed while an admin has this open.
import { activityDays, activityDefaults, keptFrom } from '../../../core/activity.js'
import { STORE_ID } from '../../../core/ids.js'
import { breathe } from '../../dom.js'
import { html, useEffect, useRef, useState, useSubmit } from '../../html.js'
import { useApp, useDocs } from '../app.js'
import { Clash, record, save } from '../edit.js'
import { Button, Hint } from '../../parts.js'
import { texts } from '../words.js'

const BATCHES = 20 // of old activity that are removed while the section is open
const LEAST = 30 // days, and
const MOST = 36_500 // days: see core/settings.js

const words = texts.activity.keep

export function Keep ({ isRead }) {
  const app = useApp()
  const docs = useDocs('activity', 'store')
  const store = docs.get(STORE_ID)
  const days = activityDays(store)
  const [typed, setTyped] = useState(/** @type {string | null} */ (null))
  const removal = useRef({ left: BATCHES, isRunning: false, isClosed: false }).current

  useEffect(() => () => { removal.isClosed = true }, [])
  useEffect(() => { if (isRead) removeOld(app, removal) })

  const { submit, busy } = useSubmit(async () => {
    const after = Number(typed ?? days)
    try {
      const before = store ?? { _id: STORE_ID, type: 'store' }
      const activityDaysAfter = after === activityDefaults.days ? undefined : after
      docs.put((await save(app.couch, before, { activityDays: activityDaysAfter })).after)
      setTyped(null)
      app.say(words.saved(after))
      if (after !== days) {
        const fields = { activityDays: { before: days, after } }
        await record(app, { what: 'store', done: 'changed', fields })
      }
    } catch (error) {
      if (error instanceof Clash && error.newest) docs.put(error.newest)
      app.say(error instanceof Clash ? words.clash : texts.failed(error.message), true)
    }
  })

  return html`<form class="card keep" onSubmit=${submit}>
    <h3>${words.head}</h3>
    <${Hint}>${words.now(days)}<//>
    <div class="row">
      <label>
        ${words.days}
        <input type="number" min=${LEAST} max=${MOST} step="1" required value=${typed ?? String(days)}
          onInput=${({ target }) => setTyped(target.value)} />
      </label>
      <${Button} type="submit" busy=${busy}>${words.save}<//>
    </div>
  </form>`
}

/**
 * A batch after the other, the oldest first; the page stays quick.
 * @param {import('../app.js').App} app
 * @param {{left: number, isRunning: boolean, isClosed: boolean}} removal left: batches
 */
async function removeOld ({ couch, docs }, removal) {
  if (removal.isRunning) return
  removal.isRunning = true
  try {
    while (removal.left > 0 && !removal.isClosed) {
      const from = keptFrom(docs.get(STORE_ID), couch.now())
      const old = docs.all('activity').filter(({ at }) => at < from).sort((one, other) => one.at < other.at ? -1 : 1)
      if (!old.length) return
      removal.left--
      const gone = old.slice(0, activityDefaults.batch).map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
      const answers = await couch.ask('_bulk_docs', { body: { docs: gone } })
      if (answers.some(({ error }) => error && error !== 'conflict')) return // it may not: the next command does it
      for (const { _id } of gone) docs.drop(_id)
      await breathe()
    }
  } catch {
    removal.left = 0 // another time
  } finally {
    removal.isRunning = false
  }
}
