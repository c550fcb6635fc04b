// A device in a process of its own, as a tool in Node or the main process of Electron is one: it does what it is told
// on the command line, and may be killed while it does. Run as: node node-device.js REMOTE NAME TASK [JSON]
import PouchDB from 'pouchdb-node'
import { OfflineStore } from '../../../client/offline/index.js'

const [remote, name, task, text = '{}'] = process.argv.slice(2)
const given = JSON.parse(text)
const say = answer => process.stdout.write(`${JSON.stringify(answer)}\n`)

const tasks = {
  async take (offline) {
    const area = offline.areas.get(given.name) ?? await offline.areas.add(given)
    offline.on('progress', ({ status }) => say({ tiles: status.tiles }))
    await area.download()
    return area.status()
  }
}

const offline = new OfflineStore({ remote, name, PouchDB, limits: given.limits })
await offline.ready
try {
  say({ result: await tasks[task](offline) })
} finally {
  await offline.close()
}
