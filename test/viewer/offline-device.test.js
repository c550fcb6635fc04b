// Addresses of the images of areas, without a browser.
import assert from 'node:assert/strict'
import { DeviceStore } from '../../attachments/device.js'

const TILE = { z: 3, x: 4, y: 5 }
const version = rev => ({ _id: 'steps:3:4:5', _rev: rev })

describe('addresses of images on the device', () => {
  const { createObjectURL, revokeObjectURL } = URL
  let made
  let revoked
  beforeEach(() => {
    made = []
    revoked = []
    URL.createObjectURL = blob => {
      made.push(blob)
      return `blob:${made.length}`
    }
    URL.revokeObjectURL = url => { revoked.push(url) }
  })
  afterEach(() => Object.assign(URL, { createObjectURL, revokeObjectURL }))

  it('lead to the newest image after a refresh', async () => {
    let rev = '1-a'
    const device = { head: async () => ({ blob: new Blob([rev]), version: { rev } }) }
    const store = new DeviceStore({ device })
    const first = await store.newestUrl('steps', TILE)
    assert.equal(await store.newestUrl('steps', TILE), first, 'the same image has one address')
    rev = '2-b'
    const second = await store.newestUrl('steps', TILE)
    assert.notEqual(second, first)
    assert.deepEqual(await Promise.all(made.map(blob => blob.text())), ['1-a', '2-b'])
  })

  it('are created once for concurrent readers', async () => {
    const device =
      { tile: async () => new Blob(['x']), head: async () => ({ blob: new Blob(['x']), version: { rev: '1-a' } }) }
    const store = new DeviceStore({ device })
    const urls = await Promise.all([
      store.tileUrl(version('1-a')), store.tileUrl(version('1-a')),
      store.newestUrl('steps', TILE), store.newestUrl('steps', TILE)
    ])
    assert.deepEqual([new Set(urls).size, made.length], [1, 1], 'no address that nobody revokes')
  })

  it('are looked up again after the image was missing or its reading failed', async () => {
    const answers = [undefined, new Error('closed'), new Blob(['x'])]
    const device = { tile: async () => {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer
    } }
    const store = new DeviceStore({ device })
    assert.equal(await store.tileUrl(version('1-a')), undefined)
    await assert.rejects(store.tileUrl(version('1-a')), /closed/)
    assert.equal(await store.tileUrl(version('1-a')), 'blob:1')
  })

  it('are revoked when there are more than 500, the least recently used first', async () => {
    const store = new DeviceStore({ device: { tile: async () => new Blob(['x']) } })
    const urls = []
    for (let index = 0; index < 500; index++) urls.push(await store.tileUrl(version(`1-${index}`)))
    await store.tileUrl(version('1-0')) // it was used last
    for (let index = 500; index < 502; index++) await store.tileUrl(version(`1-${index}`))
    assert.deepEqual(revoked, [urls[1], urls[2]])
  })
})
