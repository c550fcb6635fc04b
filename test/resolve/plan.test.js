// What is to be done about a tile: the rules by themselves.
import assert from 'node:assert/strict'
import { TilecouchError } from '../../core/index.js'
import { leafOf } from '../../loader/resolve/content.js'
import { resolve } from '../../loader/resolve/index.js'
import { planTile } from '../../loader/resolve/plan.js'
import { Store } from '../../loader/store/index.js'
import { png } from '../support/tiles.js'
import { MemoryCouch } from './memory-couch.js'

const at = second => `2024-01-01T00:00:0${second}Z`

/** `head 5 a`, `past 5 a`, `past 4 a of 5`, with what it was learnt at: `head 5 a later`. Letters are images. */
function leaf (text, index) {
  const [, kind, second, image, own, stored] = /** @type {string[]} */ (/(\w+) (\d) (\w+)(?: of (\d))?( later)?/.exec(text))
  const isHead = kind === 'head'
  return leafOf({
    _id: `osm:1:0:0${isHead ? '' : `@${at(second)}`}`, _rev: `${index + 1}-${image}`, current: isHead, time: at(second), stored: at(stored ? 9 : 8),
    ...(own && { contested: at(own) }), ...(image === 'gone' ? { gone: true } : { _attachments: { tile: { digest: image } } })
  })
}

const name = ({ id, time, key }) => `${id.includes('@') ? 'past' : 'head'} ${time[18]} ${key.split(' ')[1] || 'gone'}`

function planned (...texts) {
  const leaves = texts.map(leaf)
  const { copies, ends, promote } = planTile(leaves.filter(({ doc }) => doc.current), leaves.filter(({ doc }) => !doc.current))
  const needs = copy => copy ? ` when ${copy.time[18]} stands` : ''
  return [
    ...copies.map(({ from, time }) => `copy ${name(from)} to ${time[18]}`),
    ...promote ? [`promote ${name(promote.leaf)}${needs(promote.needs)}`] : [],
    ...ends.map(copy => `end ${name(copy.leaf)}${needs(copy.needs)}`)
  ].sort()
}

describe('the plan for a tile', () => {
  const cases = {
    'one head': [['head 5 a'], []],
    'the newest head stays': [['head 5 a', 'head 3 b'], ['copy head 3 b to 3', 'end head 3 b when 3 stands']],
    'a loser that stands in the past already is not copied': [['head 5 a', 'head 3 b', 'past 3 b'], ['end head 3 b']],
    'two heads that say the same': [['head 5 a', 'head 5 a later'], ['end head 5 a']],
    'two images at one time': [['head 5 a', 'head 5 b later'], ['copy head 5 a to 4', 'end head 5 a when 4 stands']],
    'two images at one time, and the second before is taken': [['head 5 a', 'head 5 b later', 'past 4 c'], ['copy head 5 a to 3', 'end head 5 a when 3 stands']],
    'no tile against a tile': [['head 5 a', 'head 5 gone later'], ['copy head 5 a to 4', 'end head 5 a when 4 stands']],
    'a copy of the head in the past is left alone': [['head 5 a', 'past 5 a', 'head 3 b', 'past 3 b'], ['end head 3 b']],
    'an image in the past that the head\'s time has moves': [['head 5 b later', 'past 5 a'], ['copy past 5 a to 4', 'end past 5 a when 4 stands']],
    'a past version that is newer becomes the head': [['head 3 a', 'past 5 b'], ['copy head 3 a to 3', 'promote past 5 b when 3 stands']],
    'a past version that was learnt later becomes the head': [['head 5 a', 'past 5 b later'], ['copy head 5 a to 4', 'promote past 5 b when 4 stands']],
    'a loser takes the place of what was learnt before it': [['head 5 a', 'head 3 b later', 'past 3 c'], ['copy head 3 b to 3', 'copy past 3 c to 2', 'end head 3 b when 3 stands', 'end past 3 c when 2 stands']],
    'what belongs to a time has it before what moved there': [['head 5 a', 'past 3 b', 'past 3 c of 5 later'], ['copy past 3 c to 2', 'end past 3 c when 2 stands']],
    'what had to move stands there before': [['head 5 b later', 'head 5 a', 'past 4 a of 5'], ['end head 5 a']],
    'a copy at an earlier place will do': [['head 5 b', 'past 4 c', 'past 4 a of 5', 'past 2 a of 5'], ['end past 4 a']],
    'a copy at a later place will not: somebody may be ending that in favour of this one': [['head 5 b', 'past 4 a of 5', 'past 3 a of 5', 'past 3 c'], ['copy past 3 a to 2', 'end past 3 a when 2 stands']]
  }
  for (const [title, [leaves, expected]] of Object.entries(cases)) {
    it(title, () => {
      assert.deepEqual(planned(...leaves), expected)
      assert.deepEqual(planned(...leaves.toReversed?.() ?? [...leaves].reverse()), expected, 'in any order')
    })
  }

  it('is refused where there is no second left', () => {
    const first = text => leafOf({ _id: 'osm:1:0:0', _rev: `1-${text}`, current: true, time: '0000-01-01T00:00:00Z', _attachments: { tile: { digest: text } } })
    assert.throws(() => planTile([first('a'), first('b')], []), error => error instanceof TilecouchError && error.code === 'BAD_TIME')
  })
})

describe('a version whose copy is refused', () => {
  it('stays where it is', async () => {
    const [one, two] = [new MemoryCouch('one'), new MemoryCouch('two')]
    const tile = { layer: 'osm', z: 1, x: 0, y: 0 }
    await new Store(one).write([{ ...tile, time: at(3), bytes: png(1) }])
    await new Store(two).write([{ ...tile, time: at(5), bytes: png(2) }])
    one.take(two, two.ids)
    one.refuses = id => id.includes('@')
    const summary = await resolve(new Store(one))
    assert.deepEqual([summary.refused, summary.past, summary.ended], [1, 0, 0])
    assert.equal(one.living('osm:1:0:0').length, 2)
    one.refuses = () => false
    assert.equal((await resolve(new Store(one))).ended, 1)
  })
})
