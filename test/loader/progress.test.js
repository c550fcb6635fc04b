// The progress of long commands: a bar on a terminal, lines in a log, and nothing with --json.
import assert from 'node:assert/strict'
import { Output } from '../../loader/cli/output.js'
import {
  CountingProgress,
  IndexProgress,
  ProgressLine,
  ReadingProgress,
  countSource
} from '../../loader/cli/progress.js'
import { memory } from '../support/cli.js'

/** A progress line with a clock that a test moves. */
function stage ({ json = false, columns = 0, counted = 'tiles', options = {} } = {}) {
  const stderr = Object.assign(memory(), columns ? { isTTY: true, columns } : {})
  const output = new Output({ json, stdout: memory(), stderr })
  const time = { now: 5000 }
  const line = new ProgressLine(output, counted, { clock: () => time.now, ...options })
  return {
    line,
    output,
    stderr,
    /** Draws at a second since the beginning. */
    at (second, done, total, parts) {
      time.now = 5000 + 1000 * second
      line.draw(done, total, parts)
    },
    get lines () { return stderr.text.split('\n').filter(Boolean) }
  }
}

describe('the progress of a long command', () => {
  it('is a line every ten seconds in a log: tiles done, total, rate and time left', () => {
    const log = stage()
    for (let second = 1; second <= 25; second++) log.at(second, second * 100, 10000, () => ['12 MB'])
    assert.deepEqual(log.lines, [
      '10%  1,000 of 10,000 tiles  100 tiles/s  1:30 left  12 MB',
      '20%  2,000 of 10,000 tiles  100 tiles/s  1:20 left  12 MB'
    ])
  })

  it('is a bar on a terminal, drawn again in the same line, and removed at the end', () => {
    const screen = stage({ columns: 200 })
    screen.at(1, 500, 2000)
    screen.at(1.05, 600, 2000)
    screen.at(2, 1000, 2000)
    assert.deepEqual(screen.stderr.text.split('\r').slice(1), [
      '[######------------------] 25%  500 of 2,000 tiles  500 tiles/s  0:03 left\u001b[K',
      '[############------------] 50%  1,000 of 2,000 tiles  500 tiles/s  0:02 left\u001b[K'
    ].map(text => text.replace('] ', ']  ')))
    screen.line.end()
    assert.ok(screen.stderr.text.endsWith('\r\u001b[K'))
  })

  it('is removed before a message, which is printed in its own line', () => {
    const screen = stage({ columns: 200 })
    screen.at(1, 500, 2000)
    screen.output.note('Waiting: the server is busy')
    assert.ok(screen.stderr.text.endsWith('500 tiles/s  0:03 left\u001b[K\r\u001b[KWaiting: the server is busy\n'))
    screen.output.note('Again')
    assert.ok(screen.stderr.text.endsWith('busy\nAgain\n'), 'there was no bar any more')
  })

  it('is never wider than the terminal', () => {
    const screen = stage({ columns: 40, options: { title: '12 of 300, a-survey-with-a-long-name' } })
    screen.at(1, 500, 2000, () => ['some', 'more'])
    const [drawn] = screen.stderr.text.split('\r').slice(1)
    assert.equal(drawn.replace('\u001b[K', '').length, 39)
  })

  it('shows all counts and the time left on 80 columns, without the bar and the rate', () => {
    const parts = () => ['12.4 MB', '1,200 unchanged', '3 failed']
    const drawn = done => {
      const screen = stage({ columns: 80 })
      screen.at(1, done, 2_000_000, parts)
      return screen.stderr.text.replace('\r', '').replace('\u001b[K', '')
    }
    assert.match(drawn(2), /^0% {2}2 of 2,000,000 tiles {2}.* left {2}12\.4 MB {2}1,200 unchanged {2}3 failed$/)
    assert.match(drawn(500_000),
      /^25% {2}500,000 of 2,000,000 tiles {2}0:03 left {2}12\.4 MB {2}1,200 unchanged {2}3 failed$/)
  })

  it('is not printed with --json', () => {
    for (const columns of [0, 80]) {
      const quiet = stage({ json: true, columns })
      quiet.at(30, 10, 20)
      quiet.line.end()
      assert.equal(quiet.stderr.text, '')
    }
  })

  it('counts in the given unit, with a title and without a total', () => {
    const log = stage({ counted: 'documents', options: { title: 'Writing' } })
    log.at(10, 5)
    log.at(20, 15, undefined)
    assert.deepEqual(log.lines, ['Writing:  5 documents  0.5 documents/s', 'Writing:  15 documents  0.8 documents/s'])
  })

  it('shows the latest rate, not the average rate', () => {
    const log = stage()
    for (const [second, done] of [[10, 10000], [20, 20000], [30, 20100], [40, 20200], [50, 20300]]) {
      log.at(second, done, 30000)
    }
    assert.match(log.lines[1], /1,000 tiles\/s/)
    assert.match(log.lines.at(-1), /^67% {2}20,300 of 30,000 tiles {2}10 tiles\/s {2}16:10 left$/)
  })

  it('starts again for the next task, and when the count falls', () => {
    const log = stage()
    log.at(10, 1000, 2000)
    log.line.restart('2 of 3')
    log.at(20, 100, 200)
    log.at(30, 40, 200)
    log.at(40, 60, 200)
    assert.deepEqual(log.lines.slice(1), [
      '2 of 3:  50%  100 of 200 tiles  10 tiles/s  0:10 left',
      '2 of 3:  20%  40 of 200 tiles',
      '2 of 3:  30%  60 of 200 tiles  2 tiles/s  1:10 left'
    ])
  })

  it('stays at 100 % when more tiles are done than expected', () => {
    const log = stage()
    log.at(10, 300, 200)
    assert.match(log.lines[0], /^100% {2}300 of 200 tiles .* 0:00 left$/)
  })

  it('is shown for an index, an archive, and a folder whose tiles are counted meanwhile', async () => {
    const { output, stderr } = stage({ columns: 200 })
    new IndexProgress(output).show({ step: 'index', done: 50, total: 200 })
    new IndexProgress(output).show({ step: 'swap' })
    new ReadingProgress(output).show({ bytes: 5e6, total: 2e7 })
    const drawn = stderr.text.split('\r').slice(1)
    assert.equal(drawn.length, 2)
    assert.match(drawn[0], /^\[######-+\] {2}Index: {2}25% {2}50 of 200 changes/)
    assert.match(drawn[1], /^\[######-+\] {2}Reading: {2}25% {2}5\.0 MB of 20\.0 MB/)

    const tiles = async function * () { for (let x = 0; x < 8; x++) yield { z: 3, x, y: 0 } }
    const source = { name: 'x', fields: {}, tiles, close () {} }
    const progress = new CountingProgress(output, countSource(source))
    await new Promise(resolve => { setImmediate(resolve) })
    progress.drawFigures({ done: 2, failed: 0, about: { bytes: 1000, unchanged: 1 } })
    assert.match(stderr.text.split('\r').at(-1), / 25% {2}2 of 8 tiles .*1\.0 kB {2}1 unchanged/)
    progress.end()
  })
})
