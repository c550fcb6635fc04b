// What is made of a read, by what was announced before, during and after it.
import assert from 'node:assert/strict'
import { headId } from '../../core/index.js'
import { Announced, timelineKey } from '../../server/gateway/announced.js'

const ID = 'osm:1:0:0'

describe('a read, judged by what was announced', () => {
  it('is true when nothing was said of the document, or that very thing', () => {
    const announced = new Announced()
    const begun = announced.begin()
    assert.equal(announced.judge(ID, '1-a', begun), 'true')
    announced.announce(ID, '2-b', false)
    announced.announce('osm:1:0:1', '1-z', true)
    assert.equal(announced.judge(ID, '2-b', begun), 'true')
    assert.equal(announced.judge('osm:1:0:1', null, begun), 'true')
    assert.equal(announced.judge('osm:1:1:1', '1-a', begun), 'true')
  })

  it('is old when the document changed meanwhile, also to what looks older', () => {
    const announced = new Announced()
    const begun = announced.begin()
    announced.announce(ID, '3-c', false)
    for (const rev of ['2-b', '3-d', '5-e', null]) assert.equal(announced.judge(ID, rev, begun), 'old', String(rev))
    announced.announce(ID, '4-x', true)
    assert.equal(announced.judge(ID, '3-c', begun), 'old')
  })

  it('is behind when it began after the change and brings what was before it: a copy of a shard that lags', () => {
    const announced = new Announced()
    announced.announce(ID, '3-c', false)
    announced.announce('osm:1:0:1', '3-c', true)
    const begun = announced.begin()
    assert.equal(announced.judge(ID, '2-b', begun), 'behind')
    assert.equal(announced.judge(ID, null, begun), 'behind')
    assert.equal(announced.judge(ID, '4-d', begun), 'true', 'newer than what we have heard of')
    assert.equal(announced.judge('osm:1:0:1', '2-b', begun), 'behind')
    assert.equal(announced.judge('osm:1:0:1', '4-d', begun), 'true', 'made again')
  })

  it('of a timeline is old when any version of the tile changed meanwhile', () => {
    const announced = new Announced()
    const before = announced.begin()
    announced.announce(`${ID}@2021-01-01T00:00:00Z`, '1-a', false)
    assert.equal(announced.judgeTimeline(ID, before), 'old')
    assert.equal(announced.judgeTimeline('osm:1:0:1', before), 'true')
    assert.equal(announced.judgeTimeline(ID, announced.begin()), 'true')
    assert.equal(announced.judge(ID, '1-a', before), 'true', 'the head is another document')
    assert.deepEqual([headId(ID), headId(`${ID}@2021`), timelineKey(ID)], [ID, ID, `${ID}@`])
  })

  it('that began before everything became doubtful is old', () => {
    const announced = new Announced()
    const begun = announced.begin()
    announced.reset()
    assert.equal(announced.judge(ID, '1-a', begun), 'old')
    assert.equal(announced.judgeTimeline(ID, begun), 'old')
    assert.equal(announced.judge(ID, '1-a', announced.begin()), 'true')
  })

  it('that took so long that what was announced meanwhile is forgotten is old', () => {
    const announced = new Announced({ most: 10 })
    const begun = announced.begin()
    announced.announce(ID, '2-b', false)
    for (let i = 0; i < 4; i++) announced.announce(`osm:9:0:${i}`, '1-a', false)
    assert.equal(announced.judge(ID, '1-a', begun), 'old')
    for (let i = 0; i < 100; i++) announced.announce(`osm:9:1:${i}`, '1-a', false)
    assert.equal(announced.judge(ID, '1-a', begun), 'old')
    assert.equal(announced.judge('osm:9:9:9', '1-a', begun), 'old', 'nobody knows')
    assert.equal(announced.judge(ID, '1-a', announced.begin()), 'true')
  })

  it('is judged by what is ten seconds old, but not for ever', () => {
    const clock = { time: 1e6, now: () => clock.time }
    const announced = new Announced({ clock })
    announced.announce(ID, '3-c', false)
    clock.time += 9999
    announced.announce('osm:9:0:0', '1-a', false)
    assert.equal(announced.judge(ID, '2-b', announced.begin()), 'behind')
    for (let i = 1; i < 4; i++) {
      clock.time += 10001
      announced.announce(`osm:9:0:${i}`, '1-a', false)
    }
    assert.equal(announced.judge(ID, '2-b', announced.begin()), 'true')
  })
})
