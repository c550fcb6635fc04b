// What is wrong with the living leaves of one tile, and which of them say the same. Pure.
import { leafOf, tombstone } from '../resolve/content.js'
import { checkTimeline, versionOf } from '../verify/store/timelines.js'
import { wrongIn } from './document.js'

/** @typedef {{id: string, heads: any[], pasts: any[]}} State living leaves */

/** Versions that stand in two places of the past: the earlier one stays, as when conflicts are resolved. @param {State} state */
export function twice ({ heads: [head], pasts }) {
  const seen = new Set()
  return pasts.map(leafOf).filter(({ time }) => time !== head?.time).sort((a, b) => a.time < b.time ? -1 : 1).flatMap(({ key, id, rev }) => {
    if (seen.has(key)) return [tombstone(id, rev)]
    seen.add(key)
    return []
  })
}

/** @param {State[]} states @returns {Set<string>} `code id` */
export function wrongWith (states) {
  const wrong = new Set()
  for (const { id, heads, pasts } of states) {
    const ids = new Map()
    for (const doc of [...heads, ...pasts]) {
      for (const [code] of wrongIn(doc)) wrong.add(`${code} ${doc._id}`)
      ids.set(doc._id, (ids.get(doc._id) ?? 0) + 1)
    }
    for (const [doc, leaves] of ids) if (leaves > 1) wrong.add(`conflict ${doc}`)
    const versions = [...heads.slice(0, 1).map(doc => versionOf(doc)), ...pasts.map(doc => versionOf(doc, doc._id.slice(id.length + 1)))]
    for (const [code] of checkTimeline({ versions })) wrong.add(`${code} ${id}`)
  }
  return wrong
}
