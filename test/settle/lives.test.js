// Random lives of a layer in memory: loads, single writes and removals on one store or on two masters, all at once,
// killed before any request and run again. In the end every tile shows at every time what was said of it. The same
// seeds are the same lives.
import { live } from './lives.js'

const LIVES = +(process.env.TILECOUCH_LIVES ?? (process.env.TILECOUCH_LONG ? 5000 : 120))
const FIRST = +(process.env.TILECOUCH_SEED ?? 1)

describe(`random loads, writes and removals of a layer (seeds ${FIRST} to ${FIRST + LIVES - 1})`, function () {
  this.timeout(20000 + LIVES * 500)
  this.slow(20000)

  /** @param {Parameters<typeof live>[1]} options */
  const liveAll = async options => {
    const wrong = []
    for (let seed = FIRST; seed < FIRST + LIVES; seed++) {
      await live(seed, options).catch(error => wrong.push(`seed ${seed}: ${error.message}`))
    }
    if (wrong.length) throw new Error(`${wrong.length} of ${LIVES} lives went wrong:\n${wrong.slice(0, 5).join('\n')}`)
  }

  it('show the stated versions in any order of steps, on one store and on two masters', () => liveAll({ masters: 2 }))

  // a load that stored nothing took the removal of its layer away, or the layer from a load that was just beginning
  for (const seed of [2542, 3388, 9760, 15337]) {
    it(`show the stated versions with seed ${seed}, in which a load stores nothing`, () => live(seed, { masters: 2 }))
  }

  // a write that was killed and run again took the leaf of a removed run for its own
  for (const seed of [100704, 100775]) {
    it(`show the stated versions with seed ${seed}, which once lost a version`, () => live(seed))
  }
})
