import assert from 'node:assert/strict'
import { SparingLog } from '../../server/gateway/sparing.js'

describe('a log that does not repeat itself', () => {
  it('says the same once in a while, and then how often it was left out', () => {
    const lines = []
    const clock = { time: 0, now: () => clock.time }
    const log = new SparingLog({ warn: (details, text) => lines.push([details, text]) }, { pause: 100, clock })
    for (let x = 0; x < 5; x++) log.say('warn', 'osm down', { x }, 'down')
    log.say('warn', 'sea down', { x: 0 }, 'down')
    clock.time = 100
    log.say('warn', 'osm down', { x: 9 }, 'down')
    assert.deepEqual(lines, [[{ x: 0 }, 'down'], [{ x: 0 }, 'down'], [{ x: 9, more: 4 }, 'down']])
  })

  it('may be no log at all', () => {
    new SparingLog(undefined).say('error', 'x', {}, 'y')
  })
})
