// Tests IndexLoader with a source whose requests a test answers.
import assert from 'node:assert/strict'
import { IndexLoader } from '../../client/engine/index-loader.js'
import { VersionIndex } from '../../client/engine/version-index.js'
import { TilecouchError } from '../../core/index.js'
import { until } from '../../bench/wait.js'

const column = (x, y0, y1) => ({ z: 5, x, y0, y1 })
const version = (x, y, step = 1) => ({
  layer: 'a', z: 5, x, y, time: `2024-01-0${step}T00:00:00Z`, rev: '1-a',
  bytes: 1, gone: false, current: false, expires: null
})
const turn = () => new Promise(resolve => { setImmediate(resolve) })
const unreachable = () => new TilecouchError('UNREACHABLE', { url: 'http://x', why: 'away' })

function createLoader () {
  const requests = []
  const reports = []
  const source = {
    versions: (layer, columns, signal) => new Promise((resolve, reject) => {
      const end = settle => value => { request.done = true; settle(value) }
      const request = { columns, done: false, aborted: false, answer: async (versions = columns.map(() => [])) => {
        end(resolve)(versions); await turn()
      }, fail: async (error = unreachable()) => { end(reject)(error); await turn() } }
      signal.addEventListener('abort', () => { request.aborted = true; end(reject)(signal.reason) })
      requests.push(request)
    })
  }
  const index = new VersionIndex()
  const loader = new IndexLoader(source, 'a', index, {
    onKnown: () => reports.push('known'),
    onError: error => reports.push(error.code),
    onBack: () => reports.push('back')
  })
  return { requests, reports, index, loader }
}

describe('an index loader', () => {
  it('sends one request for all missing columns of a view, and none for known ones', async () => {
    const { requests, reports, index, loader } = createLoader()
    loader.want([column(1, 0, 5), column(2, 0, 5)])
    assert.deepEqual(requests.map(({ columns }) => columns), [[column(1, 0, 7), column(2, 0, 7)]])
    await requests[0].answer([[version(1, 2)], []])
    assert.deepEqual(reports, ['back', 'known'])
    assert.equal(index.versions(5, 1, 2).length, 1)
    loader.want([column(2, 2, 7)])
    assert.equal(requests.length, 1)
    loader.want([column(2, 2, 8), column(3, 0, 3)])
    assert.deepEqual(requests[1].columns, [column(2, 8, 11), column(3, 0, 3)])
  })

  it('does not request rows that an open request already covers', async () => {
    const { requests, loader } = createLoader()
    loader.want([column(1, 0, 7)])
    loader.want([column(1, 0, 7)])
    loader.want([column(1, 4, 11)])
    assert.deepEqual(requests.map(({ columns }) => columns), [[column(1, 0, 7)], [column(1, 8, 11)]])
  })

  it('aborts a request when none of its columns is in view any more', async () => {
    const { requests, reports, index, loader } = createLoader()
    loader.want([column(1, 0, 3), column(2, 0, 3)])
    loader.want([column(2, 0, 3), column(3, 0, 3)])
    loader.want([column(9, 0, 3)])
    assert.deepEqual(requests.map(({ aborted }) => aborted), [true, true, false])
    await turn()
    assert.deepEqual(reports, [])
    assert.equal(index.isKnown(5, 1, 0), false)
    loader.stop()
    assert.equal(requests[2].aborted, true)
    assert.equal(loader.isBusy, false)
  })

  it('repeats a failed request until the store answers, and reports the fault and its end', async () => {
    const { requests, reports, loader } = createLoader()
    loader.want([column(1, 0, 3)])
    await requests[0].fail()
    await until(() => requests.length === 2)
    await requests[1].answer()
    assert.deepEqual(reports, ['UNREACHABLE', 'back', 'known'])
  })

  it('requests failed columns again at once on retry, and only those', async () => {
    const { requests, loader } = createLoader()
    loader.want([column(1, 0, 3)])
    loader.retry()
    assert.equal(requests.length, 1)
    await requests[0].fail()
    loader.want([column(1, 0, 3), column(2, 0, 3)])
    await requests[1].answer()
    loader.retry()
    assert.deepEqual(requests.slice(1).map(({ columns }) => columns), [[column(2, 0, 3)], [column(1, 0, 3)]])
    loader.stop()
  })

  it('reports the end of a fault when the failed columns are not needed any more', async () => {
    const { requests, reports, loader } = createLoader()
    loader.want([column(1, 0, 3)])
    await requests[0].answer()
    loader.want([column(2, 0, 3)])
    await requests[1].fail()
    loader.want([column(3, 0, 3)])
    assert.deepEqual(reports.slice(2), ['UNREACHABLE'], 'not while another question is open')
    loader.want([column(1, 0, 3)])
    assert.deepEqual(reports.slice(2), ['UNREACHABLE', 'back'])
  })

  it('requests rows again when one of their tiles changes during the request', async () => {
    const { requests, index, loader } = createLoader()
    loader.want([column(1, 0, 7)])
    loader.expire(5, 1, 6)
    loader.expire(5, 2, 6)
    await requests[0].answer([[version(1, 6)]])
    assert.deepEqual(requests[1].columns, [column(1, 4, 7)])
    assert.equal(index.versions(5, 1, 6).length, 1, 'what is known serves meanwhile')
    await requests[1].answer([[version(1, 6), version(1, 6, 2)]])
    assert.equal(index.versions(5, 1, 6).length, 2)
    assert.equal(requests.length, 2)
  })

  it('requests all columns again when all expire during the request', async () => {
    const { requests, loader } = createLoader()
    loader.want([column(1, 0, 7), column(2, 0, 7)])
    loader.expireAll()
    await requests[0].answer()
    assert.deepEqual(requests[1].columns, [column(1, 0, 7), column(2, 0, 7)])
    await requests[1].answer()
    assert.equal(requests.length, 2)
  })
})
