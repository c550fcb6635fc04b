// A device in its own process, like a tool in Node or the main process of Electron. It runs the task of its command
// line, and a test may kill it meanwhile. Usage: node node-device.js REMOTE NAME TASK [JSON]
import PouchDB from 'pouchdb-node'
import { OfflineStore } from '../../../client/offline/index.js'

const [remote, name, task, text = '{}'] = process.argv.slice(2)
const spec = JSON.parse(text)
const say = answer => process.stdout.write(`${JSON.stringify(answer)}\n`)

const tasks = {
  async take (offline) {
    const area = offline.areas.get(spec.name) ?? await offline.areas.add(spec)
    offline.on('progress', ({ status }) => say({ tiles: status.tiles }))
    await area.download()
    return area.status()
  }
}

const offline = new OfflineStore({ remote, name, PouchDB, limits: spec.limits })
await offline.ready
try {
  say({ result: await tasks[task](offline) })
} finally {
  await offline.close()
}
