// The plan of writes for a tile: their order in small cases, and the versions that remain when no writes are left.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { GONE, contentOf } from '../../core/store/blocks.js'
import { planTile, versionIn } from '../../core/store/plan.js'
import { resolve } from '../../loader/check/conflicts.js'
import { Store } from '../../loader/store/index.js'
import { png, yearStart } from '../support/tiles.js'
import { MemoryCouch } from '../resolve/memory-couch.js'

const ID = 'osm:1:0:0'
const [A, B, C] = ['A', 'B', 'C'].map(image => contentOf(`md5-${hash('md5', image, 'base64')}`))
const run = number => `202401010000000${number}-aaaa`

/** @returns {any} */
const version = (
  year, content, number, { id = `${ID}@${yearStart(year)}`, seen = [], rev = `1-${content}${number}` } = {}
) => (
  { id, rev, time: yearStart(year), content, run: run(number), seen }
)
const head = (year, content, number, options) => version(year, content, number, { id: ID, ...options })
const stated = (year, content, number) => ({ time: yearStart(year), content, run: run(number) })
const known =
  (statements = [], removed = []) => ({ statements, isRemoved: (time, by) => removed.some(n => by === run(n)) })
const added = (year, content, number, inManifest = true) => (
  { ...version(year, content, number), id: undefined, rev: undefined, inManifest, documentOf: () => ({}) }
)

const NAMES = new Map([[A, 'A'], [B, 'B'], [C, 'C']])

/** A write as text: the document, its new version, and whether it replaces a revision. */
function lineOf ({ id, rev, version: written, end }) {
  const content = end ? 'ends' : `${NAMES.get(written.content) ?? written.content} of ${written.time.slice(0, 4)}`
  return `${id.slice(ID.length) || 'head'} ${content}${rev ? ' over another' : ''}`
}
const lines = ({ writes }) => writes.map(lineOf)
const nameOf = time => `@${yearStart(time)}`

describe('a stored document', () => {
  it('is read as a version even if its fields have invalid values', () => {
    const doc = {
      _id: ID, time: yearStart(2020), run: run(1), seen: [[yearStart(2021), run(2)]],
      stored: yearStart(2020), contested: yearStart(2019),
      _attachments: { tile: { digest: 'md5-AAAAAAAAAAAAAAAAAAAAAA==' } }
    }
    assert.deepEqual([versionIn(doc).run, versionIn(doc).seen, versionIn(doc).contested],
      [run(1), doc.seen, yearStart(2019)])
    for (const odd of [null, 5, true, {}, [], [[]], [null], [[null, 5]], 'x']) {
      const { run: readRun, seen, contested } = versionIn(
        { ...doc, run: typeof odd === 'string' ? undefined : odd, stored: odd, seen: odd, contested: odd, origin: odd }
      )
      assert.deepEqual([typeof readRun, seen, contested], ['string', [], undefined], JSON.stringify(odd))
    }
  })
})

describe('the plan for a tile', () => {
  it('has no writes when the stored versions agree with all statements', () => {
    assert.deepEqual(planTile(ID, [head(2022, B, 2)], [version(2020, A, 1)],
      known([stated(2020, A, 1), stated(2022, B, 2)])), { writes: [], unknown: [] })
    assert.deepEqual(planTile(ID, [], [], known()), { writes: [], unknown: [] })
    assert.deepEqual(planTile(ID, [], [], known([stated(2020, GONE, 1)])).writes, [], 'gone before anything was there')
  })

  it('copies a head into the past before it overwrites the head', () => {
    const heads = [head(2020, A, 1)]
    const firstPlan = planTile(ID, heads, [], known([stated(2020, A, 1)]), [added(2022, B, 2)])
    assert.deepEqual(lines(firstPlan), [`${nameOf(2020)} A of 2020`])
    const secondPlan = planTile(ID, heads, [version(2020, A, 1)], known([stated(2020, A, 1)]), [added(2022, B, 2)])
    assert.deepEqual(lines(secondPlan), ['head B of 2022 over another'])
    assert.equal(secondPlan.writes[0].rev, heads[0].rev)
  })

  it('writes no version when an edition confirms the head', () => {
    assert.deepEqual(lines(planTile(ID, [head(2020, A, 1)], [], known([stated(2020, A, 1)]), [added(2022, A, 2)])), [])
  })

  it('writes a confirmed image again when a late statement puts another image before it', () => {
    const plan =
      planTile(ID, [head(2020, A, 1)], [], known([stated(2020, A, 1), stated(2024, A, 2)]), [added(2022, B, 3)])
    assert.deepEqual(lines(plan), [`${nameOf(2020)} A of 2020`])
    const nextPlan = planTile(ID, [head(2020, A, 1)], [version(2020, A, 1), version(2022, B, 3)],
      known([stated(2020, A, 1), stated(2024, A, 2), stated(2022, B, 3)]))
    assert.deepEqual(lines(nextPlan), ['head A of 2024 over another'])
  })

  it('prefers the greater of two runs for one time and keeps the other image one second earlier', () => {
    const statements = [stated(2020, B, 2)]
    const plan = planTile(ID, [head(2020, A, 1)], [], known(statements), [added(2020, B, 2)])
    assert.deepEqual(lines(plan), ['@2019-12-31T23:59:59Z A of 2019'])
    assert.equal(plan.writes[0].version?.contested, yearStart(2020))
  })

  it('deletes removed versions, and moves the head back before it deletes from the past', () => {
    const statements = [stated(2020, A, 1), stated(2022, B, 2)]
    const [heads, pasts] = [[head(2022, B, 2)], [version(2020, A, 1)]]
    assert.deepEqual(lines(planTile(ID, heads, pasts, known(statements, [2]))), ['head A of 2020 over another'])
    assert.deepEqual(lines(planTile(ID, heads, pasts, known(statements, [1]))), [`${nameOf(2020)} ends over another`])
    assert.deepEqual(lines(planTile(ID, [head(2022, B, 2)], [], known(statements, [1, 2]))), ['head ends over another'])
  })

  it('copies the bytes of a removed head to an older version before it changes the head', () => {
    // the removed head has the only bytes of C, which another statement needs for 2021
    const statements = [stated(2020, A, 1), stated(2021, C, 3), stated(2022, B, 2), stated(2024, C, 4)]
    const plan = planTile(ID, [head(2024, C, 4)], [version(2020, A, 1), version(2022, B, 2)], known(statements, [4]))
    assert.deepEqual(lines(plan), [`${nameOf(2021)} C of 2021`])
  })

  it('names a statement whose image is unknown and writes nothing for it', () => {
    const { writes, unknown } = planTile(ID, [head(2020, A, 1)], [], known([stated(2020, A, 1), stated(2022, B, 2)]))
    assert.deepEqual([writes, unknown], [[], [stated(2022, B, 2)]])
  })

  it('moves a head to the time of a later single write when its own statement is removed', () => {
    const seen = [[yearStart(2022), run(2)]]
    const planBefore = planTile(ID, [head(2020, A, 1, { seen })], [], known([stated(2020, A, 1)]))
    assert.deepEqual(lines(planBefore), [])
    const planAfter = planTile(ID, [head(2020, A, 1, { seen })], [], known([stated(2020, A, 1)], [1]))
    assert.deepEqual(lines(planAfter), ['head A of 2022 over another'])
  })

  it('deletes the losing one of two equal leaves', () => {
    const plan = planTile(ID, [head(2020, A, 1, { rev: '2-b' }), head(2020, A, 1, { rev: '2-a' })], [],
      known([stated(2020, A, 1)]))
    assert.deepEqual(plan.writes.map(({ rev, end }) => [rev, Boolean(end)]), [['2-a', true]])
  })
})

const timeOf = second => `2024-01-01T00:00:0${second}Z`

/** Parses `head 5 a`, `past 5 a`, `past 4 a of 5` or, stored later, `head 5 a later`. Letters are images. */
function leaf (text, index) {
  const [, kind, second, image, contestedSecond, stored] =
    /** @type {string[]} */ (/(\w+) (\d) (\w+)(?: of (\d))?( later)?/.exec(text))
  const isHead = kind === 'head'
  return versionIn({
    _id: `osm:1:0:0${isHead ? '' : `@${timeOf(second)}`}`, _rev: `${index + 1}-${image}`,
    current: isHead, time: timeOf(second), stored: timeOf(stored ? 9 : 8),
    ...(contestedSecond && { contested: timeOf(contestedSecond) }),
    ...(image === 'gone' ? { gone: true } : { _attachments: { tile: { digest: `md5-${image.padEnd(22, 'A')}==` } } })
  })
}

const letters = new Map([...'abc'].map(letter => [contentOf(`md5-${letter.padEnd(22, 'A')}==`), letter]))

/** Applies plans until no writes are left. Returns `5 b`, `4 a of 5` etc., the head last. @param {string[]} texts */
function settleLeaves (...texts) {
  const leaves = texts.map(leaf)
  let [heads, pasts] = [leaves.filter(({ id }) => !id?.includes('@')), leaves.filter(({ id }) => id?.includes('@'))]
  heads.sort((a, b) => a.rev < b.rev ? 1 : -1)
  for (let step = 0; ; step++) {
    assert.ok(step < 20, 'it comes to an end')
    const { writes } = planTile('osm:1:0:0', heads, pasts, { statements: [], isRemoved: () => false })
    if (!writes.length) break
    for (const { id, rev, version: written, end, from } of writes) {
      const isHead = !id.includes('@')
      const list = (isHead ? heads : pasts).filter(document => document.id !== id || document.rev !== rev)
      if (!end) {
        assert.ok(written.content === 'gone' || [...heads, ...pasts].includes(from), 'its bytes are there')
        list.unshift({ ...written, id, rev: `${50 + step}-x` })
      }
      if (isHead) heads = list
      else pasts = list
    }
  }
  const name = ({ time, content, contested }) =>
    `${time.slice(-3, -1).replace(/^0/, '')} ` +
      `${letters.get(content) ?? 'gone'}${contested ? ` of ${contested[18]}` : ''}`
  return [...pasts.sort((a, b) => a.time < b.time ? -1 : 1).map(name), ...heads.map(doc => `head ${name(doc)}`)]
}

describe('the versions of a tile without statements', () => {
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
      assert.deepEqual(settleLeaves(...leaves), expected)
      assert.deepEqual(settleLeaves(...[...leaves].reverse()), expected, 'in any order')
    })
  }
})

describe('a version whose copy is refused', () => {
  it('stays a conflicting head until its copy is accepted', async () => {
    const [firstCouch, secondCouch] = [new MemoryCouch('one'), new MemoryCouch('two')]
    const tile = { layer: 'osm', z: 1, x: 0, y: 0 }
    await new Store(firstCouch).write([{ ...tile, time: timeOf(3), bytes: png(1) }])
    await new Store(secondCouch).write([{ ...tile, time: timeOf(5), bytes: png(2) }])
    firstCouch.take(secondCouch, secondCouch.ids)
    firstCouch.refuses = id => id.includes('@')
    const summary = await resolve(new Store(firstCouch))
    assert.deepEqual([summary.refused, summary.past, summary.ended], [1, 0, 0])
    assert.equal(firstCouch.living('osm:1:0:0').length, 2)
    firstCouch.refuses = () => false
    assert.equal((await resolve(new Store(firstCouch))).ended, 1)
  })
})
