/* global window -- of the page, in functions that run there */
// A store that really ends and starts again; elsewhere it is the server before it that does.
import { until } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { layers } from '../support/client/gallery.js'
import { Stage, onStage, waitForEvent } from '../support/client/suite.js'

onStage('a store that is killed and started again', { layers: [] }, stage => {
  it('is followed again by history layers and couch layers', async function () {
    stage.allow(/Failed to load resource/, /net::ERR/)
    const server = await startEmbeddedProcess()
    const own = new Stage()
    try {
      await own.open(this)
      await own.build(`${server.url}/tiles`, ['steps'])
      const pages =
        [await own.show('steps', { live: true }), await own.show('steps', { live: true, kind: 'couch', wait: false })]
      const show = text => Promise.all(pages.map(page => page.waitForFunction(wanted => {
        const texts = Object.values(window.see.picture())
        return texts.length && texts.every(shown => shown === wanted)
      }, text)))
      const said = type => Promise.all(pages.map(page => waitForEvent(page, type)))
      await show('5')
      await until(() => own.front.requests('changes').filter(({ path }) => /longpoll/.test(path)).length === 2,
        { what: 'both feeds' })
      await server.kill()
      await said('storeerror')
      await server.start()
      own.store = await Store.open(`${server.url}/tiles`)
      await own.write('steps', { 6: layers.steps.steps[5] })
      await said('storeback')
      await show('6')
      own.allow(/Failed to load resource/, /net::ERR/)
      await own.clear()
    } finally {
      await own.front?.close()
      await server.close()
    }
  })
})
