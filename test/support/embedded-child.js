// The process that embedded-process.js starts: node embedded-child.js FOLDER PORT
import { startEmbedded } from '../../server/embedded/index.js'

const [dir, port] = process.argv.slice(2)
const server = await startEmbedded({ dir, port: +port, admins: 'everybody' })
process.once('SIGTERM', () => server.close().then(() => process.exit(0)))
