// A history as diffs: from nothing to the first time, and from each to the next. As a dated set they make the same history.
import assert from 'node:assert/strict'
import path from 'node:path'
import fc from 'fast-check'
import { diff } from '../../loader/diff/index.js'
import { loadSet, openSet } from '../../loader/set.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { TIMES, contents, histories, openStore, remember } from './helpers.js'

// the second diff, a folder, has no tile
const ONLY_TAKEN_AWAY = [{ z: 4, x: 1, y: 9, time: TIMES[0], seed: 1 }, { z: 4, x: 1, y: 9, time: TIMES[1], seed: null }]
const ENDINGS = ['.mbtiles', '', '.mbtiles', '']

onEachStore('a history of diffs', backend => {
  const folder = useFolder()

  it('in another store is the same history, byte by byte', async function () {
    this.timeout(120000)
    const [store, other] = await Promise.all([openStore(backend), openStore(backend)])
    let run = 0
    await fc.assert(fc.asyncProperty(histories, async steps => {
      const layer = `layer${run++}`
      await remember(store, layer, steps)
      const set = path.join(folder.dir, layer)
      for (const [index, time] of TIMES.entries()) {
        await diff(store, `${layer}@${TIMES[index - 1] ?? '2000'}`, `${layer}@${time}`, { target: path.join(set, `changes-${time.slice(0, 10)}${ENDINGS[index]}`) })
      }
      const { failed } = await loadSet(other, await openSet([set]), { layer })
      assert.equal(failed, 0)
      for (const time of ['2020', ...TIMES, undefined]) assert.deepEqual(await contents(other, layer, time), await contents(store, layer, time), `as of ${time}`)
    }), { numRuns: 4, examples: [[ONLY_TAKEN_AWAY]] })
  })
})
