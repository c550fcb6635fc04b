/* global window -- of the page, in functions that run there */
// Tests layers at a store whose process is killed and started again. Other tests only stop the server before the store.
import { until } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { layers } from '../support/client/gallery.js'
import { openPolls } from './requests.js'
import { Stage, onStage, waitForEvent } from '../support/client/suite.js'

onStage('a store that is killed and started again', { layers: [] }, stage => {
  it('is followed again by history layers and couch layers', async function () {
    stage.allow(/Failed to load resource/, /net::ERR/)
    const server = await startEmbeddedProcess()
    const ownStage = new Stage()
    try {
      await ownStage.open(this)
      await ownStage.build(`${server.url}/tiles`, ['steps'])
      const pages =
        [await ownStage.show('steps', { live: true }),
          await ownStage.show('steps', { live: true, kind: 'couch', wait: false })]
      const waitForText = text => Promise.all(pages.map(page => page.waitForFunction(expected => {
        const texts = Object.values(window.see.picture())
        return texts.length && texts.every(value => value === expected)
      }, text)))
      const waitForEvents = type => Promise.all(pages.map(page => waitForEvent(page, type)))
      await waitForText('5')
      await until(() => openPolls(ownStage.front) === 2, { what: 'both feeds' })
      await server.kill()
      await waitForEvents('storeerror')
      await server.start()
      ownStage.store = await Store.open(`${server.url}/tiles`)
      await ownStage.write('steps', { 6: layers.steps.steps[5] })
      await waitForEvents('storeback')
      await waitForText('6')
      ownStage.allow(/Failed to load resource/, /net::ERR/)
      await ownStage.clear()
    } finally {
      await ownStage.front?.close()
      await server.close()
    }
  })
})
