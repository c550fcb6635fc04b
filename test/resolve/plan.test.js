// What is to be done about a tile: the rules by themselves.
import assert from 'node:assert/strict'
import { contentOf } from '../../core/store/blocks.js'
import { planTile, versionIn } from '../../core/store/plan.js'
import { resolve } from '../../loader/check/conflicts.js'
import { Store } from '../../loader/store/index.js'
import { png } from '../support/tiles.js'
import { MemoryCouch } from './memory-couch.js'

const at = second => `2024-01-01T00:00:0${second}Z`

/** `head 5 a`, `past 5 a`, `past 4 a of 5`, with what it was learnt at: `head 5 a later`. Letters are images. */
function leaf (text, index) {
  const [, kind, second, image, own, stored] =
    /** @type {string[]} */ (/(\w+) (\d) (\w+)(?: of (\d))?( later)?/.exec(text))
  const isHead = kind === 'head'
  return versionIn({
    _id: `osm:1:0:0${isHead ? '' : `@${at(second)}`}`, _rev: `${index + 1}-${image}`,
    current: isHead, time: at(second), stored: at(stored ? 9 : 8),
    ...(own && { contested: at(own) }),
    ...(image === 'gone' ? { gone: true } : { _attachments: { tile: { digest: `md5-${image.padEnd(22, 'A')}==` } } })
  })
}

const letters = new Map([...'abc'].map(letter => [contentOf(`md5-${letter.padEnd(22, 'A')}==`), letter]))

/** What stands when nothing is left to do: `5 b`, `4 a of 5`, the head last. @param {string[]} texts */
function settled (...texts) {
  const leaves = texts.map(leaf)
  let [heads, pasts] = [leaves.filter(({ id }) => !id?.includes('@')), leaves.filter(({ id }) => id?.includes('@'))]
  heads.sort((a, b) => a.rev < b.rev ? 1 : -1)
  for (let step = 0; ; step++) {
    assert.ok(step < 20, 'it comes to an end')
    const { writes } = planTile('osm:1:0:0', heads, pasts, { statements: [], isRemoved: () => false })
    if (!writes.length) break
    for (const { id, rev, want, end, from } of writes) {
      const isHead = !id.includes('@')
      const list = (isHead ? heads : pasts).filter(version => version.id !== id || version.rev !== rev)
      if (!end) {
        assert.ok(want.content === 'gone' || [...heads, ...pasts].includes(from), 'its bytes are there')
        list.unshift({ ...want, id, rev: `${50 + step}-x` })
      }
      if (isHead) heads = list
      else pasts = list
    }
  }
  const name = ({ time, content, contested }) =>
    `${time.slice(-3, -1).replace(/^0/, '')} ` +
      `${letters.get(content) ?? 'gone'}${contested ? ` of ${contested[18]}` : ''}`
  return [...pasts.sort((a, b) => a.time < b.time ? -1 : 1).map(name), ...heads.map(one => `head ${name(one)}`)]
}

describe('the plan for a tile', () => {
  const cases = {
    'one head stays unchanged': [['head 5 a'], ['head 5 a']],
    'the newest head stays, and the other head becomes a past version': [['head 5 a', 'head 3 b'], ['3 b', 'head 5 a']],
    'a losing head that is already in the past is not copied': [
      ['head 5 a', 'head 3 b', 'past 3 b'], ['3 b', 'head 5 a']
    ],
    'two equal heads become one': [['head 5 a', 'head 5 a later'], ['head 5 a']],
    'the later of two images of one time stays, and the other moves one second earlier': [
      ['head 5 a', 'head 5 b later'], ['4 a of 5', 'head 5 b']
    ],
    'an image moves two seconds earlier when the second before is taken': [
      ['head 5 a', 'head 5 b later', 'past 4 c'], ['3 a of 5', '4 c', 'head 5 b']
    ],
    'a gone head that was stored later wins over an image of the same time': [
      ['head 5 a', 'head 5 gone later'], ['4 a of 5', 'head 5 gone']
    ],
    'a past copy of the head stays': [
      ['head 5 a', 'past 5 a', 'head 3 b', 'past 3 b'], ['3 b', '5 a', 'head 5 a']
    ],
    'a past image with the time of the head moves one second earlier': [
      ['head 5 b later', 'past 5 a'], ['4 a of 5', 'head 5 b']
    ],
    'a past version that is newer than the head becomes the head': [
      ['head 3 a', 'past 5 b'], ['3 a', '5 b', 'head 5 b']
    ],
    'a past version of the same time that was stored later becomes the head': [
      ['head 5 a', 'past 5 b later'], ['4 a of 5', '5 b', 'head 5 b']
    ],
    'a losing head replaces a past version of its time that was stored earlier': [
      ['head 5 a', 'head 3 b later', 'past 3 c'], ['2 c of 3', '3 b', 'head 5 a']
    ],
    'a losing head is not copied when its moved copy exists already': [
      ['head 5 b later', 'head 5 a', 'past 4 a of 5'], ['4 a of 5', 'head 5 b']
    ]
  }
  for (const [title, [leaves, expected]] of Object.entries(cases)) {
    it(title, () => {
      assert.deepEqual(settled(...leaves), expected)
      assert.deepEqual(settled(...[...leaves].reverse()), expected, 'in any order')
    })
  }
})

describe('a version whose copy is refused', () => {
  it('stays a conflicting head until its copy is accepted', async () => {
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
